#include "lib/preempt/victim_set.h"

#include <algorithm>
#include <ranges>

namespace muster::preempt {

VictimSet::VictimSet(PreemptionProblem& problem, RegionSlots& region_slots)
    : problem_(problem),
      region_slots_(region_slots),
      rules_(problem.request().rules),
      released_(problem.candidate_count(), 0),
      entered_(problem.candidate_count(), 0) {}

void VictimSet::Release(uint32_t c, uint32_t tasks) {
  for (; released_[c] < tasks; ++released_[c]) {
    const Allocation& a = problem_.Task(c, released_[c]);
    problem_.cluster().Credit(a, Ledger::kLater);
    problem_.Charge(1, kReleaseNs);
    region_slots_.Refresh(a.node);
  }
  for (; released_[c] > tasks; --released_[c]) {
    const Allocation& a = problem_.Task(c, released_[c] - 1);
    problem_.cluster().Charge(a, Ledger::kLater);
    problem_.Charge(1, kReleaseNs);
    region_slots_.Refresh(a.node);
  }
}

void VictimSet::ReleaseAll(std::span<const uint32_t> candidates) {
  for (uint32_t c : candidates) {
    if (c != left_out_) Release(c, problem_.Size(c));
  }
}

void VictimSet::TakeBackAll(std::span<const uint32_t> candidates) {
  // Last in, first out: Cluster forgets what is taken back at once.
  for (const uint32_t c : candidates | std::views::reverse) Release(c, 0);
}

bool VictimSet::Ask(uint32_t c, uint32_t tasks) {
  problem_.Charge(1, kVictimRulesNs);
  if (tasks == 0) return true;
  if (c == left_out_) return false;
  if (rules_ == nullptr) return true;
  return rules_->Add(c, tasks);
}

// Records an entry: how many tasks, and the cost.
void VictimSet::Note(uint32_t c, uint32_t tasks) {
  cost_ += problem_.CostOf(c, tasks);
  cost_ -= problem_.CostOf(c, entered_[c]);
  entered_[c] = tasks;
}

bool VictimSet::Enter(uint32_t c, uint32_t tasks) {
  Change change{.candidate = c, .before = entered_[c]};
  if (change.before == tasks) return true;
  if (change.before > 0) {
    // What is taken back is mostly what came last.
    const auto found = std::find(order_.rbegin(), order_.rend(), c);
    change.place = order_.rend() - found - 1;
    order_.erase(order_.begin() + change.place);
    if (rules_ != nullptr) rules_->Remove(c);
  }
  if (!Ask(c, tasks)) {
    Restore(change);
    return false;
  }
  if (tasks > 0) order_.push_back(c);
  Note(c, tasks);
  changes_.push_back(change);
  return true;
}

// Puts back an entry that has just been taken out.
void VictimSet::Restore(const Change& change) {
  if (change.before == 0) return;
  order_.insert(order_.begin() + change.place, change.candidate);
  if (!Ask(change.candidate, change.before)) Replay(change.candidate);
}

// Enters all anew, in the order of old; `left_out` is not entered now. What the
// policy accepted in an order, it accepts in it (VictimPolicy).
void VictimSet::Replay(uint32_t left_out) {
  for (uint32_t c : order_) {
    if (c != left_out) rules_->Remove(c);
  }
  for (uint32_t c : order_) (void)rules_->Add(c, entered_[c]);
}

void VictimSet::RevertTo(size_t mark) {
  while (changes_.size() > mark) {
    const Change change = changes_.back();
    changes_.pop_back();
    const uint32_t c = change.candidate;
    if (entered_[c] > 0) {  // It came last.
      order_.pop_back();
      if (rules_ != nullptr) rules_->Remove(c);
    }
    Note(c, change.before);
    Restore(change);
  }
}

bool VictimSet::EnterAll(const std::vector<Victim>& victims) {
  to_enter_ = victims;
  problem_.SortSmallestFirst(&to_enter_);
  for (const Victim& victim : to_enter_) {
    if (Enter(victim.candidate, victim.tasks)) continue;
    LeaveAll();
    return false;
  }
  return true;
}

void VictimSet::Reenter(const std::vector<Victim>& in_order) {
  LeaveAll();
  for (const Victim& victim : in_order) {
    (void)Enter(victim.candidate, victim.tasks);
  }
}

bool VictimSet::Reorder(uint32_t c, uint32_t tasks) {
  const std::vector<Victim> old = InOrder();
  std::vector<Victim> wanted = Victims();
  for (Victim& victim : wanted) {
    if (victim.candidate == c) victim.tasks = tasks;
  }
  LeaveAll();
  if (EnterAll(wanted)) return true;
  Reenter(old);
  return false;
}

void VictimSet::LeaveAll() {
  while (!order_.empty()) {
    const uint32_t c = order_.back();
    order_.pop_back();
    if (rules_ != nullptr) rules_->Remove(c);
    Note(c, 0);
  }
  changes_.clear();
}

bool VictimSet::QuotaSuffices() const {
  return rules_ == nullptr || rules_->QuotaSuffices();
}

bool VictimSet::GivesQuota(uint32_t c) const {
  return rules_ == nullptr || rules_->GivesQuota(c);
}

bool VictimSet::Take(uint32_t c, uint32_t tasks) {
  if (!Enter(c, tasks)) return false;
  Release(c, tasks);
  return true;
}

void VictimSet::ReleaseEntered() {
  for (uint32_t c : order_) Release(c, entered_[c]);
}

void VictimSet::Clear() {
  for (const uint32_t c : order_ | std::views::reverse) Release(c, 0);
  LeaveAll();
}

std::vector<Victim> VictimSet::InOrder() const {
  std::vector<Victim> victims;
  victims.reserve(order_.size());
  for (uint32_t c : order_) victims.push_back({c, entered_[c]});
  return victims;
}

std::vector<Victim> VictimSet::Victims() const {
  std::vector<Victim> victims = InOrder();
  std::ranges::sort(victims, {}, &Victim::candidate);
  return victims;
}

}  // namespace muster::preempt
