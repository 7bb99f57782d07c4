// What a pod asks of its node, as a role of the library. Pure functions: any
// thread.
#pragma once

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/gang.h"

namespace muster::kubernetes {

// A role of one task without a name, group and minimum: like pods give equal
// ones. UNIMPLEMENTED names the field for what is set and not understood:
// nothing is passed over. INVALID_ARGUMENT names a field that is none of
// Kubernetes' values. O(size of the pod).
absl::StatusOr<Role> ToRole(const api::Pod& pod, const ResourceKinds& kinds);

// A term that holds for no node.
SelectorTerm NoNode();

}  // namespace muster::kubernetes
