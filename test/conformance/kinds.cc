#include "test/conformance/kinds.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "adapters/translate/devices.h"
#include "muster/device_set.h"

namespace muster::conformance {
namespace {

constexpr char kGpu[] = "gpu";
constexpr char kPods[] = "pods";
constexpr char kAllGpus[] = "gpu (all)";
constexpr double kTooMuch = 4e18;

bool IsWhole(double amount) { return amount == std::floor(amount); }

double AmountOf(const Amounts& amounts, const std::string& name) {
  const auto it = amounts.find(name);
  return it == amounts.end() ? 0 : it->second;
}

// GPUs and partitions, in GPUs (a partition of n slices counts n).
double AllGpus(const Amounts& amounts) {
  double sum = AmountOf(amounts, kGpu);
  for (const auto& [name, amount] : amounts) {
    sum += static_cast<double>(translate::MigSlices(name)) * amount;
  }
  return sum;
}

bool AnyPartition(const Scenario& s) {
  for (const GangSpec& gang : s.gangs) {
    for (const PodSpec& pod : gang.pods) {
      if (!pod.mig.empty()) return true;
    }
  }
  return false;
}

bool AnyQuotaOf(const Scenario& s, const std::string& resource) {
  for (const QueueSpec& queue : s.queues) {
    for (const QuotaSpec& quota : queue.quotas) {
      if (quota.resource == resource) return true;
    }
  }
  return false;
}

// Every resource on every flavour, and on none.
void AddFlavored(const Scenario& s, std::map<std::string, bool>* names) {
  std::map<std::string, bool> flavors;
  for (const FlavorSpec& flavor : s.cluster.flavors) flavors[flavor.name];
  for (const QueueSpec& queue : s.queues) {
    for (const QuotaSpec& quota : queue.quotas) {
      if (!quota.flavor.empty()) flavors[quota.flavor];
    }
  }
  if (flavors.empty()) return;
  flavors[kNoFlavor];
  std::map<std::string, bool> resources = *names;
  for (const NeedSpec& need : s.needs) flavors[need.flavor];
  for (const GangSpec& gang : s.gangs) {
    for (const PodSpec& pod : gang.pods) {
      for (const auto& [resource, flavor] : pod.flavors) {
        flavors[flavor];
        resources[resource];
      }
    }
  }
  for (const char* name : {"cpu", "memory", kGpu, kPods}) resources[name];
  for (const auto& [resource, unused] : resources) {
    for (const auto& [flavor, unused2] : flavors) {
      (*names)[Kinds::Flavored(resource, flavor)] = true;
    }
  }
}

}  // namespace

std::string Kinds::Flavored(const std::string& resource,
                            const std::string& flavor) {
  return resource + "@" + flavor;
}

std::string Kinds::DeviceClass(const std::string& name) {
  return "deviceclass/" + name;
}

Kinds::Kinds(const Scenario& scenario) {
  AddAll(scenario);
  ChooseUnits(scenario);
}

void Kinds::Add(const std::string& name) {
  if (by_name_.contains(name)) return;
  by_name_[name] = static_cast<ResourceKind>(names_.size());
  names_.push_back(name);
}

void Kinds::AddAll(const Scenario& s) {
  for (const char* name : {"cpu", "memory", kGpu}) Add(name);
  std::map<std::string, bool> rest;
  for (const NodeSpec& node : s.cluster.nodes) {
    for (const auto& [name, amount] : node.capacity) rest[name] = true;
    pods_are_counted_ |= node.capacity.contains(kPods);
  }
  for (const GangSpec& gang : s.gangs) {
    for (const PodSpec& pod : gang.pods) {
      for (const auto& [name, amount] : pod.requests) rest[name] = true;
    }
  }
  for (const UsageSpec& usage : s.usages) rest[usage.resource] = true;
  for (const ForeignPodSpec& pod : s.cluster.foreign_pods) {
    for (const auto& [name, amount] : pod.requests) rest[name] = true;
  }
  for (const DomainUsageSpec& usage : s.cluster.domain_usage) {
    for (const auto& [name, amount] : usage.per_pod) rest[name] = true;
  }
  for (const NeedSpec& need : s.needs) rest[need.resource] = true;
  for (const DeviceSliceSpec& slice : s.cluster.device_slices) {
    rest[DeviceClass(slice.device_class)] = true;
  }
  for (const DeviceClaimSpec& claim : s.cluster.device_claims) {
    rest[DeviceClass(claim.device_class)] = true;
  }
  for (const QueueSpec& queue : s.queues) {
    for (const QuotaSpec& quota : queue.quotas) rest[quota.resource] = true;
  }
  AddFlavored(s, &rest);
  partitions_count_as_gpus_ = AnyPartition(s) && AnyQuotaOf(s, kGpu);
  if (partitions_count_as_gpus_) rest[kAllGpus] = true;
  for (const auto& [name, unused] : rest) Add(name);
}

void Kinds::ChooseUnits(const Scenario& s) {
  gpus_are_devices_ = !s.cluster.nodes.empty();
  scale_.assign(names_.size(), 1);
  std::vector<double> most(names_.size(), 0);
  for (const NodeSpec& node : s.cluster.nodes) {
    for (const auto& [name, amount] : node.capacity) {
      double& m = most[by_name_[name]];
      m = std::max(m, amount);
    }
    const double gpus = AmountOf(node.capacity, kGpu);
    gpus_are_devices_ &=
        IsWhole(gpus) && gpus >= 0 && gpus <= DeviceSet::kCapacity;
  }
  scale_[by_name_[kGpu]] = 1000;
  if (partitions_count_as_gpus_) scale_[by_name_[kAllGpus]] = 1000;
  for (size_t kind = 0; kind < names_.size(); ++kind) {
    // A flavoured kind is counted in the units of the plain one.
    const auto plain =
        by_name_.find(names_[kind].substr(0, names_[kind].rfind('@')));
    if (plain != by_name_.end()) most[kind] = most[plain->second];
    while (most[kind] * scale_[kind] >
           static_cast<double>(Resources::kMaxQuantity)) {
      scale_[kind] /= 1024;
    }
  }
}

void Kinds::WriteTo(SchedulerConfig* config) const {
  config->resources = names_;
  config->device_kind = gpus_are_devices_ ? kGpu : "";
}

ResourceKind Kinds::Find(const std::string& name) const {
  return by_name_.at(name);
}

ResourceKind Kinds::QuotaKind(const QuotaSpec& quota) const {
  if (!quota.flavor.empty()) {
    return Find(Flavored(quota.resource, quota.flavor));
  }
  if (quota.resource == kGpu && partitions_count_as_gpus_) {
    return Find(kAllGpus);
  }
  return Find(quota.resource);
}

double Kinds::Scale(ResourceKind kind, double amount) const {
  return std::clamp(amount * scale_[kind], -kTooMuch, kTooMuch);
}

int64_t Kinds::Asked(ResourceKind kind, double amount) const {
  return static_cast<int64_t>(std::ceil(Scale(kind, amount) - 1e-6));
}

int64_t Kinds::There(ResourceKind kind, double amount) const {
  return static_cast<int64_t>(std::floor(Scale(kind, amount) + 1e-6));
}

Resources Kinds::Request(const PodSpec& pod, const ClusterSpec& cluster) const {
  Resources sum(static_cast<uint32_t>(names_.size()));
  for (const auto& [name, amount] : pod.requests) {
    const ResourceKind kind = Find(name);
    if (name == kGpu && gpus_are_devices_) continue;
    sum.Set(kind, Asked(kind, amount));
  }
  if (pods_are_counted_) sum.Set(Find(kPods), 1);
  for (const std::string& name : pod.device_claims) {
    for (const DeviceClaimSpec& claim : cluster.device_claims) {
      if (claim.name != name) continue;
      const ResourceKind kind = Find(DeviceClass(claim.device_class));
      sum.Set(kind, sum[kind] + Asked(kind, claim.count));
    }
  }
  if (partitions_count_as_gpus_) {
    double gpus = AllGpus(pod.requests);
    if (pod.gpu_share && pod.gpu_share->fraction) {
      gpus += *pod.gpu_share->fraction *
              static_cast<double>(pod.gpu_share->devices);
    }
    sum.Set(Find(kAllGpus), Asked(Find(kAllGpus), gpus));
  }
  return sum;
}

Resources Kinds::Capacity(const NodeSpec& node,
                          const ClusterSpec& cluster) const {
  Resources sum(static_cast<uint32_t>(names_.size()));
  for (const auto& [name, amount] : node.capacity) {
    const ResourceKind kind = Find(name);
    if (name == kGpu && gpus_are_devices_) continue;
    sum.Set(kind, There(kind, amount));
  }
  for (const DeviceSliceSpec& slice : cluster.device_slices) {
    if (slice.node != node.name) continue;
    const ResourceKind kind = Find(DeviceClass(slice.device_class));
    sum.Set(kind, sum[kind] + slice.count);
  }
  if (partitions_count_as_gpus_) {
    sum.Set(Find(kAllGpus), There(Find(kAllGpus), AllGpus(node.capacity)));
  }
  return sum;
}

}  // namespace muster::conformance
