// Rules of gangs. Their queue, class and node sets are looked up elsewhere.
#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "lib/scheduler/gang_spec.h"
#include "lib/scheduler/rules.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

// `one_domain`: all tasks must share a domain of the level they spread over.
absl::Status SpreadRule(const TopologyConstraint& c, bool one_domain) {
  const Spread& s = c.spread;
  const bool asks = s.max_per_domain > 0 || s.max_skew > 0 || s.min_domains > 0;
  if (s.level.empty()) {
    return Require(!asks, ".spread.level: is empty, but the spread has bounds");
  }
  if (!asks) {
    return Invalid(
        ".spread.max_per_domain: is 0, as are .max_skew and .min_domains: one "
        "of them must be 1 or more");
  }
  return Require(s.min_domains <= 1 || !one_domain,
                 ".spread.min_domains: ", s.min_domains, " of level '", s.level,
                 "' cannot be used inside one required '", c.required, "'");
}

using Levels = std::span<const std::string>;

// The level's position, the widest 0; -1: there is no such.
int At(Levels levels, const std::string& level) {
  const auto it = std::ranges::find(levels, level);
  const bool known = it != levels.end() || level == kHostLevel;
  return known ? static_cast<int>(it - levels.begin()) : -1;
}

absl::Status SlicesRule(Levels levels, const TopologyConstraint& c) {
  for (size_t i = 0; i < c.slices.size(); ++i) {
    const Slice& slice = c.slices[i];
    const std::string at = absl::StrCat(".slices[", i, "]");
    const int level = At(levels, slice.level);
    if (level < 0) {
      return Invalid(at, ".level: there is no level '", slice.level, "'");
    }
    if (!c.required.empty() && level < At(levels, c.required)) {
      return Invalid(at, ".level: '", slice.level,
                     "' is wider than the required '", c.required, "'");
    }
    if (i == 0) continue;
    const Slice& outer = c.slices[i - 1];
    if (outer.size % slice.size != 0) {
      return Invalid(at, ".size: ", slice.size,
                     " does not divide the slice around it, ", outer.size);
    }
    if (level < At(levels, outer.level)) {
      return Invalid(at, ".level: is wider than that of the slice around it");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Rule(const SchedulerConfig& config, const TopologyConstraint& c) {
  if (c == TopologyConstraint()) return absl::OkStatus();
  if (const FabricTopology* f = FindKey(config.fabrics, c.topology)) {
    return FabricRule(*f, c);
  }
  const std::vector<Topology>& all = config.topologies;
  const Topology* topology = !c.topology.empty() ? FindKey(all, c.topology)
                             : all.empty()       ? nullptr
                                                 : &all[0];
  if (topology == nullptr && !c.topology.empty()) {
    return Invalid(".topology: there is no '", c.topology, "'");
  }
  const Levels levels =
      topology == nullptr ? Levels() : Levels(topology->levels);
  for (const auto& [name, level] :
       {std::pair(".required", &c.required),
        std::pair(".preferred", &c.preferred),
        std::pair(".spread.level", &c.spread.level)}) {
    if (!level->empty() && At(levels, *level) < 0) {
      return Invalid(name, ": there is no level '", *level, "'");
    }
  }
  const bool one_domain = !c.required.empty() &&
                          At(levels, c.required) >= At(levels, c.spread.level);
  MUSTER_RETURN_IF_ERROR(SpreadRule(c, one_domain));
  return SlicesRule(levels, c);
}

absl::Status Rule(const SchedulerConfig&, const Role& role) {
  return Require(role.min_tasks <= role.desired_tasks,
                 ".min_tasks: ", role.min_tasks,
                 " is more than .desired_tasks, ", role.desired_tasks);
}

Wide MostOf(const Gang& gang, ResourceKind k, ResourceKind device_kind,
            ResourceKind node_kind) {
  const auto amount = [&](const TaskShape& shape) -> Wide {
    if (k == device_kind) return Wide{shape.devices.count} * kWholeDevice;
    if (k == node_kind) return shape.whole_node ? kWholeNode : 1;
    return shape.resources[k];
  };
  Wide sum = 0;
  for (const Role& role : gang.roles) {
    Wide largest = amount(role.shape);
    for (const TaskShape& shape : role.alternatives) {
      largest = std::max(largest, amount(shape));
    }
    sum += largest * role.desired_tasks;
  }
  return sum;
}

namespace {

absl::Status RolesRule(const SchedulerConfig& config, const Gang& gang) {
  MUSTER_RETURN_IF_ERROR(NoneTwice(gang.roles, ".roles", ".name", &Role::name));
  size_t shapes = 0;
  uint64_t tasks = 0;
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    const Role& role = gang.roles[r];
    if (role.group >= std::max<size_t>(1, gang.groups.size())) {
      return Invalid(".roles[", r, "].group: ", role.group,
                     " is not a position in groups");
    }
    shapes += 1 + role.alternatives.size();
    tasks += role.desired_tasks;
  }
  if (tasks > Gang::kMaxTasks) {
    return Invalid(".roles: desire ", tasks, " tasks together; at most ",
                   Gang::kMaxTasks);
  }
  if (shapes > Gang::kMaxShapes) {
    return Invalid(".roles: have ", shapes, " shapes together; at most ",
                   Gang::kMaxShapes);
  }
  const ResourceKind device_kind = config.KindOf(config.device_kind);
  const ResourceKind node_kind = config.KindOf(config.node_kind);
  for (ResourceKind k = 0; k < config.resources.size(); ++k) {
    if (MostOf(gang, k, device_kind, node_kind) > Resources::kMaxTotal) {
      return Invalid(".roles: could use more than 2^62 ", config.resources[k],
                     " together");
    }
  }
  return absl::OkStatus();
}

absl::Status GroupsRule(const Gang& gang) {
  const std::vector<Group>& groups = gang.groups;
  std::vector<uint64_t> children(groups.size(), 0);
  std::vector<uint64_t> tasks(groups.size(), 0);
  std::vector<uint32_t> above(groups.size(), 0);
  for (size_t g = 0; g < groups.size(); ++g) {
    const uint32_t parent = groups[g].parent;
    if (g == 0 ? parent != 0 : parent >= g) {
      return Invalid(".groups[", g, "].parent: ", parent,
                     g == 0 ? " is not 0: the root's parent is itself"
                            : " is not a position before it");
    }
    if (g > 0) above[g] = above[parent] + 1;
    if (above[g] > Gang::kMaxDepth) {
      return Invalid(".groups[", g, "].parent: has ", Gang::kMaxDepth,
                     " groups above it, the most there can be");
    }
  }
  for (const Role& role : gang.roles) {
    if (groups.empty()) break;
    ++children[role.group];
    tasks[role.group] += role.desired_tasks;
  }
  for (size_t g = groups.size(); g-- > 1;) {
    ++children[groups[g].parent];
    tasks[groups[g].parent] += tasks[g];
  }
  for (size_t g = 0; g < groups.size(); ++g) {
    if (children[g] == 0) {
      return Invalid(".groups[", g, "]: has no role and no group");
    }
    if (groups[g].min_children > children[g]) {
      return Invalid(".groups[", g, "].min_children: ", groups[g].min_children,
                     " of ", children[g], " children");
    }
    if (groups[g].min_tasks > tasks[g]) {
      return Invalid(".groups[", g, "].min_tasks: ", groups[g].min_tasks,
                     " of ", tasks[g], " desired tasks");
    }
  }
  return absl::OkStatus();
}

using RolesByName = std::map<std::string_view, size_t>;

RolesByName NamesOf(const Gang& gang) {
  RolesByName names;
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    names.emplace(gang.roles[r].name, r);
  }
  return names;
}

absl::Status TrafficRule(const Gang& gang) {
  if (gang.traffic.empty()) return absl::OkStatus();
  const RolesByName names = NamesOf(gang);
  Wide total = 0;
  for (size_t i = 0; i < gang.traffic.size(); ++i) {
    const Traffic& t = gang.traffic[i];
    Wide pairs = 1;
    for (const auto& [end, name] :
         {std::pair(".from", &t.from), std::pair(".to", &t.to)}) {
      const auto role = names.find(*name);
      if (role == names.end()) {
        return Invalid(".traffic[", i, "]", end, ": there is no role '", *name,
                       "'");
      }
      pairs *= gang.roles[role->second].desired_tasks;
    }
    total += pairs * t.weight;
    if (total > Traffic::kMaxTotal) {
      return Invalid(".traffic[", i,
                     "].weight: all pairs of tasks weigh more than 2^57 with "
                     "it");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<uint32_t>> StartWaves(const Gang& gang) {
  const size_t n = gang.roles.size();
  if (std::ranges::all_of(gang.roles, [](const Role& role) {
        return role.start_after.empty();
      })) {
    return std::vector<uint32_t>(n, 0);
  }
  const RolesByName names = NamesOf(gang);
  std::vector<std::vector<size_t>> before(n), after(n);
  std::vector<size_t> missing(n, 0), free;
  for (size_t r = 0; r < n; ++r) {
    for (const std::string& name : gang.roles[r].start_after) {
      const auto other = names.find(name);
      if (other == names.end()) {
        return Invalid(".roles[", r, "].start_after: there is no role '", name,
                       "'");
      }
      before[r].push_back(other->second);
      after[other->second].push_back(r);
    }
    missing[r] = before[r].size();
    if (missing[r] == 0) free.push_back(r);
  }
  std::vector<uint32_t> waves(n, 0);
  for (size_t i = 0; i < free.size(); ++i) {
    for (const size_t later : after[free[i]]) {
      waves[later] = std::max(waves[later], waves[free[i]] + 1);
      if (--missing[later] == 0) free.push_back(later);
    }
  }
  if (free.size() == n) return waves;
  // Each role that is left comes after another that is left.
  const auto left_before = [&](size_t r) {
    std::ranges::sort(before[r]);
    return *std::ranges::find_if(before[r],
                                 [&](size_t b) { return missing[b] > 0; });
  };
  auto at = static_cast<size_t>(
      std::ranges::find_if(missing, [](size_t m) { return m > 0; }) -
      missing.begin());
  for (size_t i = 0; i < n; ++i) at = left_before(at);
  std::string cycle = absl::StrCat("'", gang.roles[at].name, "'");
  size_t r = at;
  do {
    r = left_before(r);
    absl::StrAppend(&cycle, " after '", gang.roles[r].name, "'");
  } while (r != at);
  return Invalid(".roles: start_after has a cycle: ", cycle);
}

absl::Status Rule(const SchedulerConfig& config, const Gang& gang) {
  if (!gang.affinity.empty()) return NotSupportedYet(".affinity");
  if (gang.deadline != kForever) return NotSupportedYet(".deadline");
  if (!gang.depends_on.empty()) return NotSupportedYet(".depends_on");
  if (!gang.speed.empty()) return NotSupportedYet(".speed");
  MUSTER_RETURN_IF_ERROR(RolesRule(config, gang));
  MUSTER_RETURN_IF_ERROR(TrafficRule(gang));
  MUSTER_RETURN_IF_ERROR(GroupsRule(gang));
  MUSTER_RETURN_IF_ERROR(FabricRule(config, gang));
  const std::vector<uint32_t> nothing(gang.roles.size(), 0);
  if (gang.groups.empty()
          ? std::ranges::all_of(gang.roles,
                                [](auto& r) { return r.min_tasks == 0; })
          : Satisfaction(gang, nothing).satisfied[0] != 0) {
    return Invalid(".roles: no role needs any task");
  }
  return StartWaves(gang).status();
}

}  // namespace muster
