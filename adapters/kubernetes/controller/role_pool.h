// What pods ask for, once for all that ask for the same.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/gang.h"

namespace muster::kubernetes {

// Not synchronised.
class RolePool {
 public:
  // The role, shared by all that hold an equal one; forgotten with the last of
  // them. O(size of the role), as a rule.
  std::shared_ptr<const Role> Share(Role role);
  // The same of ToRole(pod, kinds), which is not asked again while somebody
  // holds the role of an equal demand. O(size of the demand), as a rule.
  absl::StatusOr<std::shared_ptr<const Role>> Share(const api::PodDemand& pod,
                                                    const ResourceKinds& kinds);

  // Kinds of roles, those included that are to be forgotten. O(1).
  size_t size() const { return roles_.alike.size(); }

 private:
  struct Known {
    api::PodDemand demand{};
    std::weak_ptr<const Role> role{};

    bool expired() const { return role.expired(); }
  };
  // By hash. When there are so many, what nobody holds is dropped.
  template <class T>
  struct Pool {
    std::map<size_t, std::vector<T>> alike{};
    size_t most = 0;

    std::vector<T>& Of(size_t hash);
  };

  Pool<std::weak_ptr<const Role>> roles_;
  Pool<Known> demands_;
};

}  // namespace muster::kubernetes
