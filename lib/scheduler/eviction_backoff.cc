#include "lib/scheduler/eviction_backoff.h"

#include <algorithm>
#include <variant>

#include "lib/scheduler/scheduler_tables.h"

namespace muster {

Duration Doubled(Duration base, uint32_t doublings, Duration most) {
  constexpr uint32_t kMost = 62;
  const uint32_t by = std::min(doublings, kMost);
  return base > (most >> by) ? most : base << by;
}

void CountEviction(GangRecord& r, Time now) {
  const bool saved = r.started != kForever && r.checkpoint > r.started;
  r.evictions = saved ? 0 : r.evictions + 1;
  r.evicted = now;
}

// It may have been stopped for another reason, after an eviction of an earlier
// run.
void UndoEviction(GangRecord& r) {
  const bool of_this_run = r.started != kForever && r.evicted >= r.started;
  if (of_this_run && r.evictions > 0) --r.evictions;
}

Time WaitsToMakeRoomUntil(const SchedulerTables& tables, const GangRecord& r) {
  const EvictionBackoff& b = tables.config.eviction_backoff;
  if (r.evictions == 0 || b.wait_base == 0) return 0;
  return r.evicted + Doubled(b.wait_base, r.evictions, b.wait_max);
}

bool HasMadeRoom(const SchedulerTables& tables, const GangRecord& r) {
  return r.made_room_seq > 0 && r.made_room_seq >= tables.external_seq;
}

bool MayMakeNoRoom(const SchedulerTables& tables, const GangRecord& r) {
  return HasMadeRoom(tables, r) || WaitsToMakeRoomUntil(tables, r) > tables.now;
}

Duration ProtectionOf(const SchedulerTables& tables, const GangRecord& r) {
  const EvictionBackoff& b = tables.config.eviction_backoff;
  const Duration least = tables.classes.at(r.priority_class).min_runtime;
  if (r.evictions == 0 || b.protection_base == 0) return least;
  return std::max(least,
                  Doubled(b.protection_base, r.evictions, b.protection_max));
}

namespace {

// Whether the host was asked for that, or the answer changes nothing.
bool IsAsTold(const GangRecord& r, const TaskAnswer& answer) {
  const TaskRecord* task = FindTask(r, answer.task);
  const bool late = task == nullptr ||
                    (answer.attempt != 0 && answer.attempt != task->attempt);
  if (late || task->phase == TaskPhase::kNominated ||
      task->phase == TaskPhase::kSucceeded) {
    return true;
  }
  return answer.outcome == TaskOutcome::kStarted ||
         answer.outcome == TaskOutcome::kSuspended ||
         (answer.outcome == TaskOutcome::kReleased &&
          task->phase == TaskPhase::kReleasing);
}

}  // namespace

bool IsExternal(const SchedulerTables& tables, const EventBody& what) {
  if (std::holds_alternative<DecisionApplied>(what) ||
      std::holds_alternative<CheckpointTaken>(what)) {
    return false;
  }
  if (const auto* refused = std::get_if<DecisionRefused>(&what)) {
    return tables.answers.OwnerOf(refused->seq) != kNoGang;
  }
  const auto* answered = std::get_if<TasksAnswered>(&what);
  if (answered == nullptr) return true;
  const GangIndex g = tables.gangs.Find(answered->gang);
  return g != kNoGang &&
         !std::ranges::all_of(answered->tasks, [&](const TaskAnswer& answer) {
           return IsAsTold(tables.gangs.at(g), answer);
         });
}

void SomethingExternal(SchedulerTables& tables) {
  tables.external_seq = tables.next_seq;
  const GangLists::PositionSet& made_room = tables.lists.made_room();
  while (!made_room.empty()) {
    GangEdit listed_anew(tables, made_room.begin()->gang);
    // What it looks for is not asked by its class.
    if (IsLive(*listed_anew)) listed_anew->check_due = true;
  }
}

}  // namespace muster
