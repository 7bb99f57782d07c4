// Kinds of objects whose pods start together, beside the groups that are made
// for schedulers: the jobs of training operators, clusters of Ray, JobSets,
// LeaderWorkerSets.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

// A kind, and what its operator writes on pods. "" where there is nothing.
struct OwnerKind {
  std::string_view kind{};
  std::string_view group{};
  std::array<std::string_view, 2> versions{};  // The first that is served.
  std::string_view plural{};
  // Label of pods that another object of the operator owns: the name of this
  // one. It counts where a second label has that value.
  std::string_view name_label{};
  std::string_view only_with_label{};
  std::string_view only_with_value{};
  // Its pods come in groups alike, Owner::copies of them: label of pods that
  // tells which one. Pods are known by their labels alone.
  std::string_view copy_label{};

  constexpr api::ResourceType type(std::string_view version) const {
    return {group, version, plural, true, kind};
  }
};

// In a fixed order. Any thread.
std::span<const OwnerKind> OwnerKinds();

// The pods of that object of the kind.
GroupRef OwnerGroup(std::string_view kind, const std::string& namespace_name,
                    std::string_view name);

// One of several groups alike of an object of the kind.
GroupRef CopyGroup(std::string_view kind, const std::string& namespace_name,
                   std::string_view name, std::string_view copy);
// What tells it from the others; "": the group is no such one.
std::string_view CopyOf(const GroupRef& ref);
// The same without that, which is OwnerGroup's; any other group is as it was.
GroupRef OwnerOfCopy(const GroupRef& ref);

// The group of the pod's owner, by its controller or else by a label. No name:
// no kind of the table owns it. O(kinds x log labels).
GroupRef OwnerGroupOf(const api::Pod& pod);
// Which role of its owner's the pod is of, as operators' labels say: as in
// ToSpec's subgroups; "": they do not. O(log labels).
std::string OwnerRoleOf(const api::Pod& pod);

// The owner says how many pods start together: minAvailable, else the sum of
// what its roles need. Roles that need less than all of their pods, and those
// whose pods come later, are subgroups, their names in lower case.
GroupSpec ToSpec(const api::Owner& owner);
// What ToSpec says of each of several groups alike, for this one.
GroupSpec ToSpecOfCopy(GroupSpec spec, const GroupRef& ref);

}  // namespace muster::kubernetes
