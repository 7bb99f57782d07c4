#include "adapters/kubernetes/client/line_splitter.h"

#include <algorithm>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {

absl::Status LineSplitter::Feed(std::string_view data) {
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  const size_t needed = buffer_.size() + data.size() + kPadding;
  if (buffer_.capacity() < needed) {
    buffer_.reserve(std::max(needed, 2 * buffer_.capacity()));
  }
  buffer_.append(data);
  if (buffer_.size() > longest_line_) {
    const size_t end = buffer_.rfind('\n');
    const size_t open = end == std::string::npos ? 0 : end + 1;
    if (buffer_.size() - open > longest_line_) {
      return absl::ResourceExhaustedError(
          Concat("a line is longer than ", longest_line_, " bytes"));
    }
  }
  return absl::OkStatus();
}

bool LineSplitter::Next(std::string_view* line) {
  for (;;) {
    const size_t end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      return false;
    }
    *line = std::string_view(buffer_).substr(begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    if (line->ends_with('\r')) line->remove_suffix(1);
    if (!line->empty()) return true;
  }
}

void LineSplitter::Reset() {
  buffer_.clear();
  begin_ = scanned_ = 0;
}

}  // namespace muster::kubernetes::client
