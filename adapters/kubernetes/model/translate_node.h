// Nodes of Kubernetes as nodes of the library. Pure functions: any thread.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/node.h"

namespace muster::kubernetes {

// The key is the node's name. Its devices are pieces of the kinds' device
// resource, of the model that `model_label` tells, at most as many as a node
// may have; Kubernetes' device plugin picks them. The node's name is a label as
// well, kNodeNameLabel, for selectors by metadata.name. A node that is not
// ready takes no new pod. INVALID_ARGUMENT names the field of a taint that is
// none. O(labels + taints + resources).
absl::StatusOr<Node> ToNode(const api::Node& node, const ResourceKinds& kinds,
                            const std::string& model_label);

// No key of a label in Kubernetes, so that it is none's.
inline constexpr char kNodeNameLabel[] = "field:metadata.name";

}  // namespace muster::kubernetes
