// Replay: a journal becomes a scheduler again.
#ifndef MUSTER_WIRE_REPLAY_H_
#define MUSTER_WIRE_REPLAY_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "muster/scheduler.h"
#include "muster/wire/journal.h"

namespace muster::wire {

enum class ReplayMode : uint8_t {
  // Decides again at each plan and compares: proves that this program decides
  // as the one that wrote the journal did.
  kVerify,
  // Takes the plans as they are recorded: restores a journal whatever version
  // of Muster, or solver, wrote it.
  kFollow,
};

struct ReplayStats {
  uint64_t events = 0;
  uint64_t plans = 0;
  uint64_t decisions = 0;
};

struct Replayed {
  Scheduler scheduler;
  ReplayStats stats{};
};

// Restores the journal's start and takes every record after it, up to the end
// or a torn tail (reader->torn_tail()). Errors name the record: those of the
// reader; FAILED_PRECONDITION for an event that is refused, a plan that cannot
// be followed, and, verifying, for the first difference between the recorded
// plan and the one decided now. The scheduler that comes out has no journal.
// One that is to go on with this one takes it first, by
// JournalWriter::Continue(), so that nothing is added to it meanwhile;
// docs/wire.md has the whole way back after a crash. Replaying writes nothing.
// Not synchronised.
absl::StatusOr<Replayed> Replay(JournalReader* reader, ReplayMode mode);

}  // namespace muster::wire

#endif  // MUSTER_WIRE_REPLAY_H_
