#include "adapters/kubernetes/controller/role_pool.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "adapters/kubernetes/model/translate_pod.h"

namespace muster::kubernetes {
namespace {

constexpr size_t kFew = 1024;

class Hash {
 public:
  size_t value() const { return value_; }
  void Add(size_t more) { value_ = (value_ ^ more) * 0x9e3779b97f4a7c15u; }
  void Add(const std::string& text) { Add(std::hash<std::string>()(text)); }

 private:
  size_t value_ = 0;
};

// Requirements and tolerations of the library's and of the API's are alike.
template <class R>
void AddRequirements(const std::vector<R>& requirements, Hash* hash) {
  for (const R& requirement : requirements) {
    hash->Add(requirement.key);
    for (const std::string& value : requirement.values) hash->Add(value);
  }
}

template <class T>
void AddTolerations(const std::vector<T>& tolerations, Hash* hash) {
  for (const T& toleration : tolerations) {
    hash->Add(toleration.key);
    hash->Add(toleration.value);
  }
}

// Of what roles of pods differ in; equal for equal ones.
size_t HashOf(const Role& role) {
  Hash hash;
  hash.Add(role.shape.devices.count);
  for (ResourceKind k = 0; k < role.shape.resources.size(); ++k) {
    const int64_t amount = role.shape.resources[k];
    if (amount != 0) hash.Add(k * 31 + static_cast<size_t>(amount));
  }
  for (const SelectorTerm& term : role.shape.selector.any_of) {
    AddRequirements(term.all_of, &hash);
  }
  for (const Preference& each : role.preferences) {
    AddRequirements(each.term.all_of, &hash);
  }
  AddTolerations(role.tolerations, &hash);
  return hash.value();
}

// The same of demands.
size_t HashOf(const api::PodDemand& pod) {
  Hash hash;
  for (const auto& [name, amount] : pod.requests) {
    hash.Add(name);
    hash.Add(static_cast<size_t>(amount));
  }
  for (const auto& [key, value] : pod.node_selector) {
    hash.Add(key);
    hash.Add(value);
  }
  for (const api::NodeSelectorTerm& term : pod.required_node_affinity) {
    AddRequirements(term.match_expressions, &hash);
  }
  for (const api::PreferredTerm& each : pod.preferred_node_affinity) {
    AddRequirements(each.preference.match_expressions, &hash);
  }
  AddTolerations(pod.tolerations, &hash);
  return hash.value();
}

}  // namespace

// Those alike that somebody holds.
template <class T>
std::vector<T>& RolePool::Pool<T>::Of(size_t hash) {
  const auto expired = [](const T& known) { return known.expired(); };
  if (alike.size() >= most) {  // Seldom: as often as it has doubled.
    std::erase_if(alike, [&](const auto& each) {
      return std::ranges::all_of(each.second, expired);
    });
    most = std::max(kFew, 2 * alike.size());
  }
  std::vector<T>& found = alike[hash];
  std::erase_if(found, expired);
  return found;
}

std::shared_ptr<const Role> RolePool::Share(Role role) {
  std::vector<std::weak_ptr<const Role>>& alike = roles_.Of(HashOf(role));
  for (const std::weak_ptr<const Role>& known : alike) {
    if (auto shared = known.lock(); *shared == role) return shared;
  }
  auto shared = std::make_shared<const Role>(std::move(role));
  alike.push_back(shared);
  return shared;
}

absl::StatusOr<std::shared_ptr<const Role>> RolePool::Share(
    const api::PodDemand& pod, const ResourceKinds& kinds) {
  std::vector<Known>& alike = demands_.Of(HashOf(pod));
  for (const Known& known : alike) {
    if (known.demand == pod) return known.role.lock();
  }
  auto role = ToRole(pod, kinds);
  if (!role.ok()) return role.status();
  std::shared_ptr<const Role> shared = Share(*std::move(role));
  alike.push_back({pod, shared});
  return shared;
}

}  // namespace muster::kubernetes
