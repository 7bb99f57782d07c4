#include "adapters/kubernetes/controller/budget_book.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/label_selector.h"

namespace muster::kubernetes {

void BudgetBook::Set(const api::PodDisruptionBudget& budget) {
  const std::string& ns = budget.meta.namespace_name;
  api::PodDisruptionBudget& known = namespaces_[ns].budgets[budget.meta.name];
  if (known.selector == budget.selector &&
      known.disruptions_allowed == budget.disruptions_allowed) {
    return;
  }
  known = budget;
  changed_.insert(ns);
}

void BudgetBook::Remove(const std::string& namespace_name,
                        const std::string& name) {
  if (namespaces_[namespace_name].budgets.erase(name) > 0) {
    changed_.insert(namespace_name);
  }
}

void BudgetBook::SetPod(const std::string& namespace_name,
                        const std::string& uid, const std::string& gang,
                        const api::StringMap& labels) {
  Namespace& ns = namespaces_[namespace_name];
  Pod& pod = ns.pods[uid];
  if (pod.gang == gang && pod.labels == labels) return;
  pod = {gang, labels};
  if (!ns.budgets.empty()) changed_.insert(namespace_name);
}

void BudgetBook::RemovePod(const std::string& namespace_name,
                           const std::string& uid) {
  Namespace& ns = namespaces_[namespace_name];
  if (ns.pods.erase(uid) > 0 && !ns.budgets.empty()) {
    changed_.insert(namespace_name);
  }
}

std::vector<DisruptionBudget> BudgetBook::TakeChanges() {
  std::vector<DisruptionBudget> changes;
  for (const std::string& name : std::exchange(changed_, {})) {
    const Namespace& ns = namespaces_[name];
    const std::string prefix = name + "/";
    std::map<std::string, DisruptionBudget> now;
    for (const auto& [key, budget] : ns.budgets) {
      std::map<std::string, int64_t> pods;  // By gang.
      for (const auto& [uid, pod] : ns.pods) {
        // No selector selects nothing, an empty one everything.
        if (budget.selector && Selects(*budget.selector, pod.labels)) {
          ++pods[pod.gang];
        }
      }
      if (pods.empty()) continue;
      DisruptionBudget& made = now[prefix + key];
      made.key = prefix + key;
      int64_t most = 1;
      for (const auto& [gang, count] : pods) {
        made.gangs.push_back(gang);
        most = std::max(most, count);
      }
      made.allowed = std::max<int64_t>(budget.disruptions_allowed, 0) / most;
    }
    const auto end = told_.lower_bound(name + "0");  // '0' follows '/'.
    for (auto it = told_.lower_bound(prefix); it != end;) {
      if (now.contains(it->first)) {
        ++it;
        continue;
      }
      changes.push_back({.key = it->first});
      it = told_.erase(it);
    }
    for (auto& [key, budget] : now) {
      DisruptionBudget& told = told_[key];
      if (told == budget) continue;
      told = budget;
      changes.push_back(std::move(budget));
    }
  }
  return changes;
}

}  // namespace muster::kubernetes
