// How the controller is set up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/eviction_backoff.h"
#include "muster/ids.h"
#include "muster/queue.h"
#include "muster/topology.h"

namespace muster::kubernetes {

struct ControllerOptions {
  // Pods with one of these in spec.schedulerName are scheduled.
  std::vector<std::string> scheduler_names{"muster"};
  // The extended resource whose pieces are devices, and the node label that
  // tells their model.
  std::string device_resource = "nvidia.com/gpu";
  std::string model_label = "nvidia.com/gpu.product";
  // Further taints by which a node is known to go away (model/spot_taints.h).
  std::vector<std::string> spot_taints{};
  // Over node labels. Each label key that a group names is a topology besides.
  std::vector<Topology> topologies{};
  // The queue of pods that name none. It is there without an object.
  std::string default_queue = "default";
  // Pods of a namespace with a ResourceQuota that name no queue, or the default
  // one, have a queue of their own, with that limit.
  bool quota_from_namespaces = false;
  // A gang that runs keeps the place of a pod that is gone for so long, until
  // its controller makes the pod again.
  Duration pod_timeout = 60 * kSecond;
  // A group of which no pod is there is remembered for so long.
  Duration group_timeout = 600 * kSecond;
  // A place is kept for so long while claims of volumes are bound there; then
  // another one is looked for.
  Duration volume_timeout = 600 * kSecond;
  // At least so much time lies between two looks at why pods wait.
  Duration report_interval = kSecond;
  // Likewise between two writes of one queue's, or one PodGroup's, status.
  Duration status_interval = 5 * kSecond;
  // SchedulerConfig::queue_order and eviction_backoff.
  std::vector<QueueOrderKey> queue_order{};
  EvictionBackoff eviction_backoff{};
  // SchedulerConfig::work_budget.
  uint64_t work_budget = 2'000'000;
};

}  // namespace muster::kubernetes
