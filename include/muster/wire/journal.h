// The journal: everything that changed a scheduler, in order, in one file.
//
// A journal begins with the state it starts from; events and plans follow as
// they are told. Each record carries its length and checksums (docs/wire.md),
// so that a record torn by a crash is told from damage. replay.h makes a
// scheduler of a journal again.
#ifndef MUSTER_WIRE_JOURNAL_H_
#define MUSTER_WIRE_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/scheduler.h"
#include "muster/state.h"
#include "muster/wire/records.h"

namespace muster::wire {

namespace internal {
class Input;
class LockedFile;
}  // namespace internal

// When records leave the process. The scheduler tells of a plan before
// Schedule() returns it: with all but kWhenFull, no plan is carried out that a
// crash of the process could forget. docs/wire.md has the table of what
// survives which crash.
enum class JournalFlush : uint8_t {
  // When buffer_bytes are full, at Flush() and Sync(), and when the writer is
  // destroyed. Before that, a crash of the process loses them.
  kWhenFull,
  // And with each plan, which takes the events before it along.
  kEachPlan,
  // And with each event: one system call a record.
  kEachRecord,
  // As kEachPlan, and each plan is on the disk before Schedule() returns it:
  // it also survives a crash of the machine.
  kSyncEachPlan,
};

struct JournalOptions {
  JournalFlush flush = JournalFlush::kEachPlan;
  size_t buffer_bytes = size_t{64} << 10;
};

// Writes one journal; a journal has one writer at a time. The file is locked
// (flock) as long as the writer lives: a second one, in this process or
// another, gets UNAVAILABLE. The lock ends with the writer and with
// its process, however that ends. Readers need no lock.
//
// Not synchronised: belongs to the thread that owns the scheduler. The first
// error stays: nothing is written behind a gap, and status() tells. A host
// that depends on its journal looks at status() after each Schedule(), before
// it carries out the plan.
//
// A process that the host forks shares the lock until it ends or executes a
// program. It must not destroy the writer: that would write what is buffered a
// second time. So it leaves by exec or _exit.
class JournalWriter : public Journal {
 public:
  // A new journal. `start` is the scheduler's state at this moment. File and
  // name are on the disk when Create returns; a crash before leaves a whole
  // journal or none. Until then it is written as PATH.new; what a crash left
  // there is removed. Errors: ALREADY_EXISTS rather than overwrite anything;
  // UNAVAILABLE while another creates it; those of the file system.
  static absl::StatusOr<std::unique_ptr<JournalWriter>> Create(
      const std::string& path, const SchedulerState& start,
      JournalOptions options = {});
  // Goes on behind the last record of a journal. Takes the lock, reads the
  // journal through and cuts a torn tail off. Call it before Replay() reads the
  // journal: under the lock, nothing can be added that the replayed scheduler
  // does not know. Errors: NOT_FOUND; UNAVAILABLE while another writer has
  // it, in which case nothing is read or cut off; those of RecoverJournal().
  static absl::StatusOr<std::unique_ptr<JournalWriter>> Continue(
      const std::string& path, JournalOptions options = {});
  // Appends to *sink, which outlives the writer; nothing is buffered.
  JournalWriter(const SchedulerState& start, std::string* sink);

  // Flushes. Call Flush() first to learn whether that works. The scheduler has
  // no journal any more by then: SetJournal(nullptr), or it went before.
  ~JournalWriter() override;
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  // Called by the scheduler. Errors are in status().
  void Applied(const Event& event) override;
  void Planned(const PlanRecord& plan) override;

