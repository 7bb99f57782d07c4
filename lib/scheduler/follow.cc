// Taking recorded decisions instead of making them.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/names.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/pass.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/real_place.h"
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

bool IsAmong(const std::vector<std::string>& keys, std::string_view key) {
  return std::binary_search(keys.begin(), keys.end(), key);
}

// The gangs that the pass checked, of those that were due when it began.
std::vector<GangIndex> Checked(const SchedulerTables& tables,
                               const PlanRecord& record) {
  std::vector<GangIndex> checked;
  for (const QueuePosition& position : tables.lists.check_due()) {
    if (!IsAmong(record.check_due, position.key) ||
        IsAmong(record.checked, position.key)) {
      checked.push_back(position.gang);
    }
  }
  return checked;
}

void RepairAllWithoutDecision(SchedulerTables& tables,
                              const PlanRecord& record) {
  for (const GangIndex g : Checked(tables, record)) {
    if (IsNominated(tables.gangs.at(g))) continue;
    RepairWithoutDecision(tables, g);
  }
}

// As the pass left it: which were checked before which decision is not
// recorded.
void SetCheckDue(SchedulerTables& tables, const PlanRecord& record) {
  std::vector<GangIndex> not_due;
  for (const QueuePosition& position : tables.lists.check_due()) {
    if (!IsAmong(record.check_due, position.key)) {
      not_due.push_back(position.gang);
    }
  }
  for (const GangIndex g : not_due) GangEdit(tables, g)->check_due = false;
  for (const std::string& key : record.check_due) {
    const GangIndex g = tables.gangs.Find(key);
    if (g != kNoGang && !tables.gangs.at(g).check_due) {
      GangEdit(tables, g)->check_due = true;
    }
  }
}

absl::StatusOr<std::vector<Assignment>> TasksOf(const SchedulerTables& tables,
                                                const DecisionRecord& d,
                                                const GangSpec& spec) {
  std::vector<Assignment> out;
  std::set<TaskId> named;
  for (const PlannedTaskRecord& p : d.tasks) {
    if (p.task.role >= spec.prepared.shapes.size() ||
        p.alternative >= spec.prepared.shapes[p.task.role].size() ||
        (!IsStop(d.kind) && IsBeyond(spec.gang(), p.task))) {
      return Cannot(d, "names a task that the gang does not have");
    }
    if (!named.insert(p.task).second) return Cannot(d, "names a task twice");
    MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(tables, p.node));
    const ShapeId shape = spec.prepared.shapes[p.task.role][p.alternative];
    out.push_back({p.task, {n, shape, p.devices, p.first_slice}});
    const absl::Status place = CheckPlace(tables.cluster, "", out.back().at);
    if (!place.ok()) return Cannot(d, std::string(place.message()));
  }
  return out;
}

// Tasks that joined the start of nominated ones: they grew when all else had
// been decided.
struct Growth {
  const DecisionRecord* decision = nullptr;
  GangIndex gang = kNoGang;
  std::vector<Assignment> tasks{};
};
using Joined = std::vector<Growth>;

void StartNominated(PassContext& pass, const DecisionRecord& d, GangIndex g,
                    std::vector<Assignment> tasks, Joined* joined) {
  pass.decisions.StartNominated(g);
  std::erase_if(tasks, [&](const Assignment& a) {
    return FindTask(pass.tables.gangs.at(g), a.task) != nullptr;
  });
  if (!tasks.empty()) joined->push_back({&d, g, std::move(tasks)});
}

absl::Status CheckGrows(const SchedulerTables& tables, const DecisionRecord& d,
                        GangIndex g, const std::vector<Assignment>& tasks) {
  const GangRecord& r = tables.gangs.at(g);
  if (!IsLive(r)) return Cannot(d, "it does not run");
  for (const Assignment& a : tasks) {
    if (FindTask(r, a.task) != nullptr) return Cannot(d, "a task runs");
  }
  return absl::OkStatus();
}

