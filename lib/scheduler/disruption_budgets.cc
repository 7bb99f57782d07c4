#include "lib/scheduler/disruption_budgets.h"

#include <algorithm>

namespace muster {

const DisruptionBudget* DisruptionBudgets::Find(std::string_view key) const {
  const auto it = budgets_.find(key);
  return it == budgets_.end() ? nullptr : &it->second;
}

void DisruptionBudgets::Put(const DisruptionBudget& budget) {
  if (const DisruptionBudget* old = Find(budget.key)) {
    for (const std::string& gang : old->gangs) {
      const auto it = by_gang_.find(gang);
      std::erase(it->second, budget.key);
      if (it->second.empty()) by_gang_.erase(it);
    }
  }
  if (budget.gangs.empty()) {
    budgets_.erase(budget.key);
    return;
  }
  for (const std::string& gang : budget.gangs) {
    std::vector<std::string>& keys = by_gang_[gang];
    keys.insert(std::upper_bound(keys.begin(), keys.end(), budget.key),
                budget.key);
  }
  budgets_[budget.key] = budget;
}

void DisruptionBudgets::Count(std::string_view gang, int64_t sign) {
  for (const std::string& key : Of(gang)) {
    budgets_.find(key)->second.allowed += sign;
  }
}

const std::vector<std::string>& DisruptionBudgets::Of(
    std::string_view gang) const {
  static const std::vector<std::string> kNone;
  if (by_gang_.empty()) return kNone;
  const auto it = by_gang_.find(gang);
  return it == by_gang_.end() ? kNone : it->second;
}

bool DisruptionBudgets::Allows(std::string_view gang) const {
  return std::ranges::all_of(
      Of(gang), [&](const auto& key) { return Find(key)->allowed > 0; });
}

}  // namespace muster
