#include "lib/scheduler/pass.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/scheduler/raised_minimum.h"

namespace muster {

void Wake(SchedulerTables& tables) {
  std::vector<GangIndex> due;
  for (const auto& [at, g] : tables.lists.times().wakes()) {
    if (at > tables.now) break;
    due.push_back(g);
  }
  for (const GangIndex g : due) {
    GangEdit gang(tables, g);
    if (IsLive(*gang) && gang->repair_reason == ReasonCode::kNone &&
        tables.specs.at(gang->spec).bears_for_a_time &&
        BorneUntil(tables, *gang) <= tables.now) {
      gang->repair_reason = ReasonCode::kNodeDrained;
    }
    gang->check_due |= gang->repair_reason != ReasonCode::kNone ||
                       LooksForRaised(tables, *gang) ||
                       (gang->phase == GangPhase::kSuspended &&
                        SuspendedUntil(tables.config, *gang) <= tables.now);
  }
  GangClassList& waiting = tables.lists.waiting();
  while (!waiting.retries().empty() &&
         waiting.retries().begin()->first <= tables.now) {
    const GangClassIndex c = waiting.retries().begin()->second;
    Questions questions = waiting.questions(c);
    questions.active |= Questions::kVictims;
    questions.retry_at = kForever;
    waiting.SetQuestions(c, questions);
  }
}

void EndRound(SchedulerTables& tables) {
  tables.activator.ActivatePutOff();
  tables.round_seq = tables.next_seq;
  tables.round_open = tables.round_grew = false;
  if (tables.placed.empty()) return;
  if (tables.config.preemption) tables.activator.CheckRaised();
  std::vector<GangIndex> placed = std::exchange(tables.placed, {});
  // Those may not grow any more that could as long as the round lasted.
  for (const GangIndex g : placed) {
    const GangRecord& r = tables.gangs.at(g);
    if (r.exists && r.listing.growing.queue != kNoQueue) GangEdit(tables, g);
  }
  if (tables.undo.active()) {
    tables.undo.Changed([&tables, placed] { tables.placed = placed; });
  } else {
    placed.clear();
    tables.placed = std::move(placed);  // Its memory is kept.
  }
}

Time NextDue(const SchedulerTables& tables) {
  Time next = kForever;
  const GangTimes::Index& wakes = tables.lists.times().wakes();
  if (!wakes.empty()) next = wakes.begin()->first;
  const GangClassList::Retries& retries = tables.lists.waiting().retries();
  if (!retries.empty()) next = std::min(next, retries.begin()->first);
  return next;
}

void Pass::Forget() {
  serve_.Forget();
  grow_.Forget();
  pass_.plan.Begin(nullptr);
}

bool Pass::AnyCheckDue() const {
  return !pass_.budget.exhausted() && !pass_.tables.lists.check_due().empty();
}

// What one decision gives back goes first to gangs that lack tasks, then to
// nominated ones, then to those that wait: as it would in the next pass if the
// budget ended this one.
void Pass::RepairAndServe() {
  do {
    do {
      repair_.Run();
      pass_.tables.activator.Publish(true);
      if (!pass_.budget.exhausted()) promote_.Run();
    } while (AnyCheckDue());
    if (!pass_.budget.exhausted()) serve_.Run();
  } while (AnyCheckDue());
}

void Pass::Run(Plan* plan) {
  SchedulerTables& tables = pass_.tables;
  WorkBudget& budget = pass_.budget;
  budget = WorkBudget::ForQuestions(tables.config.work_budget);
  pass_.plan.Begin(plan);
  Wake(tables);
  tables.activator.Publish(true);
  RepairAndServe();
  grow_.Run();
  const bool exhausted = budget.exhausted();
  const GangClassList& waiting = tables.lists.waiting();
  const GangClassList::Classes& put_off = waiting.put_off();
  bool again = exhausted || !put_off.empty() ||
               tables.lists.FirstToAskAgain() != kNoClass;
  for (const GangClassIndex c : put_off) pass_.plan.Note(waiting, c, true);
  tables.round_open = true;
  if (!exhausted) EndRound(tables);
  again |= !tables.lists.check_due().empty();
  pass_.plan.Finish(exhausted);
  plan->budget_exhausted = exhausted;
  plan->steps = budget.spent();
  plan->next_wakeup = again ? tables.now : NextDue(tables);
}

}  // namespace muster