absl::Status Join(PassContext& pass, const Joined& joined) {
  for (const Growth& growth : joined) {
    MUSTER_RETURN_IF_ERROR(
        CheckGrows(pass.tables, *growth.decision, growth.gang, growth.tasks));
    Charge(pass.tables.cluster, growth.tasks, Ledger::kBoth);
    pass.decisions.Grow(growth.gang, growth.tasks, {.code = ReasonCode::kFits});
  }
  return absl::OkStatus();
}

absl::Status Place(PassContext& pass, const DecisionRecord& d, GangIndex g,
                   const std::vector<Assignment>& tasks, Joined* joined) {
  const GangPhase phase = pass.tables.gangs.at(g).phase;
  const bool start = d.kind == DecisionKind::kStart;
  if (phase == GangPhase::kNominated && start) {
    StartNominated(pass, d, g, tasks, joined);
    return absl::OkStatus();
  }
  if (IsLive(phase) && !start) {
    const GangRecord& r = pass.tables.gangs.at(g);
    if (IsNominated(r) || !MayBeNominated(pass.tables, r)) {
      return Cannot(d, "it lacks nothing");
    }
    MUSTER_RETURN_IF_ERROR(CheckGrows(pass.tables, d, g, tasks));
  } else if (phase != GangPhase::kWaiting) {
    return Cannot(d, "it does not wait");
  }
  Charge(pass.tables.cluster, tasks, start ? Ledger::kBoth : Ledger::kLater);
  pass.decisions.Place(g, d.kind, tasks, {.code = d.reason.code});
  return absl::OkStatus();
}

absl::Status Grow(PassContext& pass, const DecisionRecord& d, GangIndex g,
                  const std::vector<Assignment>& tasks, Joined* joined) {
  const GangRecord& r = pass.tables.gangs.at(g);
  if (IsLive(r) && IsNominated(r)) {
    StartNominated(pass, d, g, tasks, joined);
    return absl::OkStatus();
  }
  MUSTER_RETURN_IF_ERROR(CheckGrows(pass.tables, d, g, tasks));
  Charge(pass.tables.cluster, tasks, Ledger::kBoth);
  pass.decisions.Grow(g, tasks, {.code = d.reason.code});
  return absl::OkStatus();
}

absl::Status Shrink(PassContext& pass, const DecisionRecord& d, GangIndex g,
                    GangIndex preemptor) {
  const GangRecord& r = pass.tables.gangs.at(g);
  std::vector<TaskId> ids;
  for (const PlannedTaskRecord& p : d.tasks) {
    const TaskRecord* task = FindTask(r, p.task);
    if (task == nullptr || task->phase > TaskPhase::kRunning) {
      return Cannot(d, "no such task");
    }
    ids.push_back(p.task);
  }
  if (!IsLive(r)) return Cannot(d, "it does not run");
  pass.decisions.Shrink(g, ids, {.code = d.reason.code}, preemptor);
  return absl::OkStatus();
}

