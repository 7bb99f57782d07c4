#include <algorithm>
#include <optional>

#include "lib/scheduler/pass.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/remaining.h"

namespace muster {
namespace {

// So many tries in a row a failed task is placed again beside the others; then
// the gang is rolled back and waits.
constexpr uint32_t kReplacements = 3;

// Whether what is held there is some of what the node has too little of.
bool IsScarce(const Cluster& cluster, const Allocation& at) {
  const NodeIndex n = at.node;
  const Resources& demand = cluster.demand(at.shape);
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (k == cluster.device_kind()) continue;
    if (demand[k] > 0 && cluster.free(n, k, Ledger::kLater) < 0) return true;
  }
  return at.devices.Intersects(cluster.clashing_devices(n, Ledger::kLater)) ||
         std::ranges::any_of(at.devices, [&](uint32_t d) {
           return cluster.free_milli(n, d, Ledger::kLater) < 0 ||
                  cluster.free_memory(n, d, Ledger::kLater) < 0;
         });
}

}  // namespace

bool IsOverdue(const SchedulerTables& tables, const GangRecord& r) {
  return r.phase == GangPhase::kRunning && r.max_runtime > 0 &&
         r.started + r.max_runtime <= tables.now &&
         SparedUntil(r) <= tables.now;
}

bool RepairWithoutDecision(SchedulerTables& tables, GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  const GangSpec& spec = tables.SpecOf(r);
  GangEdit gang(tables, g);
  gang->check_due = false;
  if (IsLive(r) && r.repair_reason == ReasonCode::kNone && !r.cancel) {
    return !LooksForRaised(tables, r);
  }
  if (r.phase == GangPhase::kSuspending) return true;  // Its end will tell.
  if (r.phase == GangPhase::kSuspended) {
    const bool ends = r.cancel || r.repair_reason != ReasonCode::kNone ||
                      SuspendedUntil(tables.config, r) <= tables.now;
    return !ends || SparedUntil(r) > tables.now;
  }
  if (IsLive(r)) {
    std::vector<uint32_t> counts;
    const bool whole = MeetsMinimum(r, spec, &counts);
    // What leaves by itself makes room for what it lacks, and comes first.
    if (!whole && !r.cancel && Lacks(r) && HasLeaving(r) &&
        tables.life.Leaving(r).empty()) {
      return true;
    }
    if (r.cancel || !whole) return false;
    if (!tables.life.Leaving(r).empty()) return SparedUntil(r) > tables.now;
    if (r.repair_reason == ReasonCode::kTaskFailed)
      tables.life.FailStart(*gang);  // Surplus.
  }
  if (r.repair_reason != ReasonCode::kNone) tables.activator.VictimsChanged(r);
  gang->repair_reason = ReasonCode::kNone;
  tables.life.Update(gang);
  return !LooksForRaised(tables, r);
}

void Repair::Run() {
  CancelOverdue();
  RepairDue();
  ShedFromOvercommitted();
}

// What one gang gives back goes first to others that lack tasks, as it would in
// the next pass if the budget ended this one.
void Repair::RepairDue() {
  do {
    CheckDue(false, [this](GangIndex g) {
      RepairGang(g);
      // A failure ends the time for which it is spared.
      if (IsOverdue(tables_, tables_.gangs.at(g)))
        Cancel(g, ReasonCode::kMaxRuntime);
      return true;
    });
    tables_.activator.Publish(true);
  } while (!pass_.budget.exhausted() &&
           !std::ranges::all_of(tables_.lists.check_due(),
                                [this](const QueuePosition& position) {
                                  return IsNominated(position);
                                }));
}

void Repair::Cancel(GangIndex g, ReasonCode why) {
  pass_.decisions.Stop(g, DecisionKind::kCancel, {.code = why});
}

void Repair::CancelOverdue() {
  positions_.clear();
  for (const auto& [at, g] : tables_.lists.times().wakes()) {
    if (at > tables_.now) break;
    if (IsOverdue(tables_, tables_.gangs.at(g))) {
      positions_.push_back(tables_.lists.PositionOf(g));
    }
  }
  std::ranges::sort(positions_);
  CheckRanks([this](GangIndex g) {
    Cancel(g, ReasonCode::kMaxRuntime);
    return true;
  });
}

