#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/status_macros.h"
#include "lib/wire/format.h"
#include "lib/wire/locked_file.h"
#include "lib/wire/varint.h"
#include "muster/version.h"
#include "muster/wire/convert.h"
#include "muster/wire/journal.h"

namespace muster::wire {
namespace {

using internal::Within;

// Numbers of JournalRecord's fields.
constexpr int kHeader = 1;
constexpr int kEvent = 2;
constexpr int kPlan = 3;

// Appends the record {number: value}, or, on an error, nothing.
template <class T>
absl::Status AppendRecord(int number, const T& value, std::string* scratch,
                          std::string* out) {
  scratch->clear();
  if (absl::Status s = Serialize(value, scratch); !s.ok()) return s;

  char tag[2 * internal::kMaxVarint];
  char* end = internal::PutVarint(
      internal::Tag(number, internal::WireType::kBytes), tag);
  end = internal::PutVarint(scratch->size(), end);
  const size_t tag_size = end - tag;
  if (tag_size + scratch->size() > internal::kMaxRecord) {
    return absl::ResourceExhaustedError(
        "takes " + std::to_string(scratch->size()) +
        " bytes; a record has at most " + std::to_string(internal::kMaxRecord));
  }

  const size_t frame = out->size();
  out->resize(frame + internal::kFrameSize);
  out->append(tag, tag_size).append(*scratch);
  const std::string_view record =
      std::string_view(*out).substr(frame + internal::kFrameSize);
  internal::PutFrame(record, out->data() + frame);
  return absl::OkStatus();
}

// What a journal has before its first event.
absl::StatusOr<std::string> Beginning(const SchedulerState& start) {
  std::string bytes = internal::MakePreamble(internal::kJournalMagic);
  std::string scratch;
  absl::Status status = AppendRecord(
      kHeader,
      JournalHeader{.writer = "muster " MUSTER_VERSION, .start = start},
      &scratch, &bytes);
  if (!status.ok()) return Within("the start", status);
  return bytes;
}

struct WholeJournal {
  internal::LockedFile file;
  uint64_t size = 0;
  std::optional<TornTail> cut{};  // What was cut off its end.
};

// Locks the journal, reads it through and cuts a torn tail off. Errors leave
// the file alone; under another writer's lock it is not even read.
absl::StatusOr<WholeJournal> OpenWhole(const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(internal::LockedFile file,
                          internal::LockedFile::Open(path));
  MUSTER_ASSIGN_OR_RETURN(JournalReader reader, JournalReader::Open(path));
  JournalRecord record;
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) more = reader.Next(&record);
  if (!more.ok()) return more.status();
  const std::optional<TornTail> torn = reader.torn_tail();
  if (torn) {
    if (absl::Status s = file.file().Truncate(torn->offset); !s.ok()) return s;
    if (absl::Status s = file.file().Sync(); !s.ok()) return s;
  }
  MUSTER_ASSIGN_OR_RETURN(uint64_t size, file.file().Size());
  return WholeJournal{.file = std::move(file), .size = size, .cut = torn};
}

}  // namespace

absl::StatusOr<std::unique_ptr<JournalWriter>> JournalWriter::Create(
    const std::string& path, const SchedulerState& start,
    JournalOptions options) {
  absl::StatusOr<std::string> bytes = Beginning(start);
  if (!bytes.ok()) return Within(path, bytes.status());
  MUSTER_ASSIGN_OR_RETURN(internal::LockedFile file,
                          internal::LockedFile::Create(path, *bytes));
  return std::unique_ptr<JournalWriter>(
      new JournalWriter(std::make_unique<internal::LockedFile>(std::move(file)),
                        bytes->size(), options));
}

absl::StatusOr<std::unique_ptr<JournalWriter>> JournalWriter::Continue(
    const std::string& path, JournalOptions options) {
  MUSTER_ASSIGN_OR_RETURN(WholeJournal journal, OpenWhole(path));
  return std::unique_ptr<JournalWriter>(new JournalWriter(
      std::make_unique<internal::LockedFile>(std::move(journal.file)),
      journal.size, options));
}

JournalWriter::JournalWriter(const SchedulerState& start, std::string* sink)
    : out_(sink) {
  absl::StatusOr<std::string> bytes = Beginning(start);
  status_ = bytes.status();
  if (bytes.ok()) *out_ += *bytes;
}

JournalWriter::JournalWriter(std::unique_ptr<internal::LockedFile> file,
                             uint64_t written, JournalOptions options)
    : file_(std::move(file)),
      options_(options),
      out_(&buffer_),
      written_(written) {}

JournalWriter::~JournalWriter() { Flush().IgnoreError(); }

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
  absl::Status status = AppendRecord(number, value, &scratch_, out_);
  if (!status.ok()) {
    Flush().IgnoreError();  // What was told before it.
    status = Within(file_ ? file_->path() + ": a record" : "a record", status);
    status_.Update(status);
    return;
  }
  if (file_ && out_->size() >= options_.buffer_bytes) Flush().IgnoreError();
}

absl::Status JournalWriter::Flush() {
  if (!file_ || !status_.ok()) return status_;
  status_ = file_->file().Append(*out_);
  written_ += out_->size();
  out_->clear();
  return status_;
}

absl::Status JournalWriter::Sync() {
  Flush().IgnoreError();
  if (file_ && status_.ok()) status_ = file_->file().Sync();
  return status_;
}

absl::Status JournalWriter::Rotate(const SchedulerState& now,
                                   const std::string& keep) {
  if (!file_) {
    return absl::FailedPreconditionError(
        "a journal in memory has no file to rotate; Create() makes one");
  }
  // The old journal is given up only for one that leads somewhere.
  if (absl::Status s = Scheduler::Restore(now).status(); !s.ok()) {
    return Within(file_->path() + ": not rotated: the state", s);
  }
  absl::StatusOr<std::string> bytes = Beginning(now);
  if (!bytes.ok()) {
    return Within(file_->path() + ": not rotated", bytes.status());
  }
  // A crash from here on leaves no less in the old one. It is all that there
  // is: behind an error, nothing is buffered.
  Sync().IgnoreError();
  if (absl::Status s = file_->Replace(*bytes, keep); !s.ok()) return s;
  written_ = bytes->size();
  status_ = file_->SyncName();
  return status_;
}

absl::StatusOr<std::optional<TornTail>> RecoverJournal(
    const std::string& path) {
  MUSTER_ASSIGN_OR_RETURN(WholeJournal journal, OpenWhole(path));
  return journal.cut;
}

}  // namespace muster::wire
