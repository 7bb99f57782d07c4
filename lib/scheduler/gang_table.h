// The gangs a scheduler knows.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/keyed_table.h"
#include "lib/cluster/cluster.h"
#include "lib/queue/gang_class_list.h"
#include "lib/queue/queue_position.h"
#include "lib/queue/queue_tree.h"
#include "lib/scheduler/gang_own.h"
#include "lib/scheduler/gang_spec.h"
#include "lib/scheduler/stop_cost.h"
#include "muster/config.h"
#include "muster/gang.h"
#include "muster/state.h"

namespace muster {

// One task that is somewhere.
struct TaskRecord {
  TaskId task{};
  TaskPhase phase = TaskPhase::kNominated;
  uint32_t attempt = 0;
  uint64_t pending_seq = 0;  // The decision that it has not answered; 0: none.
  // What it keeps while it is suspended is nominated for it: its gang is to
  // resume. Not state: see Keeps.
  bool keeps = false;
  // While it leaves, its place is its gang's, which needs another there. Not
  // state: see Life.
  bool keeps_place = false;
  Allocation at{};
};

// A decision the host has not fully answered.
struct PendingRecord {
  uint64_t seq = 0;
  DecisionKind kind = DecisionKind::kStart;
  uint32_t unanswered = 0;  // Tasks with this pending_seq.
  std::string on_behalf_of{};
};

// The lists a gang stands in: a function of its record and the time
// (GangLists::ListingOf), and what GangLists has it under.
struct Listing {
  QueueIndex queue = kNoQueue;
  int32_t priority = 0;
  Time submitted = 0;
  bool holds = false;      // Tasks that hold something.
  bool elastic = false;    // Of these, perhaps more than it needs.
  StopCost stop_cost{};    // Of these, its amount rounded.
  bool nominated = false;  // It has places to start at, or to grow into.
  bool promised = false;   // All that it holds is such places.
  bool check_due = false;  // The next pass checks it.
  bool lacks = false;      // It looks for tasks that it is to have.
  // It has made room for itself, and does so again after something external.
  bool made_room = false;
  Time wake_at = kForever;  // The pass at this time does.
  Time ends_at = kForever;  // When it is expected, or bound, to have ended.
  // Its class, if it waits or may grow; else without queue. `surplus` is the
  // one of its position there.
  GangClassKey waiting{};
  GangClassKey growing{};
  uint32_t surplus = 0;

