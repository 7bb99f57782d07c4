#include "test/solver/random_world.h"

#include <string>

namespace muster::solver_test {
namespace {

const char* const kLevels[] = {"block", "rack", kHostLevel};

TopologyConstraint RandomConstraint(Random& random, bool slices,
                                    uint32_t tasks) {
  TopologyConstraint c;
  if (random.Chance(40)) c.required = kLevels[random.Below(3)];
  if (c.required.empty() && random.Chance(20)) {
    c.preferred = kLevels[random.Below(3)];
  }
  if (slices && tasks > 1 && random.Chance(60)) {
    c.slices.push_back(
        {kLevels[random.Between(1, 2)], random.Between(2, tasks)});
    if (tasks >= 4 && random.Chance(50)) {
      c.slices = {{"rack", 4}, {kHostLevel, 2}};
    }
  }
  return c;
}

Spread RandomSpread(Random& random, uint32_t tasks) {
  Spread s{.level = kLevels[random.Below(3)]};
  if (random.Chance(50)) s.max_per_domain = random.Between(1, tasks);
  if (random.Chance(50)) s.max_skew = random.Between(1, 2);
  if (random.Chance(50)) s.min_domains = random.Between(1, 3);
  return s;
}

void RandomShape(Random& random, const Limits& limits, TaskShape* shape) {
  shape->resources = {random.Below(3), 0, 0};
  DeviceRequest& devices = shape->devices;
  devices.count = random.Below(limits.shares ? 2 : 3);
  if (devices.count == 0 && shape->resources[kCpu] == 0) devices.count = 1;
  if (limits.shares && devices.count > 0) {
    if (random.Chance(20)) devices.count = 2;
    const int32_t milli[] = {200, 300, 400, 500, 700, 1000};
    devices.milli = milli[random.Below(6)];
  }
  if (devices.count > 0 && random.Chance(20)) devices.models = {"A"};
}

}  // namespace

std::vector<Topology> TwoLevels() { return {{"net", {"block", "rack"}}}; }

std::vector<NodeSpec> RandomNodes(Random& random, const Limits& limits) {
  std::vector<NodeSpec> nodes;
  const uint32_t count = random.Between(1, limits.nodes);
  for (uint32_t i = 0; i < count; ++i) {
    NodeSpec spec{.path = "n" + std::to_string(i)};
    spec.gpus = random.Below(limits.devices + 1);
    spec.cpu = random.Below(5);
    spec.model = random.Chance(30) ? "A" : "B";
    if (!random.Chance(8)) {
      spec.labels = {{"block", std::to_string(random.Below(2))},
                     {"rack", std::to_string(random.Below(2))}};
    }
    nodes.push_back(spec);
  }
  return nodes;
}

Gang RandomGang(Random& random, const Limits& limits) {
  Gang gang;
  gang.groups.resize(limits.groups ? random.Between(1, 3) : 1);
  for (uint32_t g = 1; g < gang.groups.size(); ++g) {
    gang.groups[g].parent = random.Below(g);
  }
  const uint32_t roles = random.Between(1, limits.roles);
  for (uint32_t r = 0; r < roles; ++r) {
    Role role =
        MakeRole("r" + std::to_string(r), random.Between(1, limits.tasks), 0);
    if (limits.elastic && random.Chance(50)) {
      role.min_tasks = random.Below(role.desired_tasks + 1);
    }
    role.group = random.Below(static_cast<uint32_t>(gang.groups.size()));
    RandomShape(random, limits, &role.shape);
    if (limits.alternatives && random.Chance(50)) {
      role.alternatives.emplace_back();
      RandomShape(random, limits, &role.alternatives[0]);
    }
    if (limits.preferences && random.Chance(60)) {
      role.preferences.push_back(
          {.weight = 5, .term = {{{"rack", SelectorOp::kIn, {"1"}}}}});
    }
    if (limits.groups || limits.slices) {
      role.topology =
          RandomConstraint(random, limits.slices, role.desired_tasks);
    }
    if (limits.spreads && random.Chance(limits.groups ? 50 : 90)) {
      role.topology.spread = RandomSpread(random, role.desired_tasks);
    }
    gang.roles.push_back(role);
  }
  for (Group& group : gang.groups) {
    if (random.Chance(30)) {
      group.topology = RandomConstraint(random, false, 0);
    }
    if (limits.spreads && random.Chance(limits.groups ? 40 : 20)) {
      group.topology.spread = RandomSpread(random, 3);
    }
    if (!limits.elastic) continue;
    if (random.Chance(40)) group.min_children = random.Between(1, 2);
    if (random.Chance(30)) group.min_tasks = random.Between(1, 4);
  }
  if (limits.traffic) {
    const auto name = [](uint32_t r) { return "r" + std::to_string(r); };
    for (uint32_t r = 1; r < roles; ++r) {
      gang.traffic.push_back({name(random.Chance(70) ? 0 : r - 1), name(r),
                              static_cast<int64_t>(random.Between(1, 3))});
    }
    if (random.Chance(30)) {
      const std::string self = name(random.Below(roles));
      gang.traffic.push_back({self, self, 1});
    }
  }
  return gang;
}

void UseSome(Random& random, World& w) {
  for (const NodeIndex n : w.cluster.nodes()) {
    const uint32_t gpus =
        static_cast<uint32_t>(w.cluster.node(n).devices.size());
    if (gpus > 0 && random.Chance(30)) {
      w.Use(w.cluster.node(n).key, random.Between(1, gpus));
    }
    Role share = MakeRole("other", 1, 1);
    share.shape.devices.milli = 300;
    const ShapeId shape = w.cluster.Intern(share, 0);
    Allocation at;
    if (random.Chance(20)) w.cluster.Take(n, shape, Ledger::kBoth, &at);
  }
}

void LoseHalf(Random& random, World& w) {
  std::vector<Assignment> kept;
  for (const Assignment& a : w.placed) {
    if (random.Chance(50)) {
      kept.push_back(a);
      continue;
    }
    w.cluster.Credit(a.at, Ledger::kBoth);
    if (random.Chance(50)) w.cluster.SetAvailable(a.at.node, false);
  }
  w.placed = kept;
}

}  // namespace muster::solver_test
