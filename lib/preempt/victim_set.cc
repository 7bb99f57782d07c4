#include "lib/preempt/victim_set.h"

namespace muster::preempt {

VictimSet::VictimSet(Problem& problem, SlotBoard& board)
    : problem_(problem),
      board_(board),
      rules_(problem.request().rules),
      released_(problem.candidate_count(), 0),
      entered_(problem.candidate_count(), 0) {}

void VictimSet::Release(uint32_t c, uint32_t tasks) {
  for (; released_[c] < tasks; ++released_[c]) {
    const Allocation& a = problem_.Task(c, released_[c]);
    problem_.cluster().Credit(a, Ledger::kLater);
    board_.Refresh(a.node);
  }
  for (; released_[c] > tasks; --released_[c]) {
    const Allocation& a = problem_.Task(c, released_[c] - 1);
    problem_.cluster().Charge(a, Ledger::kLater);
    board_.Refresh(a.node);
  }
}

bool VictimSet::Ask(uint32_t c, uint32_t tasks) {
  if (rules_ == nullptr || tasks == 0) return true;
  return rules_->Add(c, tasks);
}

bool VictimSet::Enter(uint32_t c, uint32_t tasks) {
  const uint32_t before = entered_[c];
  if (before == tasks) return true;
  if (before > 0 && rules_ != nullptr) rules_->Remove(c);
  const bool accepted = Ask(c, tasks);
  uint32_t now = accepted ? tasks : before;
  if (!accepted && !Ask(c, before)) {
    broken_law_ = true;
    now = 0;
  }
  const Score less = problem_.ScoreOf(c, before);
  const Score more = problem_.ScoreOf(c, now);
  score_.cost += more.cost - less.cost;
  score_.broken += more.broken - less.broken;
  score_.tasks += more.tasks - less.tasks;
  entered_[c] = now;
  if (now > 0) {
    members_.insert(c);
  } else {
    members_.erase(c);
  }
  return accepted;
}

bool VictimSet::QuotaSuffices() const {
  return rules_ == nullptr || rules_->QuotaSuffices();
}

bool VictimSet::Take(uint32_t c, uint32_t tasks) {
  if (!Enter(c, tasks)) return false;
  Release(c, tasks);
  return true;
}

void VictimSet::ReleaseEntered() {
  for (uint32_t c : members_) Release(c, entered_[c]);
}

void VictimSet::Clear() {
  while (!members_.empty()) {
    const uint32_t c = *members_.begin();
    Release(c, 0);
    Enter(c, 0);
  }
  broken_law_ = false;
}

std::vector<Victim> VictimSet::Victims() const {
  std::vector<Victim> victims;
  victims.reserve(members_.size());
  for (uint32_t c : members_) victims.push_back({c, entered_[c]});
  return victims;
}

}  // namespace muster::preempt