  friend bool operator==(const Listing&, const Listing&) = default;
};

struct GangRecord : GangOwn {
  bool exists = false;
  uint32_t generation = 0;
  SpecIndex spec = 0;
  // While it runs under a minimum that was raised: see raised_minimum.h.
  SpecIndex wanted = kNoSpec;
  SpecIndex under = kNoSpec;
  QueueIndex queue = kNoQueue;
  uint32_t priority_class = 0;
  // Its life: see GangState.
  GangPhase phase = GangPhase::kWaiting;
  bool cancel = false;
  ReasonCode repair_reason = ReasonCode::kNone;
  bool check_due = false;
  uint32_t attempts = 0;
  uint32_t failures = 0;
  Time backoff_until = 0;
  Time started = kForever;
  Time checkpoint = 0;
  uint64_t placed_seq = 0;
  Time since = kForever;
  Duration run_time = 0;
  Duration saved = 0;
  Duration unsaved = 0;
  bool interrupted = false;
  uint32_t evictions = 0;
  Time evicted = 0;
  uint64_t made_room_seq = 0;
  std::vector<TaskRecord> tasks{};       // By task.
  std::vector<PendingRecord> pending{};  // By seq.
  // Not state.
  Listing listing{};
  uint32_t edits = 0;     // GangEdits open on it.
  bool leaves = false;    // It is gone when they end.
  uint64_t saved_in = 0;  // The what-if that keeps a copy.
};

// Records do not move: queue positions point to their keys. They are read by
// everybody and written through GangEdit alone, which keeps the lists true.
class GangTable
    : public KeyedTable<GangId, GangRecord, &GangRecord::key, std::deque> {
  friend class GangEdit;
  friend class Undo;
};

// --- Reading a record --------------------------------------------------------

// Null if the gang has no such task.
const TaskRecord* FindTask(const GangRecord& r, TaskId id);
TaskRecord* FindTask(GangRecord& r, TaskId id);
// Before which it stands, or would.
std::vector<TaskRecord>::iterator TaskPlace(GangRecord& r, TaskId id);
// Tasks by role that count for the gang: not those being released or suspended,
// nor those for which a gang that runs is nominated.
void CountTasks(const GangRecord& r, const GangSpec& spec,
                std::vector<uint32_t>* counts);
bool MeetsMinimum(const GangRecord& r, const GangSpec& spec,
                  std::vector<uint32_t>* scratch);
// Nominated, starting and running tasks: what solvers take as fixed.
void HeldTasks(const GangRecord& r, std::vector<Assignment>* out);
// What may be taken from one of the gang's tasks: where it is nominated, starts
// or runs; of a suspended gang what it keeps. None: nothing, as of what a gang
// that runs is nominated for, which goes with the gang.
std::optional<Allocation> TakeableOf(const GangRecord& r, const GangSpec& spec,
                                     const TaskRecord& task);
// What may be taken from the gang, by task.
void TakeableTasks(const GangRecord& r, const GangSpec& spec,
                   std::vector<Assignment>* out);
bool HasTask(const GangRecord& r, TaskPhase phase);
// Whether it is nominated: all of it, or while it runs for what its raised
// minimum asks besides. O(1) without such a minimum.
bool IsNominated(const GangRecord& r);
// How many of the gang's tasks are in each phase.
class PhaseCounts {
 public:
  explicit PhaseCounts(const GangRecord& r) {
    for (const TaskRecord& task : r.tasks) {
      ++in_[static_cast<size_t>(task.phase)];
    }
  }
  uint32_t in(TaskPhase phase) const { return in_[static_cast<size_t>(phase)]; }
  uint32_t live() const {
    return in(TaskPhase::kStarting) + in(TaskPhase::kRunning);
  }

 private:
  std::array<uint32_t, size_t{1} + static_cast<size_t>(TaskPhase::kSucceeded)>
      in_{};
};
// Starting or running.
inline bool IsLive(GangPhase phase) {
  return phase == GangPhase::kStarting || phase == GangPhase::kRunning;
}
inline bool IsLive(const GangRecord& r) { return IsLive(r.phase); }
// Whether a decision that is not answered yet stops the task for good, while
// the gang goes on.
bool IsShrunk(const GangRecord& r, const TaskRecord& task);
// Whether somebody else than the scheduler stops it.
bool IsLeaving(const TaskRecord& task);
bool HasLeaving(const GangRecord& r);
// Whether that is what the host was asked last.
bool IsToBeSuspended(const GangRecord& r, const TaskRecord& task);
// TaskRecord::keeps, by the phases of the gang and of the task.
bool Keeps(const GangRecord& r, const TaskRecord& task);
// The position in the role's shapes of the one that the task has.
uint32_t AlternativeOf(const GangSpec& spec, TaskId task, ShapeId shape);
// What a gang would lose if it were stopped: work from before, and, while it
// runs, all since then (else kForever). Its last checkpoint covers the rest.
struct Unsaved {
  Duration before = 0;
  Time since = kForever;
};
Unsaved UnsavedOf(const GangRecord& r);
// The same by now.
Duration UnsavedWork(const GangRecord& r, Time now);
// A run is over, if there was one: what was not saved is lost, or kept if the
// gang is suspended only.
void EndRun(GangRecord& r, Time now, bool suspended);
// A checkpoint covers what was unsaved, and `more` of the run that ends.
void Save(GangRecord& r, Duration more);
// Whether it runs below its minimum, and may be repaired by placing tasks.
bool Lacks(const GangRecord& r);
// When a suspended gang is given up: see SchedulerConfig::suspend_timeout.
Time SuspendedUntil(const SchedulerConfig& config, const GangRecord& r);
// A gang that refused to stop is left alone for a while: until then.
Time SparedUntil(const GangRecord& r);
// The gang as it was submitted, but for queue and priority class.
Gang Describe(const GangRecord& r, const GangSpec& spec);

}  // namespace muster
