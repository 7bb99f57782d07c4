// The little that list and watch must understand of what they carry.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/error.h"

namespace muster::kubernetes::client {

enum class EventType { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  EventType type = EventType::kError;
  std::string_view object{};            // JSON, a part of the line.
  std::string_view resource_version{};  // Of the object; "" with kError.
};

struct ListMetadata {
  std::string resource_version{};
  std::string continue_token{};  // "" on the last page.
};

// Parsers with the memory they reuse. Not thread-safe. The texts must have
// kPadding readable bytes behind them. Errors are INVALID_ARGUMENT.
class WatchReader {
 public:
  WatchReader();
  ~WatchReader();
  WatchReader(WatchReader&&) noexcept;
  WatchReader& operator=(WatchReader&&) noexcept;

  // A line of a watch. The views hold as long as the line and until the next
  // call. O(size): its structure is found once, values are not decoded.
  absl::StatusOr<WatchEvent> ReadEvent(std::string_view line);
  // The metadata of a list's page. O(size), about 0.2 ms a megabyte;
  // objects are not decoded.
  absl::StatusOr<ListMetadata> ReadListMetadata(std::string_view body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace muster::kubernetes::client
