#include "lib/scheduler/follow.h"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/names.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/pass.h"
#include "lib/scheduler/real_place.h"
#include "lib/scheduler/repair.h"
#include "lib/scheduler/snapshot.h"

namespace muster {

namespace {

absl::Status Cannot(const DecisionRecord& d, std::string_view why) {
  return NotNow("decision ", d.seq, " (", std::string(Name(d.kind)),
                " of gang '", d.gang, "'): ", std::string(why));
}

void Charge(Cluster& cluster, const std::vector<Assignment>& tasks,
            Ledger ledger) {
  for (const Assignment& a : tasks) cluster.Charge(a.at, ledger);
}

}  // namespace

absl::Status Follower::Follow(const PlanRecord& record) {
  core_.now = std::max(core_.now, record.now);
  plan_.Begin(nullptr);
  Wake(core_);
  core_.opener.Publish(true);
  bool mended = false;  // As a pass does, behind what is overdue.
  for (const DecisionRecord& d : record.decisions) {
    if (!mended && d.reason.code != ReasonCode::kMaxRuntime) {
      MendAll(record);
      mended = true;
    }
    if (d.seq < core_.next_seq) {
      return Cannot(d, absl::StrCat("the next is ", core_.next_seq));
    }
    core_.next_seq = d.seq;
    MUSTER_RETURN_IF_ERROR(TakeDecision(d));
  }
  if (!mended) MendAll(record);
  core_.opener.Publish(true);
  for (const DecisionRecord& d : record.decisions) {
    const GangIndex g = core_.gangs.Find(d.gang);
    if (g == kNoGang) continue;  // Cancelled.
    const absl::Status whole = CheckGang(core_, g);
    if (!whole.ok()) return Cannot(d, std::string(whole.message()));
  }
  CloseQuestions(record);
  return TakeAnswers(record);
}

// The gangs at which the pass looked, of those that ask for it.
std::vector<GangIndex> Follower::LookedAt(const PlanRecord& record) const {
  std::vector<GangIndex> looked;
  for (const GangRank& rank : core_.lists.asking()) {
    if (!std::binary_search(record.asking.begin(), record.asking.end(),
                            rank.key)) {
      looked.push_back(rank.gang);
    }
  }
  return looked;
}

void Follower::MendAll(const PlanRecord& record) {
  for (const GangIndex g : LookedAt(record)) {
    if (core_.gangs.at(g).phase == GangPhase::kNominated) continue;
    Mend(core_, life_, g);
  }
}

absl::StatusOr<std::vector<Assignment>> Follower::TasksOf(
    const DecisionRecord& d, const GangSpec& spec) const {
  std::vector<Assignment> out;
  std::set<TaskId> named;
  for (const PlannedTaskRecord& p : d.tasks) {
    if (p.task.role >= spec.prepared.shapes.size() ||
        p.alternative >= spec.prepared.shapes[p.task.role].size() ||
        (!IsStop(d.kind) && IsBeyond(spec.gang(), p.task))) {
      return Cannot(d, "names a task that the gang does not have");
    }
    if (!named.insert(p.task).second) return Cannot(d, "names a task twice");
    MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core_, p.node));
    const ShapeId shape = spec.prepared.shapes[p.task.role][p.alternative];
    out.push_back({p.task, {n, shape, p.devices, p.slot}});
    const absl::Status place = CheckPlace(core_.cluster, "", out.back().at);
    if (!place.ok()) return Cannot(d, std::string(place.message()));
  }
  return out;
}

// Tasks that joined the start of a nominated gang beyond those promised.
void Follower::Join(GangIndex g, const std::vector<Assignment>& tasks) {
  std::vector<Assignment> joined;
  for (const Assignment& a : tasks) {
    if (FindTask(core_.gangs.at(g), a.task) == nullptr) joined.push_back(a);
  }
  if (joined.empty()) return;
  Charge(core_.cluster, joined, Ledger::kBoth);
  decisions_.Grow(g, joined, {.code = ReasonCode::kFits});
}

absl::Status Follower::Place(const DecisionRecord& d, GangIndex g,
                             const std::vector<Assignment>& tasks) {
  const GangPhase phase = core_.gangs.at(g).phase;
  const bool start = d.kind == DecisionKind::kStart;
  if (phase == GangPhase::kNominated && start) {
    decisions_.StartNominated(g);
    Join(g, tasks);
    return absl::OkStatus();
  }
  if (phase != GangPhase::kWaiting) return Cannot(d, "it does not wait");
  Charge(core_.cluster, tasks, start ? Ledger::kBoth : Ledger::kLater);
  decisions_.Place(g, d.kind, tasks, {.code = d.reason.code});
  return absl::OkStatus();
}