void Repair::RepairGang(GangIndex g) {
  if (RepairWithoutDecision(tables_, g)) return;
  const GangRecord& r = tables_.gangs.at(g);
  if (r.cancel) {
    Cancel(g, ReasonCode::kCancelledByHost);
    return;
  }
  if (LooksForRaised(tables_, r)) return PlaceRaised(g);
  const GangSpec& spec = tables_.SpecOf(r);
  const std::vector<TaskId> leaving = tables_.life.Leaving(r);
  const bool whole = MeetsMinimum(r, spec, &counts_);
  for (TaskId id : leaving) --counts_[id.role];
  const bool can_shrink =
      tables_.config.host.shrink && IsSatisfied(spec, counts_);
  if (IsLive(r) && can_shrink) {
    pass_.decisions.Shrink(g, leaving, {.code = tables_.life.WhyLeaves(r)});
    return;
  }
  if (leaving.empty() && IsReplaceable(r)) {
    if (Replace(g, spec, r.repair_reason)) {
      // What a raised minimum asks besides could not be looked for before.
      GangEdit gang(tables_, g);
      gang->check_due |= LooksForRaised(tables_, *gang);
      return;
    }
    if (tables_.now - r.since < tables_.config.replacement_timeout) return;
  }
  if (IsLive(r) && SparedUntil(r) > tables_.now) return;
  pass_.decisions.Stop(g, DecisionKind::kEvict, {.code = WhyEnds(r, whole)});
}

ReasonCode Repair::WhyEnds(const GangRecord& r, bool whole) {
  if (IsLive(r) && whole) return tables_.life.WhyLeaves(r);
  return r.repair_reason == ReasonCode::kNone ? ReasonCode::kSuspendedTooLong
                                              : r.repair_reason;
}

// Failed tasks are placed again beside the others a few times in a row, tasks
// that stopped for other reasons without limit.
bool Repair::IsReplaceable(const GangRecord& r) {
  return Lacks(r) && !HasTask(r, TaskPhase::kReleasing) &&
         !(r.repair_reason == ReasonCode::kTaskFailed &&
           r.failures >= kReplacements) &&
         !(tables_.SpecOf(r).sliced && HasTask(r, TaskPhase::kSucceeded));
}

// Places what the gang lacks of the spec beside its tasks.
bool Repair::Replace(GangIndex g, const GangSpec& spec, ReasonCode why) {
  if (!PlaceRest(g, spec, Ledger::kBoth)) return false;
  pass_.decisions.Grow(g, placement_.tasks, {.code = why});
  return true;
}

// Finds places for what it lacks of the spec; charged in the cluster then.
bool Repair::PlaceRest(GangIndex g, const GangSpec& spec, Ledger ledger) {
  const Remaining remaining(tables_.gangs.at(g), spec);
  PlacementRequest request = RequestFor(tables_, g, ledger, &room_);
  request.gang = &remaining.gang();
  request.fixed = remaining.fixed();
  request.explain = false;
  placement_.Clear();
  pass_.solver.Place(tables_.cluster, request, &placement_);
  pass_.Spend(placement_);
  if (placement_.fit != Fit::kFits) return false;
  remaining.Rename(&placement_.tasks);
  return true;
}

// What a raised minimum asks besides comes before anything that waits: what is
// free, or is being released, and others give way to it as to a gang that
// waits.
void Repair::PlaceRaised(GangIndex g) {
  const GangSpec& spec = tables_.specs.at(tables_.gangs.at(g).wanted);
  if (Replace(g, spec, ReasonCode::kBelowMinimum)) return;
  if (tables_.nodes.releasing() > 0 && PlaceRest(g, spec, Ledger::kLater)) {
    pass_.decisions.Place(g, DecisionKind::kNominate, placement_.tasks,
                          {.code = ReasonCode::kWaitingForRelease});
    return;
  }
  if (MayBeShed(g)) return;
  make_room_.Begin();
  make_room_.TryRaised(g);
}

// Whether it may be stopped yet for what a node has too little of: nobody else
// would be for something then. Where it is not, the room that others give back
// has it looked at again.
bool Repair::MayBeShed(GangIndex g) const {
  const GangRecord& r = tables_.gangs.at(g);
  return !tables_.config.host.keeps_running &&
         std::ranges::any_of(r.tasks, [&](const TaskRecord& task) {
           return tables_.cluster.Overcommitted(task.at.node, Ledger::kLater) &&
                  GivesWay(r, task);
         });
}

