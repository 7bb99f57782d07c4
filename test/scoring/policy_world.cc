#include "test/scoring/policy_world.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gtest/gtest.h"

namespace muster::policy_test {

Role Task(int64_t cpu, uint32_t gpus, int32_t milli) {
  return TaskOn({}, cpu, gpus, milli);
}

Role TaskOn(std::vector<std::string> models, int64_t cpu, uint32_t gpus,
            int32_t milli) {
  Role role;
  role.shape.resources = {cpu};
  role.shape.devices = {.count = gpus, .milli = milli};
  role.shape.devices.models = std::move(models);
  return role;
}

TypicalTask Typical(const Role& role, int64_t weight) {
  return {.shape = role.shape, .weight = weight};
}

PolicyWorld::PolicyWorld() : cluster(kGpu + 1, kGpu, {}) { Use({}); }

void PolicyWorld::Use(PlacementOptions options) {
  policy = scoring::NewNodePolicy(options);
}

PolicyWorld& PolicyWorld::Add(const std::string& key, int64_t cpu,
                              std::vector<int32_t> free_milli,
                              const std::string& model) {
  Node node{.key = key, .capacity = {cpu, 1000}};
  node.devices.assign(free_milli.size(), {.model = model});
  const NodeId id = cluster.Upsert(node);
  for (uint32_t d = 0; d < free_milli.size(); ++d) {
    const int32_t used = kWholeDevice - free_milli[d];
    if (used == 0) continue;
    cluster.Charge({id.index, Intern(Task(0, 1, used)), {d}}, Ledger::kBoth);
  }
  return *this;
}

PolicyWorld& PolicyWorld::Run(const std::string& key, const Role& role) {
  Allocation at;
  EXPECT_TRUE(
      cluster.Take(cluster.Find(key).index, Intern(role), Ledger::kBoth, &at));
  return *this;
}

PolicyWorld& PolicyWorld::UseCpu(const std::string& key, int64_t cpu) {
  cluster.Charge({cluster.Find(key).index, Intern(Task(cpu, 0))},
                 Ledger::kBoth);
  return *this;
}

uint32_t PolicyWorld::NodeCost(const std::string& key, const Role& role,
                               const std::string& gang) {
  return policy->NodeCost({cluster, cluster.Find(key).index, Ledger::kBoth},
                          {Intern(role), gang});
}

std::string PolicyWorld::Best(const Role& role, const std::string& gang) {
  const std::string order = Order(role, gang);
  return order.substr(0, order.find_first_of(" ="));
}

std::string PolicyWorld::Order(const Role& role, const std::string& gang) {
  std::vector<std::pair<uint32_t, std::string>> costs;
  const ShapeId shape = Intern(role);
  for (const NodeIndex n : cluster.nodes()) {
    if (cluster.Slots(n, shape, Ledger::kBoth, 1) == 0) continue;
    const std::string& key = cluster.node(n).key;
    costs.emplace_back(NodeCost(key, role, gang), key);
  }
  std::sort(costs.begin(), costs.end());
  std::string order;
  for (size_t i = 0; i < costs.size(); ++i) {
    if (i > 0) order += costs[i].first == costs[i - 1].first ? '=' : ' ';
    order += costs[i].second;
  }
  return order;
}

std::vector<uint32_t> PolicyWorld::Devices(const std::string& key,
                                           const Role& role,
                                           const std::string& gang) {
  const Allocation at = policy->Choose(
      {cluster, cluster.Find(key).index, Ledger::kBoth}, {Intern(role), gang});
  std::vector<uint32_t> devices;
  std::ranges::copy(at.devices, std::back_inserter(devices));
  return devices;
}

}  // namespace muster::policy_test