absl::Status Follower::TakeDecision(const DecisionRecord& d) {
  const GangIndex g = core_.gangs.Find(d.gang);
  if (g == kNoGang) return Cannot(d, "the gang is not known");
  const GangRecord& r = core_.gangs.at(g);
  const GangIndex winner =
      d.on_behalf_of.empty() ? kNoGang : core_.gangs.Find(d.on_behalf_of);
  MUSTER_ASSIGN_OR_RETURN(const std::vector<Assignment> tasks,
                          TasksOf(d, core_.specs.at(r.spec)));
  const Reason reason{.code = d.reason.code};
  switch (d.kind) {
    case DecisionKind::kNominate:
    case DecisionKind::kStart:
      return Place(d, g, tasks);
    case DecisionKind::kGrow:
      if (!IsLive(r)) return Cannot(d, "it does not run");
      for (const Assignment& a : tasks) {
        if (FindTask(r, a.task) != nullptr) return Cannot(d, "a task runs");
      }
      Charge(core_.cluster, tasks, Ledger::kBoth);
      decisions_.Grow(g, tasks, reason);
      return absl::OkStatus();
    case DecisionKind::kShrink: {
      std::vector<TaskId> ids;
      for (const PlannedTaskRecord& p : d.tasks) {
        const TaskRecord* task = FindTask(r, p.task);
        if (task == nullptr || task->phase > TaskPhase::kRunning) {
          return Cannot(d, "no such task");
        }
        ids.push_back(p.task);
      }
      if (!IsLive(r)) return Cannot(d, "it does not run");
      decisions_.Shrink(g, ids, reason, winner);
      return absl::OkStatus();
    }
    case DecisionKind::kEvict:
    case DecisionKind::kSuspend:
    case DecisionKind::kCancel:
      if (!IsLive(r) && r.phase != GangPhase::kNominated &&
          (r.phase != GangPhase::kSuspended ||
           d.kind == DecisionKind::kSuspend)) {
        return Cannot(d, "it does not run");
      }
      if (winner != kNoGang && r.phase != GangPhase::kNominated &&
          !core_.budgets.Allows(r.key)) {
        return Cannot(d, "a disruption budget has nothing left");
      }
      decisions_.Stop(g, d.kind, reason, winner);
      return absl::OkStatus();
    case DecisionKind::kResume:
      if (r.phase != GangPhase::kSuspended) {
        return Cannot(d, "it is not suspended");
      }
      decisions_.Resume(g);
      return absl::OkStatus();
    case DecisionKind::kMigrate:
    case DecisionKind::kReserve:
      break;
  }
  return absl::UnimplementedError(absl::StrCat("decision ", d.seq, ": ",
                                               std::string(Name(d.kind)),
                                               " is not supported yet"));
}

// What the pass could ask of the list it did.
void Follower::CloseAll(ClassList& list) {
  const ClassList::Leaves leaves = list.open_queues();
  for (const QueueIndex leaf : leaves) {
    ClassIndex c = kNoClass;
    while ((c = core_.lists.FirstToAsk(list, leaf)) != kNoClass) {
      list.Close(c, Questions::kRoom | Questions::kVictims);
    }
  }
}

void Follower::CloseQuestions(const PlanRecord& record) {
  if (!record.budget_exhausted) {
    CloseAll(core_.lists.waiting());
    if (record.grew) CloseAll(core_.lists.growing());
    EndRound(core_, nullptr);
  }
  for (const GangIndex g : LookedAt(record)) GangEdit(core_, g)->look = false;
}

absl::Status Follower::TakeAnswers(const PlanRecord& record) {
  for (const ClassState& answer : record.answers) {
    const GangIndex g = core_.gangs.Find(answer.gang);
    ClassList& list =
        answer.grows ? core_.lists.growing() : core_.lists.waiting();
    const Listing listing =
        g == kNoGang ? Listing() : core_.gangs.at(g).listing;
    const ClassIndex c =
        list.Find(answer.grows ? listing.growing : listing.waiting);
    if (c == kNoClass) {
      return NotNow("plan.answers: gang '", answer.gang, "' asks nothing");
    }
    list.SetQuestions(c, QuestionsOf(core_, answer));
  }
  return absl::OkStatus();
}

}  // namespace muster