// Whether the gang runs, or rests, holds with the task some of what its node
// has too little of, and may be stopped for that: it has not just refused.
bool Repair::GivesWay(const GangRecord& r, const TaskRecord& task) const {
  const GangSpec& spec = tables_.SpecOf(r);
  const bool runs = IsLive(r) || r.phase == GangPhase::kSuspended;
  if (!runs || !spec.gang().preemptible) return false;
  if (SparedUntil(r) > tables_.now) return false;
  const std::optional<Allocation> at = TakeableOf(r, spec, task);
  return at && IsScarce(tables_.cluster, *at);
}

// Nodes that the host overcommitted are brought back under their capacity by
// stopping, of what runs there and may be stopped, the least important. Where
// the host keeps what runs, only nominations are withdrawn.
void Repair::ShedFromOvercommitted() {
  std::vector<NodeIndex> candidates(
      tables_.nodes.overcommit_candidates().begin(),
      tables_.nodes.overcommit_candidates().end());
  // Nothing that follows makes them overcommitted.
  std::erase_if(candidates, [&](NodeIndex n) {
    const bool over = tables_.cluster.Overcommitted(n, Ledger::kLater);
    if (!over) tables_.nodes.RemoveOvercommitCandidate(n);
    return !over;
  });
  std::ranges::sort(candidates, {}, [&](NodeIndex n) -> const std::string& {
    return tables_.cluster.node(n).key;
  });
  for (NodeIndex n : candidates) {
    if (pass_.budget.exhausted()) return;
    bool released = false;
    while (tables_.cluster.Overcommitted(n, Ledger::kLater) && ReleaseOne(n)) {
      pass_.budget.Charge(1, kClassNs);
      released = true;
    }
    if (!tables_.cluster.Overcommitted(n, Ledger::kLater))
      tables_.nodes.RemoveOvercommitCandidate(n);
    if (!released) continue;
    tables_.activator.Publish(true);
    RepairDue();
  }
}

// Nominated gangs first, then what runs. Nothing that runs is stopped where the
// host keeps that, or for a place that is only kept.
bool Repair::ReleaseOne(NodeIndex n) {
  GangIndex victim = LastToGo(n, true);
  const bool withdraws = victim != kNoGang;
  if (victim == kNoGang && !tables_.config.host.keeps_running) {
    const Cluster::Mark mark = tables_.cluster.Begin();
    for (const NodeTask& ref : tables_.nodes.tasks(n)) {
      const TaskRecord& task = *FindTask(tables_.gangs.at(ref.gang), ref.task);
      if (task.keeps_place) tables_.cluster.Credit(task.at, Ledger::kLater);
    }
    if (tables_.cluster.Overcommitted(n, Ledger::kLater)) {
      victim = LastToGo(n, false);
    }
    tables_.cluster.Rollback(mark);
  }
  if (victim == kNoGang) return false;
  const Reason reason{.code = ReasonCode::kOvercommitted,
                      .object_kind = ReasonObject::kNode,
                      .object = n};
  if (withdraws && IsLive(tables_.gangs.at(victim))) {
    pass_.decisions.Withdraw(victim, reason);
  } else {
    pass_.decisions.Stop(victim, DecisionKind::kEvict, reason);
  }
  return true;
}

// The last in queue order of those who are nominated for some of what the node
// has too little of, or who give way.
GangIndex Repair::LastToGo(NodeIndex n, bool nominated) {
  QueuePosition last;
  for (const NodeTask& ref : tables_.nodes.tasks(n)) {
    const GangRecord& r = tables_.gangs.at(ref.gang);
    const TaskRecord& task = *FindTask(r, ref.task);
    const bool goes = nominated ? task.phase == TaskPhase::kNominated &&
                                      IsScarce(tables_.cluster, task.at)
                                : GivesWay(r, task);
    if (!goes) continue;
    const QueuePosition position = tables_.lists.PositionOf(ref.gang);
    if (last.gang == kNoGang || last < position) last = position;
  }
  return last.gang;
}

}  // namespace muster
