// How many gangs of a group may be disrupted now: the host's word, and what
// decisions took of it since.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/string_map.h"
#include "muster/disruption_budget.h"

namespace muster {

// A gang in several budgets needs room in each. Names of gangs that are not
// known count for nothing. Not synchronised.
class DisruptionBudgets {
 public:
  using ByKey = std::map<std::string, DisruptionBudget, std::less<>>;

  const ByKey& all() const { return budgets_; }
  // Null if there is none.
  const DisruptionBudget* Find(std::string_view key) const;
  // In place of the one with its key; without gangs it is gone. O(gangs).
  void Put(const DisruptionBudget& budget);
  // A gang of theirs is disrupted (-1), or after all is not (1). O(budgets of
  // the gang x log).
  void Count(std::string_view gang, int64_t sign);
  // The budgets that name the gang, by key.
  const std::vector<std::string>& Of(std::string_view gang) const;
  // Whether each of them allows one more.
  bool Allows(std::string_view gang) const;

 private:
  ByKey budgets_;
  StringMap<std::vector<std::string>> by_gang_;
};

}  // namespace muster
