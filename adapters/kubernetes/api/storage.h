// Volumes and claims of the Kubernetes API, as far as a scheduler looks at
// them. Plain values, as in objects.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

struct PersistentVolume {
  ObjectMeta meta{};
  // spec.nodeAffinity.required: one of the terms holds for its nodes. Without
  // it every node will do.
  bool has_node_affinity = false;
  std::vector<NodeSelectorTerm> node_affinity{};
  // spec.claimRef: the claim that the volume is bound to or kept for.
  std::string claim_namespace{};
  std::string claim_name{};
  std::string claim_uid{};
  std::string storage_class_name{};
  std::string phase{};  // status: "Available", "Bound", "Released", ...

  friend bool operator==(const PersistentVolume&,
                         const PersistentVolume&) = default;
};

struct PersistentVolumeClaim {
  ObjectMeta meta{};
  std::string volume_name{};  // "": not bound.
  // Unset: the cluster's default class. "": none.
  std::optional<std::string> storage_class_name{};
  std::string phase{};  // status: "Pending", "Bound", "Lost".
  // The annotation volume.kubernetes.io/selected-node.
  std::string selected_node{};

  friend bool operator==(const PersistentVolumeClaim&,
                         const PersistentVolumeClaim&) = default;
};

struct StorageClass {
  ObjectMeta meta{};
  std::string provisioner{};
  std::string volume_binding_mode{};  // "Immediate", "WaitForFirstConsumer".

  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

}  // namespace muster::kubernetes::api
