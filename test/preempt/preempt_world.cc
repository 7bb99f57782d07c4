#include "test/preempt/preempt_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

namespace muster {
namespace {

std::vector<uint32_t> Order(size_t count, uint64_t shuffle) {
  std::vector<uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(shuffle);
  if (shuffle != 0) std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace

std::string NodeKey(uint32_t rack, uint32_t node) {
  return "r" + std::to_string(rack) + "/n" + std::to_string(node);
}

Gang MakeGang(uint32_t tasks, uint32_t gpus, const std::string& level) {
  Gang gang;
  gang.key = "preemptor";
  gang.groups.resize(1);
  gang.groups[0].topology.required = level;
  Role role;
  role.min_tasks = tasks;
  role.desired_tasks = tasks;
  role.shape.resources = Resources({1000, 0});
  role.shape.devices.count = gpus;
  gang.roles.push_back(role);
  return gang;
}

World::World(const ClusterSpec& spec, uint64_t shuffle)
    : cluster_(2, kGpu, {Topology{.key = "net", .levels = {"rack"}}}),
      running_(spec.running) {
  AddNodes(spec, shuffle);
  Start(spec, shuffle);
}

void World::AddNodes(const ClusterSpec& spec, uint64_t shuffle) {
  for (uint32_t i : Order(spec.racks * spec.nodes_per_rack, shuffle)) {
    const uint32_t rack = i / spec.nodes_per_rack;
    Node node;
    node.key = NodeKey(rack, i % spec.nodes_per_rack);
    node.capacity = Resources({1'000'000, 0});
    node.devices.resize(spec.gpus_per_node);
    node.labels = {{"rack", "r" + std::to_string(rack)}};
    cluster_.Upsert(node);
  }
}

void World::Start(const ClusterSpec& spec, uint64_t shuffle) {
  // Which devices a gang holds is part of the description, not of the order
  // in which it is told: lowest free ones first, gangs as listed.
  std::vector<uint32_t> next(cluster_.node_limit(), 0);
  std::vector<std::vector<DeviceSet>> devices(running_.size());
  for (size_t g = 0; g < running_.size(); ++g) {
    for (const TaskSpec& task : running_[g].tasks) {
      uint32_t& from = next[cluster_.Find(task.node).index];
      devices[g].push_back(DeviceSet::FirstOf(from + task.gpus) -
                           DeviceSet::FirstOf(from));
      from += task.gpus;
      ASSERT_LE(from, spec.gpus_per_node) << task.node;
    }
  }
  placed_.resize(running_.size());
  for (uint32_t g : Order(running_.size(), shuffle)) {
    for (uint32_t t = 0; t < running_[g].tasks.size(); ++t) {
      const TaskSpec& task = running_[g].tasks[t];
      const Gang shape = MakeGang(1, task.gpus, "");
      const Allocation at{.node = cluster_.Find(task.node).index,
                          .shape = cluster_.Intern(shape.roles[0], 0),
                          .devices = devices[g][t]};
      cluster_.Charge(at, Ledger::kBoth);
      placed_[g].push_back({.task = {.role = 0, .index = t}, .at = at});
    }
  }
  for (uint32_t g = 0; g < running_.size(); ++g) {
    if (running_[g].candidate) order_.push_back(g);
  }
  std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(running_[a].priority, running_[a].key) <
           std::tie(running_[b].priority, running_[b].key);
  });
  for (uint32_t g : order_) {
    const RunningSpec& gang = running_[g];
    const std::span<const Assignment> all = placed_[g];
    candidates_.push_back(
        {.gang = {.index = g},
         .priority = gang.priority,
         .cost = gang.cost,
         .tasks = gang.stoppable ? all : all.last(gang.surplus),
         .surplus = gang.surplus,
         .surplus_costs = gang.surplus_costs,
         .shrink_sizes = gang.shrink_sizes,
         .stoppable = gang.stoppable});
  }
}

int64_t World::Gpus(uint32_t candidate, uint32_t tasks) const {
  const std::vector<TaskSpec>& all = running_[order_[candidate]].tasks;
  int64_t gpus = 0;
  for (size_t t = all.size() - tasks; t < all.size(); ++t) gpus += all[t].gpus;
  return gpus;
}

PreparedGang World::Prepare(const Gang& gang) {
  PreparedGang prepared{.gang = gang};
  for (const Role& role : gang.roles) {
    std::vector<ShapeId>& shapes = prepared.shapes.emplace_back();
    for (uint32_t a = 0; a <= role.alternatives.size(); ++a) {
      shapes.push_back(cluster_.Intern(role, a));
    }
  }
  return prepared;
}

std::string World::Told(const std::vector<Victim>& victims) const {
  std::vector<std::string> words;
  for (const Victim& v : victims) {
    const VictimCandidate& c = candidates_[v.candidate];
    const bool whole = c.stoppable && v.tasks == c.tasks.size();
    words.push_back(KeyOf(v.candidate) +
                    (whole ? "" : ":" + std::to_string(v.tasks)));
  }
  std::sort(words.begin(), words.end());
  std::string told;
  for (const std::string& word : words) {
    told += (told.empty() ? "" : " ") + word;
  }
  return told;
}

bool QueuePolicy::Add(uint32_t i, uint32_t tasks) {
  EXPECT_EQ(entered_[i], 0u) << "added twice";
  Queue& queue = queues_[world_.QueueOf(i)];
  const int64_t gpus = world_.Gpus(i, tasks);
  if (queue.soft ? queue.used <= queue.floor
                 : queue.used - gpus < queue.floor) {
    return false;
  }
  queue.used -= gpus;
  entered_[i] = tasks;
  return true;
}

void QueuePolicy::Remove(uint32_t i) {
  EXPECT_GT(entered_[i], 0u) << "removed without having been added";
  queues_[world_.QueueOf(i)].used += world_.Gpus(i, entered_[i]);
  entered_[i] = 0;
}

bool QueuePolicy::QuotaSuffices() const { return queues_[own_].used <= limit_; }

}  // namespace muster
