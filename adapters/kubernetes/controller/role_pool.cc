#include "adapters/kubernetes/controller/role_pool.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace muster::kubernetes {
namespace {

constexpr size_t kFew = 1024;

// Of what roles of pods differ in; equal for equal ones.
class RoleHash {
 public:
  explicit RoleHash(const Role& role) {
    Add(role.shape.devices.count);
    for (ResourceKind k = 0; k < role.shape.resources.size(); ++k) {
      const int64_t amount = role.shape.resources[k];
      if (amount != 0) Add(k * 31 + static_cast<size_t>(amount));
    }
    for (const SelectorTerm& term : role.shape.selector.any_of) Add(term);
    for (const Preference& preference : role.preferences) Add(preference.term);
    for (const Toleration& t : role.tolerations) {
      Add(t.key);
      Add(t.value);
    }
  }
  size_t value() const { return value_; }

 private:
  void Add(size_t more) { value_ = (value_ ^ more) * 0x9e3779b97f4a7c15u; }
  void Add(const std::string& text) { Add(std::hash<std::string>()(text)); }
  void Add(const SelectorTerm& term) {
    for (const Requirement& requirement : term.all_of) {
      Add(requirement.key);
      for (const std::string& value : requirement.values) Add(value);
    }
  }

  size_t value_ = 0;
};

}  // namespace

std::shared_ptr<const Role> RolePool::Share(Role role) {
  const auto expired = [](const auto& known) { return known.expired(); };
  if (roles_.size() >= most_) {  // Seldom: as often as it has doubled.
    std::erase_if(roles_, [&](const auto& alike) {
      return std::ranges::all_of(alike.second, expired);
    });
    most_ = std::max(kFew, 2 * roles_.size());
  }
  std::vector<std::weak_ptr<const Role>>& alike =
      roles_[RoleHash(role).value()];
  std::erase_if(alike, expired);
  for (const std::weak_ptr<const Role>& known : alike) {
    if (auto shared = known.lock(); *shared == role) return shared;
  }
  auto shared = std::make_shared<const Role>(std::move(role));
  alike.push_back(shared);
  return shared;
}

}  // namespace muster::kubernetes
