// Volumes and claims of the Kubernetes API, as far as a scheduler looks at
// them. Plain values, as in objects.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

// Of a claim: for which node its volume is to be made.
inline constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";
// Of a volume: its claimRef was set by a program, which a claim that goes
// before it is bound takes with it.
inline constexpr char kBoundByController[] =
    "pv.kubernetes.io/bound-by-controller";

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
  int64_t capacity = 0;                     // Thousandths of bytes.
  std::vector<std::string> access_modes{};  // "ReadWriteOnce", ...
  std::string volume_mode{};                // "Filesystem" if it is "".
  std::string phase{};  // status: "Available", "Bound", "Released", ...

  friend bool operator==(const PersistentVolume&,
                         const PersistentVolume&) = default;
};

struct PersistentVolumeClaim {
  ObjectMeta meta{};
  std::string volume_name{};  // "": not bound.
  // Unset: the cluster's default class. "": none.
  std::optional<std::string> storage_class_name{};
  int64_t request = 0;  // Of storage: thousandths of bytes.
  std::vector<std::string> access_modes{};
  std::string volume_mode{};  // As of a volume.
  // Labels of the volumes that will do.
  std::optional<LabelSelector> selector{};
  std::string phase{};  // status: "Pending", "Bound", "Lost".
  // The annotation kSelectedNode.
  std::string selected_node{};

  friend bool operator==(const PersistentVolumeClaim&,
                         const PersistentVolumeClaim&) = default;
};

struct StorageClass {
  ObjectMeta meta{};
  std::string provisioner{};
  std::string volume_binding_mode{};  // "Immediate", "WaitForFirstConsumer".
  // allowedTopologies: one of the terms holds for the nodes of its volumes.
  // Empty: every node will do.
  std::vector<NodeSelectorTerm> allowed_topologies{};

  friend bool operator==(const StorageClass&, const StorageClass&) = default;
};

}  // namespace muster::kubernetes::api
