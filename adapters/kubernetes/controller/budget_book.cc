#include "adapters/kubernetes/controller/budget_book.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/label_selector.h"

namespace muster::kubernetes {
namespace {

// No selector selects nothing, an empty one everything.
bool Covers(const api::PodDisruptionBudget& budget,
            const api::StringMap& labels) {
  return budget.selector && Selects(*budget.selector, labels);
}

}  // namespace

void BudgetBook::Set(const api::PodDisruptionBudget& budget) {
  const std::string& ns = budget.meta.namespace_name;
  Namespace& of = namespaces_[ns];
  const auto [it, is_new] = of.budgets.try_emplace(budget.meta.name);
  Budget& known = it->second;
  const bool same_selector =
      !is_new && known.object.selector == budget.selector;
  if (same_selector &&
      known.object.disruptions_allowed == budget.disruptions_allowed) {
    return;
  }
  known.object = budget;
  changed_.insert({ns, budget.meta.name});
  if (same_selector) return;
  known.pods.clear();
  for (const auto& [uid, pod] : of.pods) {
    if (Covers(budget, pod.labels)) ++known.pods[pod.gang];
  }
}

void BudgetBook::Remove(const std::string& namespace_name,
                        const std::string& name) {
  const auto ns = namespaces_.find(namespace_name);
  if (ns == namespaces_.end() || ns->second.budgets.erase(name) == 0) return;
  changed_.insert({namespace_name, name});
  if (ns->second.empty()) namespaces_.erase(ns);
}

void BudgetBook::Count(const std::string& namespace_name, const Pod& pod,
                       int64_t more) {
  for (auto& [name, budget] : namespaces_[namespace_name].budgets) {
    if (!Covers(budget.object, pod.labels)) continue;
    const auto it = budget.pods.try_emplace(pod.gang, 0).first;
    it->second += more;
    if (it->second == 0) budget.pods.erase(it);
    changed_.insert({namespace_name, name});
  }
}

void BudgetBook::SetPod(const std::string& namespace_name,
                        const std::string& uid, const std::string& gang,
                        const api::StringMap& labels) {
  Namespace& ns = namespaces_[namespace_name];
  const auto [it, is_new] = ns.pods.try_emplace(uid);
  Pod& pod = it->second;
  if (!is_new) {
    if (pod.gang == gang && pod.labels == labels) return;
    Count(namespace_name, pod, -1);
  }
  pod = {gang, labels};
  Count(namespace_name, pod, 1);
}

void BudgetBook::RemovePod(const std::string& namespace_name,
                           const std::string& uid) {
  const auto ns = namespaces_.find(namespace_name);
  if (ns == namespaces_.end()) return;
  const auto pod = ns->second.pods.find(uid);
  if (pod == ns->second.pods.end()) return;
  Count(namespace_name, pod->second, -1);
  ns->second.pods.erase(pod);
  if (ns->second.empty()) namespaces_.erase(ns);
}

std::vector<DisruptionBudget> BudgetBook::TakeChanges() {
  std::vector<DisruptionBudget> changes;
  for (const Key& key : std::exchange(changed_, {})) {
    DisruptionBudget now{.key = absl::StrCat(key.first, "/", key.second)};
    const auto ns = namespaces_.find(key.first);
    if (ns != namespaces_.end()) {
      const auto it = ns->second.budgets.find(key.second);
      if (it != ns->second.budgets.end()) {
        int64_t most = 1;
        for (const auto& [gang, count] : it->second.pods) {
          now.gangs.push_back(gang);
          most = std::max(most, count);
        }
        const int64_t allowed = it->second.object.disruptions_allowed;
        now.allowed = std::max<int64_t>(allowed, 0) / most;
      }
    }
    const auto told = told_.find(key);
    if (now.gangs.empty()) {
      if (told == told_.end()) continue;
      told_.erase(told);
      changes.push_back({.key = std::move(now.key)});
    } else if (told == told_.end() || told->second != now) {
      told_[key] = now;
      changes.push_back(std::move(now));
    }
  }
  return changes;
}

}  // namespace muster::kubernetes
