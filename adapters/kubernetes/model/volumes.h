// Which nodes a pod's claims of volumes leave it. Pure functions: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/api/storage.h"
#include "muster/selector.h"

namespace muster::kubernetes {

// A claim that a pod names, in the pod's namespace.
struct PodClaim {
  std::string name{};
  // A generic ephemeral volume: the claim is made for this pod alone.
  bool ephemeral = false;

  friend bool operator==(const PodClaim&, const PodClaim&) = default;
};

// The claims of the pod's volumes, each once, in the order of the volumes. The
// claim of an ephemeral volume has the pod's name, "-" and the volume's.
// O(volumes squared).
std::vector<PodClaim> ClaimsOf(const api::Pod& pod);

// What is known of a claim; null: there is none, or it is not known.
struct ClaimObjects {
  const api::PersistentVolumeClaim* claim = nullptr;
  // That the claim is bound to.
  const api::PersistentVolume* volume = nullptr;
  const api::StorageClass* storage_class = nullptr;
  // Without a provisioner: the volumes that the claim may be bound to.
  std::vector<const api::PersistentVolume*> candidates{};
};

enum class ClaimStage : uint8_t {
  kWaits,      // ClaimVerdict::why_not.
  kBound,      // To a volume.
  kProvision,  // A volume is made once a node is selected.
  kChoose,     // One of the candidates is chosen once there is a node.
};

struct ClaimVerdict {
  ClaimStage stage = ClaimStage::kWaits;
  // Why the pod has to wait; it names the claim.
  std::string why_not{};
  // The pod's nodes. Empty: every node.
  NodeSelector nodes{};
};

// What the claim says of the nodes of a pod with this UID; whether another pod
// uses the claim is not looked at. O(terms of the volumes).
ClaimVerdict Judge(const PodClaim& claim, const std::string& pod_uid,
                   const ClaimObjects& objects);

// Volumes of the class are made, or chosen, once a node is known.
bool WaitsForConsumer(const api::StorageClass& storage_class);
// No volume of the class is ever made: there are those that somebody made.
bool IsStatic(const api::StorageClass& storage_class);
// Only one pod at a time may use it.
bool IsForOnePod(const api::PersistentVolumeClaim& claim);
// The volume was given to this claim, which it may not know yet.
bool IsKeptFor(const api::PersistentVolume& volume,
               const api::PersistentVolumeClaim& claim);
// The claim can be bound to the volume: it is of its class, at least as large,
// with its access modes and labels, and nobody else's.
bool Suits(const api::PersistentVolume& volume,
           const api::PersistentVolumeClaim& claim);
// The nodes that reach the volume; empty: every node. UNIMPLEMENTED or
// INVALID_ARGUMENT names a term that is not understood. O(terms).
absl::StatusOr<NodeSelector> NodesOf(const api::PersistentVolume& volume);
// A node with these labels reaches the volume. O(terms x labels).
bool Admits(const api::PersistentVolume& volume, const Labels& node);

// Nodes that both select: terms are multiplied out, equal ones left out, and
// terms that are one list of values each, of the same label, are one. At most
// kMaxVolumeTerms and the values of one requirement are kept, the first ones:
// what is left are nodes that both select. O(a x b).
inline constexpr size_t kMaxVolumeTerms = 256;
NodeSelector Both(const NodeSelector& a, const NodeSelector& b);

}  // namespace muster::kubernetes
