// Taints that say that a node goes away. Pure: any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "adapters/kubernetes/api/objects.h"
#include "muster/ids.h"

namespace muster::kubernetes {

struct SpotTaint {
  std::string_view key{};
  // From the taint until the node goes; 0: nobody says.
  Duration notice = 0;
};

// What clouds and autoscalers put on nodes that they take away; of any effect.
inline constexpr SpotTaint kSpotTaints[] = {
    // aws-node-termination-handler, taintNode: the spot interruption notice,
    // two minutes before; maintenance; the end of an autoscaling group's
    // instance. (Its rebalance recommendation is no notice.)
    {"aws-node-termination-handler/spot-itn", 120 * kSecond},
    {"aws-node-termination-handler/scheduled-maintenance"},
    {"aws-node-termination-handler/asg-lifecycle-termination"},
    // GKE; k8s-node-termination-handler. 30 seconds for a spot VM, up to an
    // hour for one with accelerators.
    {"cloud.google.com/impending-node-termination", 30 * kSecond},
    // AKS node auto-drain: a scheduled event of the VM, or its repair.
    {"remediator.kubernetes.azure.com/unschedulable"},
    // Cluster Autoscaler, in all clouds: the node is being scaled away.
    {"ToBeDeletedByClusterAutoscaler"},
    // Karpenter v1 and, second, v1beta1: interruption, drift, consolidation.
    {"karpenter.sh/disrupted"},
    {"karpenter.sh/disruption"},
};

// When the node goes, as far as one of its taints says: the time of the taint,
// where it has one, and the notice. `more`: further keys that mean it.
// kForever: none says so. O(taints x keys).
Time SpotNoticeOf(const api::Node& node, std::span<const std::string> more);

}  // namespace muster::kubernetes
