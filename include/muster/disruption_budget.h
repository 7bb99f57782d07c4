// Disruption budgets: how many gangs of a group may be stopped for others.
#ifndef MUSTER_DISRUPTION_BUDGET_H_
#define MUSTER_DISRUPTION_BUDGET_H_

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

// What the host allows at this moment, such as a PodDisruptionBudget's
// disruptionsAllowed. Preemption keeps to it: each gang stopped for another one
// takes 1 of `allowed` of all budgets that name it, a refused stop gives it
// back, and a gang of a budget with nothing left is no victim. Surplus tasks of
// elastic gangs are no disruption. Lost and drained nodes, time limits and
// cancellations do not ask. The host tells new numbers as they change.
struct DisruptionBudget {
  std::string key{};                 // As other keys, unique among budgets.
  std::vector<std::string> gangs{};  // Keys; one not known yet may be named.
  int64_t allowed = 0;               // At least 0.

  friend bool operator==(const DisruptionBudget&,
                         const DisruptionBudget&) = default;
};

}  // namespace muster

#endif  // MUSTER_DISRUPTION_BUDGET_H_
