// What pods ask for, once for all that ask for the same.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "muster/gang.h"

namespace muster::kubernetes {

// Not synchronised.
class RolePool {
 public:
  // The role, shared by all that hold an equal one; forgotten with the last of
  // them. O(size of the role), as a rule.
  std::shared_ptr<const Role> Share(Role role);

  // Kinds of roles, those included that are to be forgotten. O(1).
  size_t size() const { return roles_.size(); }

 private:
  std::map<size_t, std::vector<std::weak_ptr<const Role>>> roles_;  // By hash.
  size_t most_ = 0;  // When so many are there, what nobody holds is dropped.
};

}  // namespace muster::kubernetes