absl::Status TakeDecision(PassContext& pass, const DecisionRecord& d,
                          Joined* joined) {
  SchedulerTables& tables = pass.tables;
  const GangIndex g = tables.gangs.Find(d.gang);
  if (g == kNoGang) return Cannot(d, "the gang is not known");
  const GangRecord& r = tables.gangs.at(g);
  const GangIndex preemptor =
      d.on_behalf_of.empty() ? kNoGang : tables.gangs.Find(d.on_behalf_of);
  MUSTER_ASSIGN_OR_RETURN(const std::vector<Assignment> tasks,
                          TasksOf(tables, d, tables.SpecOf(r)));
  switch (d.kind) {
    case DecisionKind::kNominate:
    case DecisionKind::kStart:
      return Place(pass, d, g, tasks, joined);
    case DecisionKind::kGrow:
      return Grow(pass, d, g, tasks, joined);
    case DecisionKind::kShrink:
      return Shrink(pass, d, g, preemptor);
    case DecisionKind::kEvict:
    case DecisionKind::kSuspend:
    case DecisionKind::kCancel:
      if (IsLive(r) && d.tasks.empty() && IsNominated(r)) {
        pass.decisions.Withdraw(g, {.code = d.reason.code});
        return absl::OkStatus();
      }
      if (!IsLive(r) && r.phase != GangPhase::kNominated &&
          (r.phase != GangPhase::kSuspended ||
           d.kind == DecisionKind::kSuspend)) {
        return Cannot(d, "it does not run");
      }
      if (preemptor != kNoGang && r.phase != GangPhase::kNominated &&
          !tables.budgets.Allows(r.key)) {
        return Cannot(d, "a disruption budget has nothing left");
      }
      pass.decisions.Stop(g, d.kind, {.code = d.reason.code}, preemptor);
      return absl::OkStatus();
    case DecisionKind::kResume:
      if (r.phase != GangPhase::kSuspended) {
        return Cannot(d, "it is not suspended");
      }
      pass.decisions.Resume(g);
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
void DeactivateAll(SchedulerTables& tables, GangClassList& list) {
  for (const QueueIndex leaf : list.ActiveLeaves()) {
    GangClassIndex c = kNoClass;
    while ((c = tables.lists.FirstToAsk(list, leaf)) != kNoClass) {
      list.Deactivate(c, Questions::kRoom | Questions::kVictims);
    }
  }
}

absl::Status TakeAnswers(SchedulerTables& tables, const PlanRecord& record) {
  for (const GangClassState& answer : record.class_results) {
    const GangIndex g = tables.gangs.Find(answer.gang);
    const GangClassIndex c = tables.lists.ClassOf(g, answer.grows);
    if (c == kNoClass) {
      return NotNow("plan.class_results: gang '", answer.gang,
                    "' has no active question");
    }
    tables.lists.classes(answer.grows)
        .SetQuestions(c, QuestionsOf(tables, answer));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FollowPlan(PassContext& pass, const PlanRecord& record) {
  SchedulerTables& tables = pass.tables;
  tables.now = std::max(tables.now, record.now);
  pass.plan.Begin(nullptr);
  Wake(tables);
  tables.activator.Publish(true);
  Joined joined;
  bool repaired = false;  // As a pass does, behind what is overdue.
  for (const DecisionRecord& d : record.decisions) {
    const GangIndex g = tables.gangs.Find(d.gang);
    const bool overdue = d.reason.code == ReasonCode::kMaxRuntime &&
                         g != kNoGang && IsOverdue(tables, tables.gangs.at(g));
    if (!repaired && !overdue) {
      RepairAllWithoutDecision(tables, record);
      repaired = true;
    }
    if (d.seq < tables.next_seq) {
      return Cannot(d, absl::StrCat("the next is ", tables.next_seq));
    }
    tables.next_seq = d.seq;
    MUSTER_RETURN_IF_ERROR(TakeDecision(pass, d, &joined));
  }
  if (!repaired) RepairAllWithoutDecision(tables, record);
  MUSTER_RETURN_IF_ERROR(Join(pass, joined));
  tables.activator.Publish(true);
  for (const DecisionRecord& d : record.decisions) {
    const GangIndex g = tables.gangs.Find(d.gang);
    if (g == kNoGang) continue;  // Cancelled.
    const absl::Status whole = CheckGang(tables, g);
    if (!whole.ok()) return Cannot(d, std::string(whole.message()));
  }
  // A pass that asks whether gangs can grow has asked all waiting gangs.
  if (!record.budget_exhausted || record.grew) {
    DeactivateAll(tables, tables.lists.waiting());
    tables.lists.waiting().SettleRooms();
  }
  if (!record.budget_exhausted && record.grew) {
    DeactivateAll(tables, tables.lists.growing());
  }
  // What is put off depends on the order in which tasks joined a start, which
  // is not recorded. The answers tell it.
  GangClassList& waiting = tables.lists.waiting();
  while (!waiting.put_off().empty()) {
    waiting.Deactivate(*waiting.put_off().begin(), Questions::kPutOff);
  }
  tables.round_open = true;
  tables.round_grew |= record.grew;
  if (!record.budget_exhausted) EndRound(tables);
  SetCheckDue(tables, record);
  return TakeAnswers(tables, record);
}

}  // namespace muster
