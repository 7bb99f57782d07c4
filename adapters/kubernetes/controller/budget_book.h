// Disruption budgets: from pods that a selector names to gangs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kubernetes/api/objects.h"
#include "muster/disruption_budget.h"

namespace muster::kubernetes {

// A budget counts pods, the library gangs: so many gangs may be stopped as
// would fit if each had as many of the budget's pods as the one that has most.
// The API server has the last word when it is asked to evict. Not synchronised.
class BudgetBook {
 public:
  void Set(const api::PodDisruptionBudget& budget);
  void Remove(const std::string& namespace_name, const std::string& name);

  // A pod of a gang that the scheduler knows is there with these labels, or is
  // not. O(budgets of the namespace x labels), the logarithms aside.
  void SetPod(const std::string& namespace_name, const std::string& uid,
              const std::string& gang, const api::StringMap& labels);
  void RemovePod(const std::string& namespace_name, const std::string& uid);

  // Budgets that are others than they were told; those without gangs are gone.
  // O(gangs of the budgets of which something changed).
  std::vector<DisruptionBudget> TakeChanges();

 private:
  using Key = std::pair<std::string, std::string>;  // Namespace, name.
  struct Pod {
    std::string gang{};
    api::StringMap labels{};

    friend bool operator==(const Pod&, const Pod&) = default;
  };
  struct Budget {
    api::PodDisruptionBudget object{};
    std::map<std::string, int64_t> pods{};  // By gang: how many it selects.
  };
  struct Namespace {
    std::map<std::string, Budget> budgets{};
    std::map<std::string, Pod> pods{};  // By UID.

    bool empty() const { return budgets.empty() && pods.empty(); }
  };

  // The pod is to be counted once more or, -1, once less.
  void Count(const std::string& namespace_name, const Pod& pod, int64_t more);

  std::map<std::string, Namespace> namespaces_;
  std::set<Key> changed_;
  std::map<Key, DisruptionBudget> told_;
};

}  // namespace muster::kubernetes
