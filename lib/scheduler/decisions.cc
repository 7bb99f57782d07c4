#include "lib/scheduler/decisions.h"

#include <algorithm>
#include <string_view>

#include "absl/cleanup/cleanup.h"
#include "lib/scheduler/eviction_backoff.h"
#include "lib/scheduler/raised_minimum.h"

namespace muster {

// An answer is expected of each task that starts or stops.
void Decisions::Report(GangEdit& gang, TaskRecord& task, Draft draft) {
  if (task.phase != TaskPhase::kNominated) {
    const Decision& d = plan_.at(draft);
    std::string_view preemptor;
    if (const GangId id = d.on_behalf_of; id.valid()) {
      preemptor = tables_.gangs.at(id.index).key;
    }
    task.pending_seq = d.seq;
    tables_.answers.Expect(gang.gang(), *gang, d.seq, d.kind, preemptor);
  }
  plan_.AddTask(draft, *gang, task);
}

void Decisions::NotePlaced(GangEdit& gang, Draft draft) {
  gang->placed_seq = plan_.at(draft).seq;
  NoteMadeRoom(gang);
  gang->check_due = false;
  tables_.placed.push_back(gang.gang());
}

void Decisions::NoteMadeRoom(GangEdit& gang) {
  if (makes_room_.gang == gang.gang()) gang->made_room_seq = makes_room_.seq;
  makes_room_ = {};
}

void Decisions::AddTasks(GangEdit& gang, std::span<const Assignment> tasks,
                         TaskPhase phase, Draft draft) {
  const bool starts = phase == TaskPhase::kStarting;
  if (starts) ++gang->attempts;
  for (const Assignment& a : tasks) {
    TaskRecord task;
    task.task = a.task;
    task.phase = phase;
    task.at = a.at;
    task.attempt = starts ? gang->attempts : 0;
    tables_.holdings.HoldCharged(gang.gang(), task);
    Report(gang, task, draft);
    gang->tasks.insert(TaskPlace(*gang, a.task), task);
  }
}

PlanWriter::Draft Decisions::Begin(GangEdit& gang, DecisionKind kind,
                                   const Reason& reason) {
  const Draft draft = plan_.Decide(kind, reason, gang.gang(), kNoGang);
  if (!IsLive(*gang)) {
    gang->phase = kind == DecisionKind::kNominate ? GangPhase::kNominated
                                                  : GangPhase::kStarting;
  }
  NotePlaced(gang, draft);
  return draft;
}

void Decisions::Place(GangIndex g, DecisionKind kind,
                      std::span<const Assignment> tasks, const Reason& reason) {
  // When the edit has ended, as everywhere here.
  const absl::Cleanup publish = [this] { tables_.activator.Publish(true); };
  GangEdit gang(tables_, g);
  const Draft draft = Begin(gang, kind, reason);
  AddTasks(gang, tasks,
           kind == DecisionKind::kStart ? TaskPhase::kStarting
                                        : TaskPhase::kNominated,
           draft);
}

namespace {

bool FillsGap(const GangRecord& r, std::span<const Assignment> tasks) {
  return std::ranges::any_of(tasks, [&](const Assignment& a) {
    return std::ranges::any_of(r.tasks, [&](const TaskRecord& t) {
      return t.task.role == a.task.role && t.task.index > a.task.index;
    });
  });
}

}  // namespace

void Decisions::Grow(GangIndex g, std::span<const Assignment> tasks,
                     const Reason& reason) {
  const absl::Cleanup publish = [this] { tables_.activator.Publish(true); };
  GangEdit gang(tables_, g);
  const bool replaces = reason.code != ReasonCode::kFits;
  const Draft joined = replaces ? PlanWriter::kNone : plan_.PlacedBy(*gang);
  const bool joins = joined != PlanWriter::kNone;
  const Draft draft =
      joins ? joined : plan_.Decide(DecisionKind::kGrow, reason, g, kNoGang);
  if (joins) --gang->attempts;  // The same start: the same attempt.
  if (replaces) {
    gang->check_due = false;
    NoteMadeRoom(gang);
  } else {
    NotePlaced(gang, draft);
    // Others than these may go first when it gives tasks: where another role
    // can do without some now, or they fill a gap.
    const bool one_role = tables_.specs.at(gang->spec).gang().roles.size() == 1;
    if (!one_role || (!joins && FillsGap(*gang, tasks))) {
      tables_.activator.VictimsChanged(*gang, true);
    }
  }
  AddTasks(gang, tasks, TaskPhase::kStarting, draft);
  SettleMinimum(tables_, gang);
  if (replaces) {
    gang->failures += reason.code == ReasonCode::kTaskFailed;
    gang->repair_reason = ReasonCode::kNone;
    tables_.activator.VictimsChanged(*gang);
  }
}

void Decisions::StartTasks(GangIndex g, DecisionKind kind, ReasonCode why,
                           TaskPhase from) {
  const absl::Cleanup publish = [this] { tables_.activator.Publish(true); };
  GangEdit gang(tables_, g);
  const Draft draft = Begin(gang, kind, {.code = why});
  ++gang->attempts;
  for (TaskRecord& task : gang->tasks) {
    if (task.phase != from) continue;
    tables_.holdings.SetPhase(g, task, TaskPhase::kStarting);
    task.attempt = gang->attempts;
    Report(gang, task, draft);
  }
  SettleMinimum(tables_, gang);
}

void Decisions::StartNominated(GangIndex g) {
  const bool grows = IsLive(tables_.gangs.at(g));
  StartTasks(g, grows ? DecisionKind::kGrow : DecisionKind::kStart,
             ReasonCode::kReleased, TaskPhase::kNominated);
  if (!grows) return;
  tables_.activator.VictimsChanged(tables_.gangs.at(g));
  tables_.activator.Publish(true);
}

void Decisions::Withdraw(GangIndex g, const Reason& reason) {
  const absl::Cleanup publish = [this] { tables_.activator.Publish(true); };
  GangEdit gang(tables_, g);
  plan_.Withdraws(plan_.Decide(DecisionKind::kEvict, reason, g, kNoGang));
  DropNominated(tables_, gang);
  tables_.life.Update(gang);
  gang->check_due = true;
}

void Decisions::Resume(GangIndex g) {
  StartTasks(g, DecisionKind::kResume, ReasonCode::kFits,
             TaskPhase::kSuspended);
}

void Decisions::Release(GangEdit& gang, TaskRecord& task, Draft draft) {
  tables_.answers.Settle(*gang, task);
  // A suspended gang only loses the nomination of what it keeps: see Life.
  if (task.phase != TaskPhase::kSuspended) {
    tables_.holdings.SetPhase(gang.gang(), task, TaskPhase::kReleasing);
  }
  Report(gang, task, draft);
}

void Decisions::Stop(GangIndex g, DecisionKind kind, const Reason& reason,
                     GangIndex on_behalf_of) {
  const absl::Cleanup publish = [&] {
    if (on_behalf_of == kNoGang) tables_.activator.Publish(true);
  };
  GangEdit gang(tables_, g);
  const Draft draft = plan_.Decide(kind, reason, g, on_behalf_of);
  makes_room_ = {on_behalf_of, plan_.at(draft).seq};
  if (gang->phase == GangPhase::kNominated) {
    plan_.Withdraws(draft);
    tables_.life.Stop(gang);
    tables_.life.Update(gang);
    return;
  }
  if (on_behalf_of != kNoGang) CountDisruption(tables_, gang->key, -1);
  if (kind == DecisionKind::kCancel) gang->cancel = true;
  if (on_behalf_of != kNoGang && kind == DecisionKind::kEvict) {
    CountEviction(*gang, tables_.now);
  }
  const bool suspends = kind == DecisionKind::kSuspend;
  // A lost node ends the whole gang.
  gang->interrupted = !suspends && gang->repair_reason == ReasonCode::kNodeLost;
  gang->repair_reason = ReasonCode::kNone;
  gang->phase = suspends ? GangPhase::kSuspending : GangPhase::kStopping;
  for (TaskRecord& task : gang->tasks) {
    if (task.phase == TaskPhase::kStarting ||
        task.phase == TaskPhase::kRunning ||
        task.phase == TaskPhase::kSuspended) {
      Release(gang, task, draft);
    }
  }
  if (reason.code == ReasonCode::kTaskFailed) tables_.life.FailStart(*gang);
  tables_.life.Update(gang);
}

void Decisions::Shrink(GangIndex g, std::span<const TaskId> tasks,
                       const Reason& reason, GangIndex on_behalf_of) {
  const absl::Cleanup publish = [&] {
    if (on_behalf_of == kNoGang) tables_.activator.Publish(true);
  };
  GangEdit gang(tables_, g);
  const Draft draft =
      plan_.Decide(DecisionKind::kShrink, reason, g, on_behalf_of);
  makes_room_ = {on_behalf_of, plan_.at(draft).seq};
  if (gang->repair_reason == ReasonCode::kTaskFailed) {
    tables_.life.FailStart(*gang);  // A surplus one.
  }
  if (gang->repair_reason != ReasonCode::kNone) {
    gang->repair_reason = ReasonCode::kNone;
    tables_.activator.VictimsChanged(*gang);
  }
  for (const TaskId id : tasks) Release(gang, *FindTask(*gang, id), draft);
  tables_.life.Update(gang);
}

}  // namespace muster
