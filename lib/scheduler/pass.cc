#include "lib/scheduler/pass.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace muster {

std::vector<GangId> Due(const Core& core) {
  std::vector<GangId> due;
  for (const auto& [at, g] : core.lists.timeline().wakes()) {
    if (at > core.now) break;
    due.push_back(core.gangs.id(g));
  }
  return due;
}

void Wake(Core& core, const std::vector<GangId>& due) {
  for (const GangId id : due) {
    if (!core.gangs.Has(id)) continue;
    GangEdit gang(core, id.index);
    if (IsLive(*gang) && gang->trouble == ReasonCode::kNone &&
        core.specs.at(gang->spec).bears_for_a_time &&
        BorneUntil(core, *gang) <= core.now) {
      gang->trouble = ReasonCode::kNodeDrained;
    }
    gang->look |= gang->trouble != ReasonCode::kNone ||
                  (gang->phase == GangPhase::kSuspended &&
                   SuspendedUntil(core.config, *gang) <= core.now);
  }
  ClassList& waiting = core.lists.waiting();
  while (!waiting.retries().empty() &&
         waiting.retries().begin()->first <= core.now) {
    const ClassIndex c = waiting.retries().begin()->second;
    Questions questions = waiting.at(c).questions();
    questions.open |= Questions::kVictims;
    questions.retry_at = kForever;
    waiting.SetQuestions(c, questions);
  }
}

void EndRound(Core& core, PlanWriter& plan) {
  for (const ClassIndex c : core.lists.waiting().put_off()) {
    plan.Note(core.lists.waiting(), c, true);
  }
  core.opener.OpenPutOff();
  core.round_seq = core.next_seq;
  if (core.placed.empty()) return;
  std::vector<GangIndex> placed = std::exchange(core.placed, {});
  for (const GangIndex g : placed) {
    if (core.gangs.at(g).exists) GangEdit(core, g);
  }
  if (core.undo.active()) {
    core.undo.Changed([&core, placed] { core.placed = placed; });
  } else {
    placed.clear();
    core.placed = std::move(placed);  // Its memory is kept.
  }
}

static Time NextWakeup(const Core& core, bool at_once) {
  if (at_once) return core.now;
  Time next = kForever;
  const Timeline::Index& wakes = core.lists.timeline().wakes();
  if (!wakes.empty()) next = wakes.begin()->first;
  const ClassList::Retries& retries = core.lists.waiting().retries();
  if (!retries.empty()) next = std::min(next, retries.begin()->first);
  return next;
}

void Pass::Run(Plan* plan) {
  Core& core = pass_.core;
  WorkBudget& budget = pass_.budget;
  budget = WorkBudget::ForQuestions(core.config.work_budget);
  pass_.plan.Begin(plan);
  Wake(core);
  core.opener.Publish(true);
  repair_.Run();
  core.opener.Publish(true);
  if (!budget.exhausted()) promote_.Run();
  if (!budget.exhausted()) serve_.Run();
  grow_.Run();
  const bool exhausted = budget.exhausted();
  const bool put_off = !core.lists.waiting().put_off().empty();
  if (!exhausted) EndRound(core, pass_.plan);
  pass_.plan.Finish(exhausted);
  plan->budget_exhausted = exhausted;
  plan->steps = budget.spent();
  // Room that a later phase gave back concerns gangs that were looked at.
  const bool asked = !core.lists.asking().empty();
  plan->next_wakeup = NextWakeup(core, exhausted || put_off || asked);
}

}  // namespace muster
