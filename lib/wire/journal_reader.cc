#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "lib/base/status_macros.h"
#include "lib/wire/file.h"
#include "lib/wire/format.h"
#include "muster/wire/convert.h"
#include "muster/wire/journal.h"

namespace muster::wire {

// What a journal is read from: a file, in pieces, or bytes in memory.
class internal::Input {
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

using internal::kFrameSize;
using internal::kPreambleSize;

absl::StatusOr<JournalReader> JournalReader::Open(const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(internal::File file,
                          internal::File::OpenToRead(path));
  MUSTER_ASSIGN_OR_RETURN(uint64_t size, file.Size());
  return Start(std::make_unique<internal::Input>(std::move(file), size));
}

absl::StatusOr<JournalReader> JournalReader::OfBytes(std::string_view bytes,
                                                     const std::string& name) {
  return Start(std::make_unique<internal::Input>(bytes, name));
}

JournalReader::JournalReader(std::unique_ptr<internal::Input> input)
    : input_(std::move(input)), offset_(kPreambleSize), next_(kPreambleSize) {}
JournalReader::JournalReader(JournalReader&&) noexcept = default;
JournalReader& JournalReader::operator=(JournalReader&&) noexcept = default;
JournalReader::~JournalReader() = default;

absl::StatusOr<JournalReader> JournalReader::Start(
    std::unique_ptr<internal::Input> input) {
  JournalReader reader(std::move(input));
  if (absl::Status s = reader.ReadPreamble(); !s.ok()) return s;
  MUSTER_ASSIGN_OR_RETURN(std::optional<std::string_view> frame,
                          reader.ReadFrame());
  if (!frame.has_value()) {
    return reader.Damage("the journal ends before its first record does");
  }
  JournalRecord record;
  if (absl::Status s = reader.ParseRecord(*frame, &record); !s.ok()) return s;
  auto* header = std::get_if<JournalHeader>(&record.what);
  if (header == nullptr) return reader.Damage("the first record is no header");
  reader.header_ = std::move(*header);
  return reader;
}

absl::StatusOr<bool> JournalReader::Next(JournalRecord* record) {
  if (!status_.ok()) return status_;
  if (torn_) return false;
  ++number_;
  offset_ = next_;
  absl::StatusOr<std::optional<std::string_view>> frame = ReadFrame();
  if (frame.ok() && !frame->has_value()) {
    --number_;
    return false;
  }
  status_ = frame.ok() ? ParseRecord(**frame, record) : frame.status();
  if (status_.ok() && std::holds_alternative<JournalHeader>(record->what)) {
    status_ = Damage("a second header");
  }
  if (!status_.ok()) return status_;
  return true;
}

std::string JournalReader::Where() const {
  return input_->name() + ": record " + std::to_string(number_) + " at byte " +
         std::to_string(offset_);
}

absl::Status JournalReader::ReadPreamble() {
  const size_t n = std::min<uint64_t>(input_->size(), kPreambleSize);
  MUSTER_ASSIGN_OR_RETURN(std::string_view bytes, input_->Read(0, n));
  return internal::CheckPreamble(bytes, internal::kJournalMagic, "journal",
                                 input_->name());
}

absl::StatusOr<std::optional<std::string_view>> JournalReader::ReadFrame() {
  const uint64_t rest = input_->size() - offset_;
  if (rest == 0) return std::nullopt;
  if (rest < kFrameSize) return Torn();

  MUSTER_ASSIGN_OR_RETURN(std::string_view frame,
                          input_->Read(offset_, kFrameSize));
  uint32_t length = 0;
  uint32_t checksum = 0;
  if (!internal::GetFrame(frame, &length, &checksum)) {
    // A file system may have made the file longer without the bytes.
    MUSTER_ASSIGN_OR_RETURN(const bool zeros, OnlyZeros(offset_));
    if (zeros) return Torn();
    return Damage("the length is damaged");
  }
  if (length == 0 || length > internal::kMaxRecord) {
    return Damage("a length of " + std::to_string(length) + " bytes");
  }
  if (length > rest - kFrameSize) return Torn();

  MUSTER_ASSIGN_OR_RETURN(std::string_view record,
                          input_->Read(offset_ + kFrameSize, length));
  if (internal::Crc32c(record) != checksum) {
    if (length == rest - kFrameSize) return Torn();
    return Damage("the checksum is not that of the record");
  }
  next_ = offset_ + kFrameSize + length;
  return record;
}

absl::Status JournalReader::ParseRecord(std::string_view bytes,
                                        JournalRecord* record) const {
  absl::Status status = Parse(bytes, record, offset_ + kFrameSize);
  return status.ok() ? status : internal::Within(Where(), status);
}

absl::StatusOr<bool> JournalReader::OnlyZeros(uint64_t from) {
  constexpr uint64_t kPiece = 4096;
  while (from < input_->size()) {
    const size_t n = std::min(kPiece, input_->size() - from);
    MUSTER_ASSIGN_OR_RETURN(std::string_view bytes, input_->Read(from, n));
    if (bytes.find_first_not_of('\0') != std::string_view::npos) return false;
    from += n;
  }
  return true;
}

std::optional<std::string_view> JournalReader::Torn() {
  torn_ = TornTail{.offset = offset_, .bytes = input_->size() - offset_};
  return std::nullopt;
}

absl::Status JournalReader::Damage(const std::string& what) const {
  return absl::DataLossError(Where() + ": " + what);
}

}  // namespace muster::wire
