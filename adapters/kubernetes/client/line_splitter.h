// Lines out of pieces, for watches: one JSON object a line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace muster::kubernetes::client {

// So many bytes behind any text that this library hands out may be read, though
// not used: what simdjson asks for.
inline constexpr size_t kPadding = 64;

// Each byte is copied when it is fed and at most once more. Not thread-safe.
class LineSplitter {
 public:
  explicit LineSplitter(size_t longest_line) : longest_line_(longest_line) {}

  // Appends `data`; then take the lines out by Next. RESOURCE_EXHAUSTED if the
  // line that has begun is longer than allowed; Reset is all that helps then.
  // Amortised O(size of data).
  absl::Status Feed(std::string_view data);
  // The next whole line, without its end and not empty, or false. `line` holds
  // until the next call of Feed or Reset; kPadding bytes behind it are
  // readable.
  bool Next(std::string_view* line);
  // Forgets what was fed: an incomplete line is lost.
  void Reset();

 private:
  size_t longest_line_;
  std::string buffer_;
  size_t begin_ = 0;    // Of the first line that was not taken.
  size_t scanned_ = 0;  // No line ends in begin_ .. scanned_.
};

}  // namespace muster::kubernetes::client
