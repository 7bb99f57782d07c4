#include "lib/scheduler/validate.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "lib/base/status_macros.h"

namespace muster {

namespace {

absl::string_view A(std::string_view s) { return {s.data(), s.size()}; }

absl::Status ValidateAmount(const SchedulerConfig& config,
                            const std::string& field, const Resources& amount,
                            bool device_kind_allowed) {
  if (amount.size() > config.resources.size()) {
    return Invalid(absl::StrCat(field, ": has ", amount.size(),
                                " kinds; the configuration has ",
                                config.resources.size()));
  }
  for (ResourceKind k = 0; k < amount.size(); ++k) {
    const std::string& name = config.resources[k];
    if (amount[k] < 0 || amount[k] > Resources::kMaxQuantity) {
      return Invalid(absl::StrCat(field, ".", name, ": ", amount[k],
                                  " is not in 0..", Resources::kMaxQuantity));
    }
    if (!device_kind_allowed && amount[k] != 0 &&
        name == config.device_resource) {
      return Invalid(absl::StrCat(field, ".", name,
                                  ": is counted by devices and must be 0"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateLabels(const std::string& field, const Labels& labels) {
  std::set<std::string_view> seen;
  for (const Label& label : labels) {
    if (label.key.empty()) return Invalid(field + ": a label has no key");
    if (!seen.insert(label.key).second) {
      return Invalid(absl::StrCat(field, ": label '", label.key, "' twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidatePlacement(const SchedulerConfig& config) {
  const std::string field = "config.placement";
  const PlacementOptions& options = config.placement;
  if (options.workload.size() > PlacementOptions::kMaxWorkload) {
    return Invalid(absl::StrCat(field, ".workload: has ",
                                options.workload.size(), " tasks; at most ",
                                PlacementOptions::kMaxWorkload));
  }
  for (size_t i = 0; i < options.workload.size(); ++i) {
    const std::string at = absl::StrCat(field, ".workload[", i, "]");
    const TypicalTask& task = options.workload[i];
    if (task.weight < 1 || task.weight > TypicalTask::kMaxWeight) {
      return Invalid(absl::StrCat(at, ".weight: ", task.weight,
                                  " is not in 1..", TypicalTask::kMaxWeight));
    }
    MUSTER_RETURN_IF_ERROR(ValidateShape(config, at + ".shape", task.shape));
    if (!task.shape.devices.partition.empty()) {
      return NotSupportedYet(at + ".shape.devices.partition");
    }
  }
  std::set<std::string_view> models;
  for (size_t i = 0; i < options.supply.size(); ++i) {
    const std::string at = absl::StrCat(field, ".supply[", i, "]");
    const ModelSupply& supply = options.supply[i];
    if (supply.devices < 0 || supply.devices > ModelSupply::kMaxDevices) {
      return Invalid(absl::StrCat(at, ".devices: ", supply.devices,
                                  " is not in 0..", ModelSupply::kMaxDevices));
    }
    if (!models.insert(supply.model).second) {
      return Invalid(absl::StrCat(at, ".model: '", supply.model, "' twice"));
    }
  }
  return ValidateAmount(config, field + ".yardstick", options.yardstick, true);
}

}  // namespace

absl::Status ValidateTime(std::string_view field, Time time) {
  constexpr Time kMost = kForever / 2;
  if (time >= -kMost && time <= kMost) return absl::OkStatus();
  return Invalid(absl::StrCat(A(field), ": ", time, " is not in +-", kMost));
}

absl::Status NotAnEnumValue(std::string_view field, uint64_t value,
                            size_t count) {
  return Invalid(
      absl::StrCat(A(field), ": ", value, " is not in 0..", count - 1));
}

namespace {

constexpr int64_t kMostInAll = int64_t{1} << 62;

int64_t CapacityOf(const SchedulerConfig& config, const Node& node,
                   ResourceKind k) {
  return config.resources[k] == config.device_resource
             ? static_cast<int64_t>(node.devices.size()) * kWholeDevice
             : node.capacity[k];
}

absl::Status TooMuchInAll(const Node& node, const std::string& kind) {
  return Invalid(absl::StrCat("node '", node.key, "'.capacity.", kind,
                              ": the cluster has more than 2^62 with it"));
}

}  // namespace

absl::Status ValidateClusterTotal(const Cluster& cluster,
                                  const SchedulerConfig& config,
                                  const Node& node) {
  const NodeId known = cluster.Find(node.key);
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    int64_t others = cluster.nodes_capacity()[k];
    if (known.valid()) others -= cluster.capacity(known.index, k);
    if (CapacityOf(config, node, k) > kMostInAll - others) {
      return TooMuchInAll(node, config.resources[k]);
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateClusterTotal(const SchedulerConfig& config,
                                  std::span<const Node> nodes) {
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    int64_t sum = 0;
    for (const Node& node : nodes) {
      const int64_t capacity = CapacityOf(config, node, k);
      if (capacity > kMostInAll - sum) {
        return TooMuchInAll(node, config.resources[k]);
      }
      sum += capacity;
    }
  }
  return absl::OkStatus();
}

absl::Status NotSupportedYet(std::string_view field) {
  return absl::UnimplementedError(
      absl::StrCat(A(field), ": not supported yet"));
}

absl::Status ValidateKey(std::string_view what, std::string_view key) {
  if (key.empty() || key.size() > kMaxKeyLength) {
    return Invalid(absl::StrCat(A(what), ": a key has 1..", kMaxKeyLength,
                                " bytes; this one has ", key.size()));
  }
  return absl::OkStatus();
}

absl::Status Invalid(std::string_view what) {
  return absl::InvalidArgumentError(A(what));
}

absl::Status ValidateConfig(const SchedulerConfig& config) {
  std::set<std::string_view> names;
  for (const std::string& name : config.resources) {
    if (name.empty()) return Invalid("config.resources: an empty name");
    if (!names.insert(name).second) {
      return Invalid(absl::StrCat("config.resources: '", name, "' twice"));
    }
  }
  if (!config.device_resource.empty() &&
      !names.contains(config.device_resource)) {
    return Invalid(absl::StrCat("config.device_resource: '",
                                config.device_resource,
                                "' is not one of config.resources"));
  }
  std::set<std::string_view> topologies;
  for (size_t i = 0; i < config.topologies.size(); ++i) {
    const Topology& t = config.topologies[i];
    const std::string field = absl::StrCat("config.topologies[", i, "]");
    MUSTER_RETURN_IF_ERROR(ValidateKey(field + ".key", t.key));
    if (!topologies.insert(t.key).second) {
      return Invalid(absl::StrCat(field, ".key: '", t.key, "' twice"));
    }
    if (t.levels.empty() || t.levels.size() > 16) {
      return Invalid(absl::StrCat(field, ".levels: has ", t.levels.size(),
                                  " levels, not 1..16"));
    }
    std::set<std::string_view> levels;
    for (const std::string& level : t.levels) {
      if (level.empty() || level == kHostLevel) {
        return Invalid(absl::StrCat(field,
                                    ".levels: a level's name is a label"
                                    " key, not empty and not '",
                                    kHostLevel, "'"));
      }
      if (!levels.insert(level).second) {
        return Invalid(absl::StrCat(field, ".levels: '", level, "' twice"));
      }
    }
  }
  MUSTER_RETURN_IF_ERROR(ValidateFabrics(config));
  MUSTER_RETURN_IF_ERROR(ValidatePartitionSchemes(config));
  MUSTER_RETURN_IF_ERROR(ValidatePlacement(config));
  if (config.host.migrate) return NotSupportedYet("config.host.migrate");
  if (config.backoff_base < 0 || config.backoff_max < config.backoff_base ||
      config.backoff_max > kForever / 4) {
    return Invalid("config.backoff_base: 0 <= backoff_base <= backoff_max");
  }
  return absl::OkStatus();
}

absl::Status ValidateNode(const SchedulerConfig& config, const Node& node) {
  MUSTER_RETURN_IF_ERROR(ValidateKey("node.key", node.key));
  const std::string field = absl::StrCat("node '", node.key, "'");
  MUSTER_RETURN_IF_ERROR(
      ValidateAmount(config, field + ".capacity", node.capacity, false));
  MUSTER_RETURN_IF_ERROR(ValidateLabels(field + ".labels", node.labels));
  if (node.devices.size() > DeviceSet::kCapacity) {
    return Invalid(absl::StrCat(field, ".devices: ", node.devices.size(),
                                " devices; at most ", DeviceSet::kCapacity));
  }
  if (!node.devices.empty() && config.device_resource.empty()) {
    return Invalid(field + ".devices: config.device_resource names no kind");
  }
  for (size_t i = 0; i < node.devices.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(ValidateDevice(
        config, absl::StrCat(field, ".devices[", i, "]"), node.devices[i]));
  }
  return absl::OkStatus();
}

absl::Status ValidateOthers(const SchedulerConfig& config,
                            const OtherUsage& usage) {
  const std::string field = absl::StrCat("usage of '", usage.node, "'");
  for (size_t i = 0; i < usage.devices.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(ValidateDeviceShare(
        config, absl::StrCat(field, ".devices[", i, "]"), usage.devices[i]));
  }
  return ValidateAmount(config, field + ".amount", usage.amount, false);
}

absl::Status ValidateQueue(const SchedulerConfig& config, const Queue& queue) {
  MUSTER_RETURN_IF_ERROR(ValidateKey("queue.key", queue.key));
  const std::string field = absl::StrCat("queue '", queue.key, "'");
  if (queue.weight < 1 || queue.weight > 1'000'000) {
    return Invalid(absl::StrCat(field, ".weight: ", queue.weight,
                                " is not in 1..1000000"));
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < queue.quotas.size(); ++i) {
    const Quota& quota = queue.quotas[i];
    const std::string at = absl::StrCat(field, ".quotas[", i, "]");
    if (std::find(config.resources.begin(), config.resources.end(),
                  quota.resource) == config.resources.end()) {
      return Invalid(absl::StrCat(at, ".resource: '", quota.resource,
                                  "' is not one of config.resources"));
    }
    if (!seen.insert(quota.resource).second) {
      return Invalid(
          absl::StrCat(at, ".resource: '", quota.resource, "' twice"));
    }
    if (!quota.flavor.empty()) return NotSupportedYet(at + ".flavor");
    if (quota.borrow_limit) return NotSupportedYet(at + ".borrow_limit");
    if (quota.lend_limit) return NotSupportedYet(at + ".lend_limit");
    for (const auto& [name, value] : {std::pair("guarantee", quota.guarantee),
                                      std::pair("limit", quota.limit)}) {
      if (value && (*value < 0 || *value > kMaxQuota)) {
        return Invalid(absl::StrCat(at, ".", name, ": ", *value,
                                    " is not in 0..", kMaxQuota));
      }
    }
    if (quota.guarantee && quota.limit && *quota.guarantee > *quota.limit) {
      return Invalid(absl::StrCat(at, ".guarantee: ", *quota.guarantee,
                                  " exceeds the limit ", *quota.limit));
    }
  }
  return absl::OkStatus();
}

absl::Status ValidateReconfig(const SchedulerConfig& before,
                              const SchedulerConfig& config) {
  MUSTER_RETURN_IF_ERROR(ValidateConfig(config));
  if (config.resources.size() < before.resources.size() ||
      !std::equal(before.resources.begin(), before.resources.end(),
                  config.resources.begin())) {
    return Invalid("config.resources: begin with the " +
                   std::to_string(before.resources.size()) +
                   " kinds there are, in their order");
  }
  if (config.device_resource == before.device_resource) return absl::OkStatus();
  return Invalid("config.device_resource: stays '" + before.device_resource +
                 "'");
}

absl::Status ValidateBudget(const DisruptionBudget& budget) {
  MUSTER_RETURN_IF_ERROR(ValidateKey("budget.key", budget.key));
  const std::string field = absl::StrCat("budget '", budget.key, "'");
  std::set<std::string_view> gangs;
  for (const std::string& gang : budget.gangs) {
    MUSTER_RETURN_IF_ERROR(ValidateKey(field + ".gangs", gang));
    if (!gangs.insert(gang).second) {
      return Invalid(absl::StrCat(field, ".gangs: '", gang, "' twice"));
    }
  }
  constexpr int64_t kMost = int64_t{1} << 32;
  if (budget.allowed < 0 || budget.allowed > kMost) {
    return Invalid(absl::StrCat(field, ".allowed: ", budget.allowed,
                                " is not in 0..", kMost));
  }
  return absl::OkStatus();
}

absl::Status ValidatePriorityClass(const PriorityClass& priority_class) {
  MUSTER_RETURN_IF_ERROR(ValidateKey("priority_class.key", priority_class.key));
  const Duration most = kForever / 4;
  if (priority_class.min_runtime < 0 || priority_class.grace < 0 ||
      priority_class.min_runtime > most || priority_class.grace > most) {
    return Invalid(absl::StrCat("priority_class '", priority_class.key,
                                "'.min_runtime and .grace: in 0..", most));
  }
  return absl::OkStatus();
}

}  // namespace muster
