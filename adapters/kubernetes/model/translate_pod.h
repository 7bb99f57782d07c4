// What a pod asks of its node, as a role of the library. Pure functions: any
// thread.
#pragma once

#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/gang.h"

namespace muster::kubernetes {

// A role of one task without a name, group and minimum: like pods give equal
// ones. UNIMPLEMENTED names the field for what is set and not understood:
// nothing is passed over. INVALID_ARGUMENT names a field that is none of
// Kubernetes' values. Kinds that are learned later change nothing of it.
// O(size of the demand).
absl::StatusOr<Role> ToRole(const api::PodDemand& pod,
                            const ResourceKinds& kinds);

// A term that holds for no node.
SelectorTerm NoNode();

// Terms of a node selector of the API, of which one holds. One without
// requirements holds for no node. UNIMPLEMENTED names a field of nodes that is
// not known, INVALID_ARGUMENT an operator that is none. O(requirements).
absl::StatusOr<std::vector<SelectorTerm>> ToTerms(
    std::span<const api::NodeSelectorTerm> terms);

}  // namespace muster::kubernetes