  // Hands what is buffered to the system: it survives a crash of the process.
  // Returns status().
  absl::Status Flush();
  // And puts it on the disk: it survives a crash of the machine.
  absl::Status Sync();
  // Begins the journal anew with `now`, the scheduler's state at this moment,
  // State(), so that it does not grow for ever: between two calls of the
  // scheduler, when bytes() have become too many. A new file is written as
  // PATH.new, synced, and renamed over the old one; a crash of process or
  // machine leaves the old journal or the new one, both whole and with this
  // state at their end. The lock holds throughout. Everything up to now is on
  // the disk when Rotate returns OK. `keep`, if not empty, becomes the name of
  // the old journal: a path on the same file system that no file has yet, but
  // for one left by a crash inside such a call.
  //
  // On an error the writer goes on with the old journal as after a Sync():
  // INVALID_ARGUMENT for a state that cannot be restored,
  // FAILED_PRECONDITION if the path does not name this journal any more or it
  // is in memory, ALREADY_EXISTS for `keep`, and those of the file system. Only
  // an error behind the renaming, when the folder cannot be synced, stays in
  // status(). An earlier error in status() is over when Rotate returns OK, for
  // the new journal has no gap.
  //
  // Costs a Scheduler::Restore() and the writing of a snapshot.
  absl::Status Rotate(const SchedulerState& now, const std::string& keep = "");
  // OK, or the first error, which names the file.
  const absl::Status& status() const { return status_; }
  // Of the journal so far, what is still buffered included.
  uint64_t bytes() const { return written_ + out_->size(); }

 private:
  JournalWriter(std::unique_ptr<internal::LockedFile> file, uint64_t written,
                JournalOptions options);
  // Appends the record {number: value}, number being JournalRecord's.
  template <class T>
  void Append(int number, const T& value);

  std::unique_ptr<internal::LockedFile> file_;  // Null: out_ is the caller's.
  JournalOptions options_{};
  std::string buffer_{};
  std::string* out_;
  std::string scratch_{};
  uint64_t written_ = 0;
  absl::Status status_{};
};

// A last record of which only a part reached the file.
struct TornTail {
  uint64_t offset = 0;  // Of its first byte: where the whole records end.
  uint64_t bytes = 0;   // From there to the end of the file.
};

// Reads a journal record by record, up to where it ended when it was opened;
// memory in use is bounded by the largest record. It may be read while it is
// written: what is being written is then a torn tail. Errors name the file, the
// record (the header is number 0) and its first byte: INVALID_ARGUMENT for what
// is no journal or not known to this version, DATA_LOSS for damage. Not
// synchronised.
class JournalReader {
 public:
  // NOT_FOUND if there is no file; DATA_LOSS if it has no whole first record.
  static absl::StatusOr<JournalReader> Open(const std::string& path);
  // `bytes` outlive the reader; `name` stands for the file in messages.
  static absl::StatusOr<JournalReader> OfBytes(
      std::string_view bytes, const std::string& name = "journal");

  JournalReader(JournalReader&&) noexcept;
  JournalReader& operator=(JournalReader&&) noexcept;
  ~JournalReader();

  const JournalHeader& header() const { return header_; }

  // Reads the next record, an event or a plan. False at the end, which may be
  // a torn tail. An error stays.
  absl::StatusOr<bool> Next(JournalRecord* record);
  // Set once Next() has come upon it.
  const std::optional<TornTail>& torn_tail() const { return torn_; }

  // Of the record read last.
  uint64_t number() const { return number_; }
  uint64_t offset() const { return offset_; }
  // "FILE: record 7 at byte 991", for messages about it.
  std::string Where() const;

 private:
  explicit JournalReader(std::unique_ptr<internal::Input> input);
  static absl::StatusOr<JournalReader> Start(
      std::unique_ptr<internal::Input> input);
  absl::Status ReadPreamble();
  // The payload of the record at next_; nothing at the end or a torn tail.
  absl::StatusOr<std::optional<std::string_view>> ReadFrame();
  absl::Status ParseRecord(std::string_view bytes, JournalRecord* record) const;
  absl::StatusOr<bool> OnlyZeros(uint64_t from);
  std::optional<std::string_view> Torn();
  absl::Status Damage(const std::string& what) const;

  std::unique_ptr<internal::Input> input_;
  JournalHeader header_{};
  uint64_t number_ = 0;
  uint64_t offset_ = 0;
  uint64_t next_ = 0;  // First byte behind it.
  std::optional<TornTail> torn_{};
  absl::Status status_{};
};

// Cuts a torn last record off the journal and tells what was cut, if anything.
// For tools: Continue() does the same. Errors leave the file alone:
// UNAVAILABLE while a writer has it; DATA_LOSS for damage elsewhere and
// for a file without a whole first record; INVALID_ARGUMENT for what is no
// journal.
absl::StatusOr<std::optional<TornTail>> RecoverJournal(const std::string& path);

}  // namespace muster::wire

#endif  // MUSTER_WIRE_JOURNAL_H_
