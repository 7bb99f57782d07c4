#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "lib/wire/file.h"
#include "lib/wire/format.h"
#include "lib/wire/frame.h"
#include "lib/wire/varint.h"
#include "muster/wire/convert.h"
#include "muster/wire/journal.h"

namespace muster::wire {
namespace {

// Fields of JournalRecord.
constexpr int kHeader = 1;
constexpr int kEvent = 2;
constexpr int kPlan = 3;

}  // namespace

absl::StatusOr<std::unique_ptr<JournalWriter>> JournalWriter::Create(
    const std::string& path, const SchedulerState& start,
    JournalOptions options) {
  absl::StatusOr<internal::File> file = internal::File::Create(path);
  if (!file.ok()) return file.status();
  std::unique_ptr<JournalWriter> writer(new JournalWriter(
      std::make_unique<internal::File>(*std::move(file)), 0, options));
  writer->Begin(start);
  if (absl::Status s = writer->Sync(); !s.ok()) return s;
  if (absl::Status s = internal::SyncDirectoryOf(path); !s.ok()) return s;
  return writer;
}

absl::StatusOr<std::unique_ptr<JournalWriter>> JournalWriter::Continue(
    const std::string& path, JournalOptions options) {
  absl::StatusOr<std::optional<TornTail>> torn = RecoverJournal(path);
  if (!torn.ok()) return torn.status();
  absl::StatusOr<internal::File> file = internal::File::OpenToAppend(path);
  if (!file.ok()) return file.status();
  absl::StatusOr<uint64_t> size = file->Size();
  if (!size.ok()) return size.status();
  return std::unique_ptr<JournalWriter>(new JournalWriter(
      std::make_unique<internal::File>(*std::move(file)), *size, options));
}

JournalWriter::JournalWriter(const SchedulerState& start, std::string* sink)
    : out_(sink) {
  Begin(start);
}

JournalWriter::JournalWriter(std::unique_ptr<internal::File> file,
                             uint64_t written, JournalOptions options)
    : file_(std::move(file)),
      options_(options),
      out_(&buffer_),
      written_(written) {}

JournalWriter::~JournalWriter() { Flush().IgnoreError(); }

void JournalWriter::Begin(const SchedulerState& start) {
  *out_ += internal::MakePreamble(internal::kJournalMagic);
  Append(kHeader,
         JournalHeader{.writer = "muster " MUSTER_VERSION, .start = start});
}

void JournalWriter::Applied(const Event& event) {
  Append(kEvent, event);
  if (options_.flush == JournalFlush::kEachRecord) Flush().IgnoreError();
}

void JournalWriter::Planned(const PlanRecord& plan) {
  Append(kPlan, plan);
  if (options_.flush == JournalFlush::kSyncEachPlan) {
    Sync().IgnoreError();
  } else if (options_.flush != JournalFlush::kWhenFull) {
    Flush().IgnoreError();
  }
}

template <class T>
void JournalWriter::Append(int number, const T& value) {
  if (!status_.ok()) return;
  scratch_.clear();
  status_ = Serialize(value, &scratch_);
  if (!status_.ok()) return;

  char tag[2 * internal::kMaxVarint];
  char* end = internal::PutVarint(
      internal::Tag(number, internal::WireType::kBytes), tag);
  end = internal::PutVarint(scratch_.size(), end);
  const size_t tag_size = end - tag;
  if (tag_size + scratch_.size() > internal::kMaxRecord) {
    status_ = absl::ResourceExhaustedError("a record of the journal takes " +
                                           std::to_string(scratch_.size()) +
                                           " bytes, more than 1 GiB");
    return;
  }

  const size_t frame = out_->size();
  out_->resize(frame + internal::kFrameSize);
  out_->append(tag, tag_size).append(scratch_);
  const std::string_view record =
      std::string_view(*out_).substr(frame + internal::kFrameSize);
  internal::PutFrame(record, out_->data() + frame);
  if (file_ && out_->size() >= options_.buffer_bytes) Flush().IgnoreError();
}

absl::Status JournalWriter::Flush() {
  if (!file_ || !status_.ok()) return status_;
  status_ = file_->Append(*out_);
  written_ += out_->size();
  out_->clear();
  return status_;
}

absl::Status JournalWriter::Sync() {
  Flush().IgnoreError();
  if (file_ && status_.ok()) status_ = file_->Sync();
  return status_;
}

}  // namespace muster::wire
