// The resources of a cluster, by Kubernetes' names, as the library's kinds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kubernetes/api/objects.h"
#include "muster/resources.h"

namespace muster::kubernetes {

inline constexpr char kCpu[] = "cpu";
inline constexpr char kPods[] = "pods";

// Kinds only come: a position, once given, stays. Processors are counted in
// thousandths, everything else in whole units (bytes, pieces). One thread at a
// time changes it.
class ResourceKinds {
 public:
  // `device_resource` is the extended resource whose pieces are the library's
  // devices, such as "nvidia.com/gpu"; its amounts are left 0.
  explicit ResourceKinds(std::string device_resource);

  // Gives each resource that is new here a kind, as long as the library has
  // room for it (Resources::kMaxKinds). True: there are new ones, and
  // SchedulerConfig::resources is to follow. O(resources x kinds).
  bool Learn(const api::ResourceList& list);
  // The same of what a pod asks for, which anybody may invent: pods fill half
  // of the room and leave the rest to what nodes have.
  bool LearnRequested(const api::ResourceList& list);

  // What a node has, rounded down; what a pod asks for, rounded up, and its
  // place among the node's pods. Amounts beyond what the library counts are as
  // much as it counts; of a resource without a kind nothing is said: see
  // Unknown. O(resources x kinds).
  Resources Capacity(const api::ResourceList& list) const;
  Resources Request(const api::ResourceList& list) const;
  // Whether the library counts thousandths of it, else whole units. O(1).
  bool InThousandths(std::string_view name) const;
  // An amount of the library's in thousandths, as API objects have them; what
  // is more than these count, is as much as they count. O(1).
  int64_t ToThousandths(std::string_view name, int64_t amount) const;
  // Pieces of the device resource: whole ones, 0 if none are asked for.
  int64_t Devices(const api::ResourceList& list) const;
  // The first resource of which some is asked for and that has no kind; "" if
  // there is none.
  std::string_view Unknown(const api::ResourceList& list) const;

  // names().size() for a resource without a kind. O(kinds).
  ResourceKind KindOf(std::string_view name) const;
  // For SchedulerConfig::resources; the device resource is among them.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& device_resource() const { return device_resource_; }

 private:
  bool Learn(const api::ResourceList& list, size_t most_kinds);
  Resources Amounts(const api::ResourceList& list, bool round_up) const;

  std::string device_resource_;
  std::vector<std::string> names_;
};

}  // namespace muster::kubernetes
