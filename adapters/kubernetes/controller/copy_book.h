// Objects whose pods come in several groups alike.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

// What is asked of each of an object's groups, for those that come: see
// OwnerKind::copy_label. Not synchronised.
class CopyBook {
 public:
  // `owner` is OwnerGroup's.
  void Set(const GroupRef& owner, GroupSpec spec);
  void Remove(const GroupRef& owner) { specs_.erase(owner); }
  // None: the group is no such one, or its object is not there. O(log objects).
  std::optional<GroupSpec> SpecOf(const GroupRef& ref) const;
  size_t size() const { return specs_.size(); }

 private:
  std::map<GroupRef, GroupSpec> specs_;
};

}  // namespace muster::kubernetes
