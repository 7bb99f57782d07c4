// Rules of all but gangs.
#include "lib/scheduler/rules.h"

#include <charconv>

#include "muster/fabric/fabric.h"

namespace muster {

// --- Which nodes -------------------------------------------------------------

absl::Status Rule(const SchedulerConfig&, const Labels& labels) {
  return NoneTwice(labels, "", ".key", &Label::key);
}

absl::Status Rule(const SchedulerConfig&, const Requirement& r) {
  const bool wants_none =
      r.op == SelectorOp::kExists || r.op == SelectorOp::kDoesNotExist;
  const bool wants_one = r.op == SelectorOp::kGt || r.op == SelectorOp::kLt;
  if (wants_none != r.values.empty() || (wants_one && r.values.size() != 1)) {
    return Invalid(
        ".values: In and NotIn take values, Gt and Lt one, Exists and "
        "DoesNotExist none");
  }
  if (!wants_one) return absl::OkStatus();
  int64_t value = 0;
  const std::string& s = r.values[0];
  const auto [end, error] =
      std::from_chars(s.data(), s.data() + s.size(), value);
  return Require(error == std::errc() && end == s.data() + s.size(),
                 ".values[0]: '", s, "' is not an integer");
}

absl::Status Rule(const SchedulerConfig&, const Toleration& t) {
  return Require(!t.key.empty() || t.op == TolerationOp::kExists,
                 ".key: is empty; only Exists tolerates every taint");
}

namespace {

constexpr char kNone[] = "; empty: none is";

// Where a field names a kind of resource.
absl::Status IsKind(const SchedulerConfig& config, const char* field,
                    const std::string& name, const char* hint = "") {
  return Require(config.KindOf(name) < config.resources.size(), field, ": '",
                 name, "' is not one of config.resources", hint);
}

}  // namespace

// --- Nodes and queues --------------------------------------------------------

absl::Status Rule(const SchedulerConfig& config, const Node& node) {
  return Require(node.devices.empty() || !config.device_kind.empty(),
                 ".devices: config.device_kind names no kind");
}

absl::Status Rule(const SchedulerConfig& config, const Quota& quota) {
  MUSTER_RETURN_IF_ERROR(IsKind(config, ".resource", quota.resource));
  if (!quota.flavor.empty()) return NotSupportedYet(".flavor");
  if (quota.lend_limit) return NotSupportedYet(".lend_limit");
  if (!quota.guarantee || !quota.limit || *quota.guarantee <= *quota.limit) {
    return absl::OkStatus();
  }
  return Invalid(".guarantee: ", *quota.guarantee, " exceeds the limit ",
                 *quota.limit);
}

absl::Status Rule(const SchedulerConfig&, const DisruptionBudget& budget) {
  return NoneTwice(budget.gangs, ".gangs", "", std::identity());
}

absl::Status Rule(const SchedulerConfig&, const Queue& queue) {
  return NoneTwice(queue.quotas, ".quotas", ".resource", &Quota::resource);
}

// --- The configuration -------------------------------------------------------

absl::Status Rule(const SchedulerConfig&, const Topology& topology) {
  if (std::ranges::count(topology.levels, kHostLevel) > 0) {
    return Invalid(".levels: '", kHostLevel, "' is there anyway");
  }
  return NoneTwice(topology.levels, ".levels", "", std::identity());
}

absl::Status Rule(const SchedulerConfig& config, const TaskShape& shape) {
  return Require(!shape.whole_node || !config.node_kind.empty(),
                 ".whole_node: config.node_kind names no kind");
}

absl::Status Rule(const SchedulerConfig&, const TypicalTask& task) {
  if (task.shape.whole_node) return NotSupportedYet(".shape.whole_node");
  if (task.shape.devices.partition.empty()) return absl::OkStatus();
  return NotSupportedYet(".shape.devices.partition");
}

absl::Status Rule(const SchedulerConfig&, const PlacementOptions& placement) {
  return NoneTwice(placement.supply, ".supply", ".model", &ModelSupply::model);
}

absl::Status Rule(const SchedulerConfig& config, const HostCapabilities& host) {
  const std::vector<std::string>& keeps = host.suspended_keeps;
  MUSTER_RETURN_IF_ERROR(
      NoneTwice(keeps, ".suspended_keeps", "", std::identity()));
  for (const std::string& kind : keeps) {
    MUSTER_RETURN_IF_ERROR(IsKind(config, ".suspended_keeps", kind));
    if (kind == config.device_kind) {
      return Invalid(".suspended_keeps: '", kind,
                     "' is counted by devices, which a suspended task gives "
                     "back");
    }
  }
  return absl::OkStatus();
}

absl::Status Rule(const SchedulerConfig&, const SchedulerConfig& c) {
  MUSTER_RETURN_IF_ERROR(
      NoneTwice(c.resources, ".resources", "", std::identity()));
  MUSTER_RETURN_IF_ERROR(
      NoneTwice(c.queue_order, ".queue_order", "",
                [](QueueOrderKey key) { return Name(key); }));
  if (!c.device_kind.empty()) {
    MUSTER_RETURN_IF_ERROR(IsKind(c, ".device_kind", c.device_kind, kNone));
  }
  if (!c.node_kind.empty()) {
    MUSTER_RETURN_IF_ERROR(IsKind(c, ".node_kind", c.node_kind, kNone));
  }
  if (!c.node_kind.empty() && c.node_kind == c.device_kind) {
    return Invalid(".node_kind: '", c.node_kind, "' is .device_kind, too");
  }
  MUSTER_RETURN_IF_ERROR(
      NoneTwice(c.topologies, ".topologies", ".key", &Topology::key));
  MUSTER_RETURN_IF_ERROR(
      NoneTwice(c.fabrics, ".fabrics", ".key", &FabricTopology::key));
  for (size_t i = 0; i < c.fabrics.size(); ++i) {
    const std::string& key = c.fabrics[i].key;
    if (FindKey(c.topologies, key) != nullptr) {
      return Invalid(".fabrics[", i, "].key: '", key, "' twice");
    }
  }
  MUSTER_RETURN_IF_ERROR(NoneTwice(c.partition_schemes, ".partition_schemes",
                                   ".key", &PartitionScheme::key));
  if (c.host.migrate) return NotSupportedYet(".host.migrate");
  const EvictionBackoff& e = c.eviction_backoff;
  MUSTER_RETURN_IF_ERROR(
      Require(e.wait_base <= e.wait_max,
              ".eviction_backoff.wait_base: is more than .wait_max"));
  MUSTER_RETURN_IF_ERROR(Require(
      e.protection_base <= e.protection_max,
      ".eviction_backoff.protection_base: is more than .protection_max"));
  return Require(c.backoff_base <= c.backoff_max,
                 ".backoff_base: is more than .backoff_max");
}

// --- Devices: how they may be cut, and what tasks ask of them ----------------

namespace {

absl::Status ProfileRule(const PartitionScheme& scheme,
                         const PartitionProfile& profile) {
  if (profile.memory_slices > scheme.memory_slices) {
    return Invalid(".memory_slices: ", profile.memory_slices, " is not in 1..",
                   scheme.memory_slices);
  }
  const uint32_t last = scheme.memory_slices - profile.memory_slices;
  for (size_t i = 0; i < profile.starts.size(); ++i) {
    const uint32_t start = profile.starts[i];
    if (start > last) {
      return Invalid(".starts[", i, "]: ", start, " is not in 0..", last);
    }
    if (i > 0 && start <= profile.starts[i - 1]) {
      return Invalid(".starts[", i, "]: ", start, " does not come after ",
                     profile.starts[i - 1]);
    }
  }
  return absl::OkStatus();
}

// The pieces that the host has cut a device into.
absl::Status PiecesRule(const PartitionScheme& scheme, const Device& device) {
  uint32_t taken = 0;
  int32_t milli = 0;
  for (size_t i = 0; i < device.partitions.size(); ++i) {
    const DevicePartition& piece = device.partitions[i];
    const PartitionProfile* p = FindProfile(scheme, piece.profile);
    if (p == nullptr) {
      return Invalid(".partitions[", i, "].profile: scheme '", scheme.key,
                     "' has no '", piece.profile, "'");
    }
    if (std::ranges::count(p->starts, piece.start) == 0) {
      return Invalid(".partitions[", i, "].start: ", piece.start,
                     " is not one of the starts of '", p->name, "'");
    }
    const uint32_t slices = ((1u << p->memory_slices) - 1) << piece.start;
    if ((taken & slices) != 0) {
      return Invalid(".partitions[", i,
                     "].start: overlaps a partition before it");
    }
    taken |= slices;
    milli += p->milli;
  }
  return Require(milli <= kWholeDevice, ".partitions: have ", milli,
                 " thousandths together; a device has ", kWholeDevice);
}

absl::Status IsProfile(const SchedulerConfig& config, const std::string& name) {
  const bool known = std::ranges::any_of(
      config.partition_schemes, [&](const PartitionScheme& scheme) {
        return FindProfile(scheme, name) != nullptr;
      });
  return Require(known,
                 ".partition: no scheme of config.partition_schemes has '",
                 name, "'");
}

}  // namespace

absl::Status Rule(const SchedulerConfig&, const PartitionScheme& scheme) {
  for (size_t i = 0; i < scheme.profiles.size(); ++i) {
    const absl::Status status = ProfileRule(scheme, scheme.profiles[i]);
    if (!status.ok()) return Invalid(".profiles[", i, "]", status.message());
  }
  return NoneTwice(scheme.profiles, ".profiles", ".name",
                   &PartitionProfile::name);
}

absl::Status Rule(const SchedulerConfig& config, const Device& device) {
  if (device.partition_scheme.empty()) {
    return Require(
        device.partitions.empty(),
        ".partition_scheme: is empty, but the device has partitions");
  }
  const PartitionScheme* scheme =
      FindKey(config.partition_schemes, device.partition_scheme);
  if (scheme != nullptr) return PiecesRule(*scheme, device);
  return Invalid(".partition_scheme: '", device.partition_scheme,
                 "' is not one of config.partition_schemes");
}

absl::Status Rule(const SchedulerConfig& config, const DeviceShare& share) {
  if (share.partition.empty()) {
    return Require(share.first_slice == 0,
                   ".first_slice: must be 0 without a partition");
  }
  MUSTER_RETURN_IF_ERROR(IsProfile(config, share.partition));
  return Require(share.milli == 0 && share.memory_bytes == 0,
                 ".milli and .memory_bytes: must be 0 beside a partition");
}

absl::Status Rule(const SchedulerConfig& config, const DeviceRequest& d) {
  if (!d.partition.empty()) {
    MUSTER_RETURN_IF_ERROR(IsProfile(config, d.partition));
    if (d.count != 1 || d.milli != kWholeDevice || d.memory_bytes != 0) {
      return Invalid(
          ".partition: takes .count = 1, .milli = 1000 and .memory_bytes = 0; "
          "for several, use several tasks");
    }
  }
  if (d.count == 0) return absl::OkStatus();
  if (config.device_kind.empty()) {
    return Invalid(": config.device_kind names no kind");
  }
  if (d.memory_bytes > 0) {
    return Require(d.milli < kWholeDevice, ".milli: ", d.milli,
                   " is not in 0..999, as it is beside memory_bytes");
  }
  return Require(d.milli > 0, ".milli: 0 is not in 1..1000");
}

// --- Fabrics, and the gangs that are placed on them --------------------------

absl::Status Rule(const SchedulerConfig&, const FabricTopology& fabric) {
  const absl::Status read = Fabric::FromText(fabric.text).status();
  return read.ok() ? read : Invalid(".text: ", read.message());
}

absl::Status FabricRule(const FabricTopology& fabric,
                        const TopologyConstraint& c) {
  const auto levels = Fabric::LevelsOfText(fabric.text);
  if (!c.required.empty() && c.required != kHostLevel &&
      std::ranges::count(levels, c.required) == 0) {
    std::string all = kHostLevel;
    for (const auto level : levels)
      all = absl::StrCat(std::string(level), ", ", all);
    return Invalid(".required: '", c.required, "' is no level of fabric '",
                   fabric.key, "', which has ", all);
  }
  const char* refused = !c.preferred.empty()      ? ".preferred"
                        : !c.slices.empty()       ? ".slices"
                        : !(c.spread == Spread()) ? ".spread"
                                                  : nullptr;
  return Require(refused == nullptr, refused, ": cannot be used on a fabric, '",
                 fabric.key, "'");
}

absl::Status FabricRule(const SchedulerConfig& config, const Gang& gang) {
  uint32_t constraints = 0;
  bool on_fabric = false;
  const auto look = [&](const TopologyConstraint& c) {
    constraints += !(c == TopologyConstraint());
    on_fabric |= FindKey(config.fabrics, c.topology) != nullptr;
  };
  for (const Role& role : gang.roles) look(role.topology);
  for (const Group& group : gang.groups) look(group.topology);
  if (!on_fabric) return absl::OkStatus();
  if (gang.roles.size() > 1) {
    return Invalid(".roles: has ", gang.roles.size(),
                   " roles; a gang on a fabric has one");
  }
  if (gang.groups.size() > 1) {
    return Invalid(".groups: a gang on a fabric has none but the root");
  }
  if (constraints > 1) {
    return Invalid(
        ".groups[0].topology: a gang on a fabric has one constraint, here or "
        "at its role");
  }
  if (!gang.traffic.empty()) {
    return Invalid(".traffic: cannot be used on a fabric");
  }
  const Role& role = gang.roles[0];
  if (!role.preferences.empty()) {
    return Invalid(".roles[0].preferences: cannot be used on a fabric");
  }
  const uint32_t least = gang.groups.empty() ? 0 : gang.groups[0].min_tasks;
  return Require(least <= role.min_tasks, ".groups[0].min_tasks: ", least,
                 " is more than .roles[0].min_tasks, ", role.min_tasks,
                 ", which a gang on a fabric is placed by");
}

}  // namespace muster
