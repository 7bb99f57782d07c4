// What must be mended before anything new is decided: gangs that lost tasks,
// nodes to be emptied, nodes that hold more than they have.
#include <algorithm>

#include "lib/scheduler/impl.h"

namespace muster {

namespace {
// So many tries in a row a failed task is placed again beside the others; then
// the gang is rolled back and waits.
constexpr uint32_t kReplacements = 3;
}  // namespace

void Scheduler::Impl::Repair() {
  ranks_.assign(troubled_.begin(), troubled_.end());
  for (const GangRank& rank : ranks_) RepairGang(rank.gang);
}

bool Scheduler::Impl::Releasing(const GangRecord& r) {
  return std::any_of(r.tasks.begin(), r.tasks.end(), [](const TaskRecord& t) {
    return t.phase == TaskPhase::kReleasing;
  });
}

// Some of its tasks have done their work: what is left cannot be placed anew
// beside them.
bool Scheduler::Impl::Succeeded(const GangRecord& r) {
  return std::any_of(r.tasks.begin(), r.tasks.end(), [](const TaskRecord& t) {
    return t.phase == TaskPhase::kSucceeded;
  });
}

void Scheduler::Impl::RepairGang(GangIndex g) {
  GangRecord& r = gangs.at(g);
  const bool live =
      r.phase == GangPhase::kStarting || r.phase == GangPhase::kRunning;
  if (r.phase == GangPhase::kSuspending) return;  // It remembers what it lost.
  if (!live) {
    Delist(g);  // It is stopping already: that mends everything.
    r.trouble = ReasonCode::kNone;
    Enlist(g);
    return;
  }
  if (r.cancel) {
    CommitStop(g, DecisionKind::kCancel, {.code = ReasonCode::kCancelledByHost},
               GangStore::kNoGang);
    return;
  }
  if (Releasing(r)) return;  // First things first: the next pass looks again.
  const Template& t = gangs.description(r.description);
  // What remains if the tasks that must leave their node go.
  std::vector<TaskId> leaving;
  for (const TaskRecord& task : r.tasks) {
    if (MustLeave(r, task)) leaving.push_back(task.task);
  }
  if (!leaving.empty() && SparedUntil(r) > now) {
    NoteWakeup(r.backoff_until);
    return;
  }
  CountTasks(r, &counts_);
  const bool whole = Satisfied(t, counts_);
  for (TaskId id : leaving) --counts_[id.role];
  const bool satisfied = Satisfied(t, counts_);
  const ReasonCode code =
      leaving.empty() || !whole ? r.trouble : ReasonCode::kNodeDrained;
  if (satisfied && (leaving.empty() || config.host.shrink)) {
    Delist(g);
    if (r.trouble == ReasonCode::kTaskFailed) FailStart(r);  // A surplus one.
    r.trouble = ReasonCode::kNone;
    Enlist(g);
    if (!leaving.empty()) {
      CommitShrink(g, leaving, {.code = ReasonCode::kNodeDrained},
                   GangStore::kNoGang);
    } else {
      Delist(g);
      Update(g);
    }
    return;
  }
  if (leaving.empty() && r.trouble == ReasonCode::kTaskFailed &&
      r.failures < kReplacements && !Succeeded(r)) {
    CurrentAssignments(r, &assignments_);
    PlacementRequest request;
    request.gang = &t.prepared;
    request.fixed = assignments_;
    if (queues.Headroom(r.queue, &headroom_)) request.headroom = &headroom_;
    placement_.Clear();
    solver_->Place(cluster, request, &placement_);
    if (placement_.fit == Fit::kFits) {
      SpendSteps(placement_.tasks.size());
      ++r.failures;
      CommitGrow(g, placement_.tasks, {.code = ReasonCode::kTaskFailed});
      return;
    }
  }
  CommitStop(g, DecisionKind::kEvict, {.code = code}, GangStore::kNoGang);
}

// Nodes that the host overcommitted are brought back under their capacity by
// stopping, of what runs there and may be stopped, the least important.
void Scheduler::Impl::ShedFromOvercommitted() {
  std::vector<NodeIndex> suspects(suspects_.begin(), suspects_.end());
  std::sort(suspects.begin(), suspects.end(), [this](NodeIndex a, NodeIndex b) {
    return cluster.node(a).key < cluster.node(b).key;
  });
  for (NodeIndex n : suspects) {
    while (cluster.Overcommitted(n, Ledger::kLater) && ShedOne(n)) {
    }
    if (!cluster.Overcommitted(n, Ledger::kLater)) suspects_.erase(n);
  }
}

// Whether the task holds some of what its node has too little of.
bool Scheduler::Impl::Relieves(const TaskRecord& task) const {
  const NodeIndex n = task.at.node;
  const Resources& demand = cluster.demand(task.at.shape);
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (k == cluster.device_kind()) continue;
    if (demand[k] > 0 && cluster.free(n, k, Ledger::kLater) < 0) return true;
  }
  for (uint32_t d = 0; d < cluster.node(n).devices.size(); ++d) {
    if ((task.at.devices >> d & 1) != 0 &&
        (cluster.free_milli(n, d, Ledger::kLater) < 0 ||
         cluster.free_memory(n, d, Ledger::kLater) < 0)) {
      return true;
    }
  }
  return false;
}

bool Scheduler::Impl::ShedOne(NodeIndex n) {
  // Nominated gangs first, then the last in rank.
  const GangRank* victim = nullptr;
  bool victim_nominated = false;
  for (const GangRank& rank : holding_) {
    const GangRecord& r = gangs.at(rank.gang);
    const bool nominated = r.phase == GangPhase::kNominated;
    const bool live =
        r.phase == GangPhase::kStarting || r.phase == GangPhase::kRunning;
    if (!nominated && !live) continue;
    if (victim_nominated && !nominated) continue;
    const Gang& gang = gangs.description(r.description).prepared.gang;
    if (!nominated && !gang.preemptible) continue;
    const bool here =
        std::any_of(r.tasks.begin(), r.tasks.end(), [&](const TaskRecord& t) {
          return t.at.node == n && t.phase <= TaskPhase::kRunning &&
                 Relieves(t);
        });
    if (!here) continue;
    victim = &rank;
    victim_nominated = nominated;
  }
  if (victim == nullptr) return false;
  Reason reason{.code = ReasonCode::kOvercommitted,
                .object_kind = ReasonObject::kNode,
                .object = n};
  CommitStop(victim->gang, DecisionKind::kEvict, reason, GangStore::kNoGang);
  return true;
}

}  // namespace muster
