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
absl::StatusOr<GangIndex> OwnerOf(const Core& core, uint64_t seq) {
  if (seq > 0 && seq < core.next_seq) return core.answers.OwnerOf(seq);
  return Invalid("decision ", seq, " was never made");
}

absl::Status CheckAnswer(const Core& core, const GangRecord& r,
                         const std::string& at, const TaskAnswer& a) {
  const GangSpec& spec = core.SpecOf(r);
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
                         : RealPlace(core, r, task->at, a).status();
}

// A refused start: its tasks failed.
void RefuseStart(Core& core, GangEdit& gang, const std::vector<TaskId>& owed) {
  for (const TaskId id : owed) {
    core.life.Answer(gang, id, 0, TaskOutcome::kFailed);
  }
  core.life.Update(gang);
}

// A refused stop: the gang goes on, and is left alone for a while.
void RefuseStop(Core& core, GangEdit& gang, const std::vector<TaskId>& owed) {
  for (const TaskId id : owed) {
    TaskRecord* task = FindTask(*gang, id);
    core.answers.Settle(*gang, *task);
    if (task->phase == TaskPhase::kSuspended) continue;
    core.holdings.SetPhase(gang.gang(), *task, TaskPhase::kRunning);
    core.nodes.AddOvercommitCandidate(task->at.node);
  }
  if (HasTask(*gang, TaskPhase::kRunning)) {
    core.life.GoOn(*gang);
    if (gang->started == kForever) gang->started = core.now;
  } else if (HasTask(*gang, TaskPhase::kSuspended)) {
    gang->phase = GangPhase::kSuspended;
  }
  gang->cancel = false;
  gang->failures = 0;
  gang->backoff_until = core.now + core.config.backoff_base;
  if (gang->repair_reason == ReasonCode::kNone) {
    gang->repair_reason = core.life.WhyLeaves(*gang);
  }
  core.opener.VictimsChanged(*gang);
  core.life.Update(gang);
}

}  // namespace

absl::Status Take(Core& core, const TasksAnswered& e) {
  const GangIndex g = core.gangs.Find(e.gang);
  if (g == kNoGang) return absl::OkStatus();  // Over.
  const GangRecord& r = core.gangs.at(g);
  for (size_t i = 0; i < e.tasks.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(CheckAnswer(
        core, r, absl::StrCat("answer of gang '", e.gang, "'.tasks[", i, "]"),
        e.tasks[i]));
  }
  GangEdit gang(core, g);
  bool changed = false;
  for (const TaskAnswer& a : e.tasks) {
    TaskRecord* task = FindTask(*gang, a.task);
    const bool current = task != nullptr &&
                         (a.attempt == 0 || a.attempt == task->attempt) &&
                         (task->phase == TaskPhase::kStarting ||
                          task->phase == TaskPhase::kRunning ||
                          task->phase == TaskPhase::kReleasing);
    if (current && a.outcome == TaskOutcome::kStarted) {
      const Allocation real = *RealPlace(core, r, task->at, a);
      if (!(real == task->at)) {
        core.holdings.Move(g, *task, real);
        SettleUnnamed(core, real.node);
        changed = true;
      }
    }
    changed |= core.life.Answer(gang, a.task, a.attempt, a.outcome);
  }
  if (changed) core.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const DecisionApplied& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, OwnerOf(core, e.seq));
  if (g == kNoGang) return absl::OkStatus();
  GangEdit gang(core, g);
  const PendingDecision pending = Answers::PendingOf(*gang, e.seq);
  const TaskOutcome outcome =
      IsStop(pending.kind) ? TaskOutcome::kReleased : TaskOutcome::kStarted;
  for (const TaskId id : pending.tasks) core.life.Answer(gang, id, 0, outcome);
  core.life.Update(gang);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const DecisionRefused& e) {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, OwnerOf(core, e.seq));
  if (g == kNoGang) return absl::OkStatus();
  const PendingDecision pending = Answers::PendingOf(core.gangs.at(g), e.seq);
  {
    GangEdit gang(core, g);
    IsStop(pending.kind) ? RefuseStop(core, gang, pending.tasks)
                         : RefuseStart(core, gang, pending.tasks);
  }
  if (!IsStop(pending.kind)) return absl::OkStatus();
  if (!pending.on_behalf_of.empty() && pending.kind != DecisionKind::kShrink) {
    CountDisruption(core, core.gangs.at(g).key, 1);
  }
  const GangIndex preemptor = core.gangs.Find(pending.on_behalf_of);
  if (preemptor != kNoGang &&
      core.gangs.at(preemptor).phase == GangPhase::kNominated) {
    core.life.UndoNomination(preemptor);
  }
  return absl::OkStatus();
}

}  // namespace muster
