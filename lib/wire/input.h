// What a journal is read from: a file, in pieces, or bytes in memory.
#ifndef MUSTER_LIB_WIRE_INPUT_H_
#define MUSTER_LIB_WIRE_INPUT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/wire/file.h"

namespace muster::wire::internal {

class Input {
 public:
  Input(std::string_view bytes, std::string name)
      : name_(std::move(name)), size_(bytes.size()), bytes_(bytes) {}
  Input(File file, uint64_t size)
      : name_(file.path()), size_(size), file_(std::move(file)) {}

  const std::string& name() const { return name_; }
  uint64_t size() const { return size_; }

  // n bytes from `offset` on, all of which lie below size(). Valid until the
  // next call.
  absl::StatusOr<std::string_view> Read(uint64_t offset, size_t n) {
    if (!file_) return bytes_.substr(offset, n);
    if (offset < from_ || offset + n > from_ + buffer_.size()) {
      const uint64_t piece = std::min<uint64_t>(size_ - offset, kPiece);
      buffer_.resize(std::max<size_t>(n, piece));
      from_ = offset;
      absl::Status status =
          file_->ReadAt(offset, buffer_.size(), buffer_.data());
      if (!status.ok()) {
        buffer_.clear();
        return status;
      }
    }
    return std::string_view(buffer_).substr(offset - from_, n);
  }

 private:
  static constexpr size_t kPiece = size_t{256} << 10;

  std::string name_;
  uint64_t size_;
  std::string_view bytes_{};  // Where there is no file.
  std::optional<File> file_{};
  std::string buffer_{};  // The file's bytes from from_ on.
  uint64_t from_ = 0;
};

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_INPUT_H_
