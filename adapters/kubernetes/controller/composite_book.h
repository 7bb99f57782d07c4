// Which PodGroups of scheduling.k8s.io are parts of a CompositePodGroup.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

// Names are those of one namespace and one kind. Not synchronised.
class CompositeBook {
 public:
  using Name = std::pair<std::string, std::string>;  // Namespace, name.

  void Set(const api::CompositePodGroup& composite);
  // One that has a parent.
  void SetPart(const api::PodGroup& group);
  void Remove(const Name& composite) { composites_.erase(composite); }
  // The composite group it was a part of; "": of none. O(log groups).
  std::string RemovePart(const Name& group);

  // The composite group it is a part of; "": of none. O(log groups).
  std::string ParentOf(const Name& group) const;
  // With all its parts, by name. None: it is not there. O(groups).
  std::optional<GroupSpec> SpecOf(const Name& composite) const;
  // Of both kinds.
  size_t size() const { return composites_.size() + parts_.size(); }

 private:
  std::map<Name, api::CompositePodGroup> composites_;
  std::map<Name, api::PodGroup> parts_;
};

}  // namespace muster::kubernetes
