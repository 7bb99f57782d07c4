#include "lib/scheduler/pass.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace muster {

void Wake(Core& core) {
  std::vector<GangIndex> due;
  for (const auto& [at, g] : core.lists.times().wakes()) {
    if (at > core.now) break;
    due.push_back(g);
  }
  for (const GangIndex g : due) {
    GangEdit gang(core, g);
    if (IsLive(*gang) && gang->repair_reason == ReasonCode::kNone &&
        core.specs.at(gang->spec).bears_for_a_time &&
        BorneUntil(core, *gang) <= core.now) {
      gang->repair_reason = ReasonCode::kNodeDrained;
    }
    gang->check_due |= gang->repair_reason != ReasonCode::kNone ||
                       (gang->phase == GangPhase::kSuspended &&
                        SuspendedUntil(core.config, *gang) <= core.now);
  }
  GangClassList& waiting = core.lists.waiting();
  while (!waiting.retries().empty() &&
         waiting.retries().begin()->first <= core.now) {
    const GangClassIndex c = waiting.retries().begin()->second;
    Questions questions = waiting.questions(c);
    questions.open |= Questions::kVictims;
    questions.retry_at = kForever;
    waiting.SetQuestions(c, questions);
  }
}

void EndRound(Core& core) {
  core.opener.OpenPutOff();
  core.round_seq = core.next_seq;
  core.round_open = core.round_grew = false;
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

Time NextDue(const Core& core) {
  Time next = kForever;
  const GangTimes::Index& wakes = core.lists.times().wakes();
  if (!wakes.empty()) next = wakes.begin()->first;
  const GangClassList::Retries& retries = core.lists.waiting().retries();
  if (!retries.empty()) next = std::min(next, retries.begin()->first);
  return next;
}

void Pass::Forget() {
  serve_.Forget();
  grow_.Forget();
  pass_.plan.Begin(nullptr);
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
  const GangClassList& waiting = core.lists.waiting();
  const GangClassList::Classes& put_off = waiting.put_off();
  const bool again =
      exhausted || !put_off.empty() || core.lists.FirstToAskAgain() != kNoClass;
  for (const GangClassIndex c : put_off) pass_.plan.Note(waiting, c, true);
  core.round_open = true;
  if (!exhausted) EndRound(core);
  pass_.plan.Finish(exhausted);
  plan->budget_exhausted = exhausted;
  plan->steps = budget.spent();
  // Room that a later phase gave back concerns gangs that were looked at.
  const bool asked = !core.lists.check_due().empty();
  plan->next_wakeup = again || asked ? core.now : NextDue(core);
}

}  // namespace muster
