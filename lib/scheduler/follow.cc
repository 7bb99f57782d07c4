// Taking recorded decisions instead of making them.
#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/impl.h"

namespace muster {

namespace {

absl::Status Cannot(const DecisionRecord& d, std::string_view why) {
  return absl::FailedPreconditionError(
      absl::StrCat("decision ", d.seq, " (", std::string(Name(d.kind)),
                   " of gang '", d.gang, "'): ", std::string(why)));
}

}  // namespace

absl::Status Scheduler::Impl::Follow(const PlanRecord& plan) {
  now = std::max(now, plan.now);
  ++pass_;
  drafts_.clear();
  draft_tasks_.clear();
  WakeParked();
  bool repaired = false;
  const auto repair = [&] {  // As a pass does, behind what is overdue.
    ranks_.assign(troubled_.begin(), troubled_.end());
    for (const GangRank& rank : ranks_) Mended(rank.gang);
    repaired = true;
  };
  for (const DecisionRecord& d : plan.decisions) {
    if (!repaired && d.reason.code != ReasonCode::kMaxRuntime) repair();
    if (d.seq < next_seq) {
      return Cannot(d, absl::StrCat("the next is ", next_seq));
    }
    next_seq = d.seq;
    MUSTER_RETURN_IF_ERROR(FollowOne(d));
  }
  if (!repaired) repair();
  for (const DecisionRecord& d : plan.decisions) {
    const GangIndex g = gangs.Find(d.gang);
    if (g == GangStore::kNoGang) continue;  // Cancelled.
    const absl::Status whole = ValidateGangState(g);
    if (!whole.ok()) return Cannot(d, std::string(whole.message()));
  }
  for (const DraftDecision& d : drafts_) gangs.at(d.gang).draft = kNoDraft;
  if (!plan.decisions.empty()) ++version;
  if (journal != nullptr) journal->Planned(plan);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Assignment>> Scheduler::Impl::RecordedTasks(
    const DecisionRecord& d, const Template& t) const {
  std::vector<Assignment> out;
  std::set<TaskId> named;
  for (const PlannedTaskRecord& p : d.tasks) {
    if (p.task.role >= t.prepared.shapes.size() ||
        p.alternative >= t.prepared.shapes[p.task.role].size() ||
        p.task.index >= t.prepared.gang.roles[p.task.role].desired_tasks) {
      return Cannot(d, "names a task that the gang does not have");
    }
    if (!named.insert(p.task).second) return Cannot(d, "names a task twice");
    const absl::StatusOr<NodeIndex> n = NodeNamed(p.node);
    if (!n.ok()) return n.status();
    out.push_back({p.task,
                   {*n, t.prepared.shapes[p.task.role][p.alternative],
                    p.devices, p.slot}});
  }
  return out;
}

// Tasks that joined the start of a nominated gang beyond those promised.
absl::Status Scheduler::Impl::FollowJoined(
    GangIndex g, const std::vector<Assignment>& tasks) {
  std::vector<Assignment> joined;
  for (const Assignment& a : tasks) {
    if (FindTask(gangs.at(g), a.task) == nullptr) joined.push_back(a);
  }
  if (joined.empty()) return absl::OkStatus();
  for (const Assignment& a : joined) cluster.Charge(a.at, Ledger::kBoth);
  CommitGrow(g, joined, {.code = ReasonCode::kFits});
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::FollowOne(const DecisionRecord& d) {
  const GangIndex g = gangs.Find(d.gang);
  if (g == GangStore::kNoGang) return Cannot(d, "the gang is not known");
  GangRecord& r = gangs.at(g);
  const GangIndex winner =
      d.on_behalf_of.empty() ? GangStore::kNoGang : gangs.Find(d.on_behalf_of);
  const absl::StatusOr<std::vector<Assignment>> tasks =
      RecordedTasks(d, gangs.description(r.description));
  if (!tasks.ok()) return tasks.status();
  const Reason reason{.code = d.reason.code};
  const bool live =
      r.phase == GangPhase::kStarting || r.phase == GangPhase::kRunning;
  switch (d.kind) {
    case DecisionKind::kNominate:
    case DecisionKind::kStart: {
      if (r.phase == GangPhase::kNominated && d.kind == DecisionKind::kStart) {
        CommitNominatedStart(g);
        return FollowJoined(g, *tasks);
      }
      if (r.phase != GangPhase::kWaiting) return Cannot(d, "it does not wait");
      const bool start = d.kind == DecisionKind::kStart;
      for (const Assignment& a : *tasks) {
        cluster.Charge(a.at, start ? Ledger::kBoth : Ledger::kLater);
      }
      start ? CommitStart(g, *tasks, reason)
            : CommitNominate(g, *tasks, reason);
      return absl::OkStatus();
    }
    case DecisionKind::kGrow:
      if (!live) return Cannot(d, "it does not run");
      for (const Assignment& a : *tasks) {
        if (FindTask(r, a.task) != nullptr) return Cannot(d, "a task runs");
      }
      for (const Assignment& a : *tasks) cluster.Charge(a.at, Ledger::kBoth);
      CommitGrow(g, *tasks, reason);
      return absl::OkStatus();
    case DecisionKind::kShrink: {
      std::vector<TaskId> ids;
      for (const PlannedTaskRecord& p : d.tasks) {
        if (FindTask(r, p.task) == nullptr) return Cannot(d, "no such task");
        ids.push_back(p.task);
      }
      if (!live) return Cannot(d, "it does not run");
      CommitShrink(g, ids, reason, winner);
      return absl::OkStatus();
    }
    case DecisionKind::kEvict:
    case DecisionKind::kSuspend:
    case DecisionKind::kCancel:
      if (!live && r.phase != GangPhase::kNominated) {
        return Cannot(d, "it does not run");
      }
      CommitStop(g, d.kind, reason, winner);
      return absl::OkStatus();
    case DecisionKind::kResume:
      if (r.phase != GangPhase::kSuspended) {
        return Cannot(d, "it is not suspended");
      }
      CommitResume(g);
      return absl::OkStatus();
    case DecisionKind::kMigrate:
    case DecisionKind::kReserve:
      break;
  }
  return absl::UnimplementedError(absl::StrCat("decision ", d.seq, ": ",
                                               std::string(Name(d.kind)),
                                               " is not supported yet"));
}

}  // namespace muster
