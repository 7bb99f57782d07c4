#include "adapters/kubernetes/controller/gang_spread.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/label_selector.h"
#include "adapters/kubernetes/model/spread.h"

namespace muster::kubernetes {
namespace {

// A constraint, and the roles whose pods have it, in order.
struct Scope {
  const PodSpread* spread = nullptr;
  std::vector<uint32_t> roles{};
};

// Those of more roles first, so that what lies inside another comes after it.
std::vector<Scope> ScopesOf(const GangRecord& gang) {
  std::vector<Scope> scopes;
  for (uint32_t r = 0; r < gang.roles().size(); ++r) {
    const auto& spreads = gang.roles()[r].spreads;
    if (spreads == nullptr) continue;
    for (const PodSpread& spread : *spreads) {
      auto scope = std::ranges::find_if(
          scopes, [&](const Scope& s) { return *s.spread == spread; });
      if (scope == scopes.end()) {
        scope = scopes.insert(scopes.end(), {.spread = &spread, .roles = {}});
      }
      if (scope->roles.empty() || scope->roles.back() != r) {
        scope->roles.push_back(r);
      }
    }
  }
  std::ranges::stable_sort(scopes, std::greater(), [](const Scope& scope) {
    return scope.roles.size();
  });
  return scopes;
}

std::string WhyNotSelected(const GangRecord& gang,
                           const std::vector<Scope>& scopes) {
  for (const auto& [uid, member] : gang.members()) {
    if (!member.task) continue;
    for (const Scope& scope : scopes) {
      const bool has =
          std::ranges::binary_search(scope.roles, member.task->role);
      if (Selects(scope.spread->selector, *member.pod->labels) == has) continue;
      return absl::StrCat(
          "spec.topologySpreadConstraints: a labelSelector that selects ",
          has ? "only some of the group's pods that have the constraint"
              : "pods of the group without this constraint",
          " is not supported");
    }
  }
  return "";
}

// False: its roles do not lie side by side.
bool Write(const Scope& scope, Gang* wanted) {
  const uint32_t around = wanted->roles[scope.roles.front()].group;
  if (!std::ranges::all_of(scope.roles, [&](uint32_t r) {
        return wanted->roles[r].group == around;
      })) {
    return false;
  }
  Role& first = wanted->roles[scope.roles.front()];
  if (scope.roles.size() == 1 && first.topology.empty()) {
    first.topology = scope.spread->topology;
    return true;
  }
  const auto group = static_cast<uint32_t>(wanted->groups.size());
  wanted->groups.push_back(
      {.parent = around, .topology = scope.spread->topology});
  for (const uint32_t r : scope.roles) wanted->roles[r].group = group;
  return true;
}

}  // namespace

std::string SpreadRoles(const GangRecord& gang, Gang* wanted) {
  const std::vector<Scope> scopes = ScopesOf(gang);
  if (scopes.empty() || wanted->roles.empty()) return "";
  if (wanted->groups.empty()) wanted->groups.emplace_back();
  std::string why = WhyNotSelected(gang, scopes);
  for (const Scope& scope : scopes) {
    if (Write(scope, wanted) || !why.empty()) continue;
    why =
        "spec.topologySpreadConstraints: a labelSelector that selects some of "
        "the pods that another one selects, or pods of several of the group's "
        "groups, is not supported";
  }
  return why;
}

}  // namespace muster::kubernetes
