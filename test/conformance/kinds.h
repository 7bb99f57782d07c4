// The resource kinds of one scenario, and the units they are counted in.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/config.h"
#include "muster/resources.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

// The flavour of what no flavour will do for: no queue has a quota of it.
inline constexpr char kNoFlavor[] = "(none)";

// Every kind that nodes, pods, quotas or device classes name, and two sorts of
// kinds that exist for quotas only:
//  - `cpu@spot`: cpu of the flavour spot, where quotas are per flavour;
//  - `gpu (all)`: GPUs and their fixed partitions together, where a quota of
//    GPUs must count both.
class Kinds {
 public:
  explicit Kinds(const Scenario& scenario);

  void WriteTo(SchedulerConfig* config) const;
  // Whether GPUs are devices (shareable, a node has DeviceSet::kCapacity at
  // most) or merely counted.
  bool gpus_are_devices() const { return gpus_are_devices_; }

  ResourceKind Find(const std::string& name) const;
  static std::string Flavored(const std::string& resource,
                              const std::string& flavor);
  static std::string DeviceClass(const std::string& name);
  // The kind a queue's quota of the resource is counted in.
  ResourceKind QuotaKind(const QuotaSpec& quota) const;

  // Whole units; what is asked for is rounded up, what there is down. Bounded
  // above by a number that no scheduler accepts.
  int64_t Asked(ResourceKind kind, double amount) const;
  int64_t There(ResourceKind kind, double amount) const;

  // What a pod asks for beside whole devices and shares of them.
  Resources Request(const PodSpec& pod, const ClusterSpec& cluster) const;
  // A node's capacity, without flavours and, where they are devices, GPUs.
  Resources Capacity(const NodeSpec& node, const ClusterSpec& cluster) const;

 private:
  void AddAll(const Scenario& scenario);
  void ChooseUnits(const Scenario& scenario);
  void Add(const std::string& name);
  double Scale(ResourceKind kind, double amount) const;

  std::vector<std::string> names_;
  std::map<std::string, ResourceKind> by_name_;
  std::vector<double> scale_;  // By kind: units for one of the scenario's.
  bool gpus_are_devices_ = false;
  bool pods_are_counted_ = false;
  bool partitions_count_as_gpus_ = false;
};

}  // namespace muster::conformance
