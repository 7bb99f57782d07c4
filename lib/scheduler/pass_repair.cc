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

// The tasks that must leave their node.
std::vector<TaskId> Scheduler::Impl::Leaving(const GangRecord& r) const {
  std::vector<TaskId> leaving;
  for (const TaskRecord& task : r.tasks) {
    if (MustLeave(r, task)) leaving.push_back(task.task);
  }
  return leaving;
}

// Clears troubles that need no decision; true if none is needed now. It asks
// nobody, so that a pass that is followed and one that is made agree on it.
bool Scheduler::Impl::Mended(GangIndex g) {
  GangRecord& r = gangs.at(g);
  if (r.phase == GangPhase::kSuspending) return true;  // Its end will tell.
  const bool live =
      r.phase == GangPhase::kStarting || r.phase == GangPhase::kRunning;
  if (live) {
    if (r.cancel) return false;
    CountTasks(r, &counts_);
    if (!Satisfied(gangs.description(r.description), counts_)) return false;
    if (!Leaving(r).empty()) {
      if (SparedUntil(r) <= now) return false;
      NoteWakeup(r.backoff_until);
      return true;
    }
  }
  Delist(g);
  if (live && r.trouble == ReasonCode::kTaskFailed) FailStart(r);  // Surplus.
  r.trouble = ReasonCode::kNone;
  Update(g);
  return true;
}

void Scheduler::Impl::RepairGang(GangIndex g) {
  if (Mended(g)) return;
  GangRecord& r = gangs.at(g);
  if (r.cancel) {
    CommitStop(g, DecisionKind::kCancel, {.code = ReasonCode::kCancelledByHost},
               GangStore::kNoGang);
    return;
  }
  const Template& t = gangs.description(r.description);
  const std::vector<TaskId> leaving = Leaving(r);
  CountTasks(r, &counts_);
  const bool whole = Satisfied(t, counts_);
  for (TaskId id : leaving) --counts_[id.role];
  if (config.host.shrink && Satisfied(t, counts_)) {
    CommitShrink(g, leaving, {.code = ReasonCode::kNodeDrained},
                 GangStore::kNoGang);
    return;
  }
  if (leaving.empty() && Replace(g)) return;
  const ReasonCode code =
      leaving.empty() || !whole ? r.trouble : ReasonCode::kNodeDrained;
  CommitStop(g, DecisionKind::kEvict, {.code = code}, GangStore::kNoGang);
}

// Places failed tasks again beside the others, a few times in a row.
bool Scheduler::Impl::Replace(GangIndex g) {
  GangRecord& r = gangs.at(g);
  if (r.trouble != ReasonCode::kTaskFailed || r.failures >= kReplacements ||
      Succeeded(r) || Releasing(r)) {
    return false;
  }
  CurrentAssignments(r, &assignments_);
  PlacementRequest request;
  request.gang = &gangs.description(r.description).prepared;
  request.key = r.key;
  request.fixed = assignments_;
  if (queues.Headroom(r.queue, Ledger::kBoth, &headroom_))
    request.headroom = &headroom_;
  placement_.Clear();
  solver_->Place(cluster, request, &placement_);
  if (placement_.fit != Fit::kFits) return false;
  SpendSteps(placement_.tasks.size());
  CommitGrow(g, placement_.tasks, {.code = ReasonCode::kTaskFailed});
  return true;
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
  if ((task.at.devices & cluster.clashing_devices(n, Ledger::kLater)) != 0) {
    return true;
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
