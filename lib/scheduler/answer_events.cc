// The host's answers.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/real_place.h"

namespace muster {
namespace {

// The gang of the pending decision; kNoGang: it has been answered.
absl::StatusOr<GangIndex> OwnerOf(const SchedulerTables& tables, uint64_t seq) {
  if (seq > 0 && seq < tables.next_seq) return tables.answers.OwnerOf(seq);
  return Invalid("decision ", seq, " was never made");
}

absl::Status CheckAnswer(const SchedulerTables& tables, const GangRecord& r,
                         const std::string& at, const TaskAnswer& a) {
  const GangSpec& spec = tables.SpecOf(r);
  const std::vector<Role>& roles = spec.gang().roles;
  const TaskRecord* task = FindTask(r, a.task);
  // The gang may have been resized since the attempt.
  const bool known = task != nullptr || a.attempt > 0;
  if (!known &&
      (a.task.role >= roles.size() || IsBeyond(spec.gang(), a.task))) {
    return Invalid(at, ".task: the gang has no task (", a.task.role, ", ",
                   a.task.index, ")");
  }
  if (a.attempt > r.attempts) {
    return Invalid(at, ".attempt: ", a.attempt,
                   " was never planned; the last is ", r.attempts);
  }
  return task == nullptr ? absl::OkStatus()
                         : RealPlace(tables, r, task->at, a).status();
}

// What becomes of the tasks when the host does what it was asked.
TaskOutcome AsAsked(DecisionKind kind) {
  if (kind == DecisionKind::kSuspend) return TaskOutcome::kSuspended;
  return IsStop(kind) ? TaskOutcome::kReleased : TaskOutcome::kStarted;
}

// A refused start: its tasks failed.
void RefuseStart(SchedulerTables& tables, GangEdit& gang,
                 const std::vector<TaskId>& owed) {
  for (const TaskId id : owed) {
    tables.life.Answer(gang, id, 0, TaskOutcome::kFailed);
  }
  tables.life.Update(gang);
}

// A refused stop: the gang goes on, without those of its tasks that have been
// suspended already, and is left alone for a while.
void RefuseStop(SchedulerTables& tables, GangEdit& gang,
                const std::vector<TaskId>& owed) {
  for (const TaskId id : owed) {
    TaskRecord* task = FindTask(*gang, id);
    tables.answers.Settle(*gang, *task);
    if (task->phase == TaskPhase::kSuspended) continue;
    tables.holdings.SetPhase(gang.gang(), *task, TaskPhase::kRunning);
    tables.nodes.AddOvercommitCandidate(task->at.node);
  }
  if (HasTask(*gang, TaskPhase::kRunning)) {
    tables.life.GoOn(gang);
    if (gang->started == kForever) gang->started = tables.now;
  } else if (HasTask(*gang, TaskPhase::kSuspended)) {
    gang->phase = GangPhase::kSuspended;
  }
  gang->cancel = false;
  gang->failures = 0;
  gang->backoff_until = tables.now + tables.config.backoff_base;
  if (gang->repair_reason == ReasonCode::kNone) {
    gang->repair_reason = tables.life.WhyLeaves(*gang);
  }
  tables.activator.VictimsChanged(*gang);
  tables.life.Update(gang);
}

}  // namespace

absl::Status Take(SchedulerTables& tables, const TasksAnswered& e) {
  const GangIndex g = tables.gangs.Find(e.gang);
  if (g == kNoGang) return absl::OkStatus();  // Over.
  const GangRecord& r = tables.gangs.at(g);
  for (size_t i = 0; i < e.tasks.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(CheckAnswer(
        tables, r, absl::StrCat("answer of gang '", e.gang, "'.tasks[", i, "]"),
        e.tasks[i]));
  }
  GangEdit gang(tables, g);
  bool changed = false;
  for (const TaskAnswer& a : e.tasks) {
    TaskRecord* task = FindTask(*gang, a.task);
    const bool current = task != nullptr &&
                         (a.attempt == 0 || a.attempt == task->attempt) &&
                         (task->phase == TaskPhase::kStarting ||
                          task->phase == TaskPhase::kRunning ||
                          task->phase == TaskPhase::kReleasing);
    if (current && a.outcome == TaskOutcome::kStarted) {
      const Allocation real = *RealPlace(tables, r, task->at, a);
      if (!(real == task->at)) {
        tables.holdings.Move(g, *task, real);
        SettleUnnamed(tables, real.node);
        changed = true;
      }
    }
    changed |= tables.life.Answer(gang, a.task, a.attempt, a.outcome);
  }
  if (changed) tables.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const DecisionApplied& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, OwnerOf(tables, e.seq));
  if (g == kNoGang) return absl::OkStatus();
  GangEdit gang(tables, g);
  const PendingDecision pending = Answers::PendingOf(*gang, e.seq);
  for (const TaskId id : pending.tasks)
    tables.life.Answer(gang, id, 0, AsAsked(pending.kind));
  tables.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const DecisionRefused& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, OwnerOf(tables, e.seq));
  if (g == kNoGang) return absl::OkStatus();
  const PendingDecision pending = Answers::PendingOf(tables.gangs.at(g), e.seq);
  {
    GangEdit gang(tables, g);
    IsStop(pending.kind) ? RefuseStop(tables, gang, pending.tasks)
                         : RefuseStart(tables, gang, pending.tasks);
  }
  if (!IsStop(pending.kind)) return absl::OkStatus();
  if (!pending.on_behalf_of.empty() && pending.kind != DecisionKind::kShrink) {
    CountDisruption(tables, tables.gangs.at(g).key, 1);
  }
  const GangIndex preemptor = tables.gangs.Find(pending.on_behalf_of);
  if (preemptor != kNoGang && IsNominated(tables.gangs.at(preemptor))) {
    tables.life.UndoNomination(preemptor);
  }
  return absl::OkStatus();
}

}  // namespace muster
