#include "benchmarks/kueue_world.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "benchmarks/padded.h"

namespace muster::bench {
namespace {

constexpr uint32_t kGroups = 8;
constexpr uint32_t kKinds = 30;
constexpr int64_t kNodeCpus = 10;
constexpr int64_t kNodeGib = 100;
constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 2;

std::string GroupName(uint32_t block) {
  return Padded("group", block % kGroups);
}

Resources Amounts(int64_t cpus, int64_t gib) {
  Resources all(kKinds);
  for (ResourceKind k = 0; k < kKinds; ++k) all.Set(k, cpus);
  all.Set(0, cpus * 1000);
  all.Set(1, gib << 30);
  return all;
}

SchedulerConfig Config() {
  SchedulerConfig config;
  config.resources = {"cpu", "memory"};
  for (uint32_t k = 2; k < kKinds; ++k) {
    config.resources.push_back(Padded("kind", k));
  }
  config.device_kind.clear();
  config.topologies = {{"net", {"block"}}};
  config.preemption_costs = PreemptionCosts::FewestGangs();
  return config;
}

// With the priority of its number.
Gang PodGang(uint32_t number, uint32_t pods, const Resources& each) {
  Gang gang = MakeGang(Padded("w", number), "q", pods, 0);
  gang.priority_class = Padded("p", number);
  gang.roles[0].shape.resources = each;
  return gang;
}

}  // namespace

KueueWorld::KueueWorld(uint32_t nodes)
    : root_(static_cast<uint32_t>(std::sqrt(nodes))),
      wanted_(nodes / 5),
      free_(nodes, {kNodeCpus, kNodeGib}),
      on_(nodes),
      workloads_(1) {
  uint32_t number = 1;
  while (Place(number)) ++number;
}

bool KueueWorld::InGroup(uint32_t node) const {
  return BlockOf(node) % kGroups == 0;
}

bool KueueWorld::Place(uint32_t number) {
  Workload next{.pod = {number % 10 + 1, number % 100 + 1}, .nodes = {}};
  std::vector<Amount> free = free_;
  uint32_t pods = 10 * number % root_ + 1;
  for (uint32_t n = 0; n < free.size() && pods > 0; ++n) {
    const int64_t here = std::min({int64_t{pods}, free[n].cpus / next.pod.cpus,
                                   free[n].gib / next.pod.gib});
    free[n].cpus -= here * next.pod.cpus;
    free[n].gib -= here * next.pod.gib;
    next.nodes.insert(next.nodes.end(), static_cast<size_t>(here), n);
    pods -= static_cast<uint32_t>(here);
  }
  if (pods > 0) return false;
  for (const uint32_t n : next.nodes) on_[n].push_back(number);
  free_ = std::move(free);
  workloads_.push_back(std::move(next));
  return true;
}

SchedulerHost KueueWorld::MakeHost() const {
  SchedulerHost host(Config());
  Reconciled whole;
  for (uint32_t n = 0; n < free_.size(); ++n) {
    Node& node = whole.nodes.emplace_back();
    node.key = Padded("n", n);
    node.capacity = Amounts(kNodeCpus, kNodeGib);
    node.labels = {{"block", Padded("b", BlockOf(n))},
                   {"group", GroupName(BlockOf(n))}};
  }
  host.AddQueue("q");
  for (uint32_t w = 1; w <= workloads_.size(); ++w) {
    host.AddClass(Padded("p", w), static_cast<int32_t>(w),
                  OnPreempted::kRequeue);
  }
  for (uint32_t w = 1; w < workloads_.size(); ++w) {
    const auto& [pod, nodes] = workloads_[w];
    const auto pods = static_cast<uint32_t>(nodes.size());
    host.Apply(GangSubmitted{PodGang(w, pods, Amounts(pod.cpus, pod.gib))});
    for (uint32_t t = 0; t < pods; ++t) {
      whole.tasks.push_back({.gang = Padded("w", w),
                             .task = {0, t},
                             .node = whole.nodes[nodes[t]].key});
    }
  }
  host.Apply(std::move(whole));
  host.Settle();
  host.now += 100 * kSecond;
  return host;
}

Gang KueueWorld::Preemptor() const {
  Gang gang = PodGang(static_cast<uint32_t>(workloads_.size()), wanted_,
                      Amounts(kNodeCpus / 2, kNodeGib / 2));
  gang.roles[0].shape.selector.any_of = {
      {{{"group", SelectorOp::kIn, {GroupName(0)}}}}};
  return gang;
}

int64_t KueueWorld::RoomOn(uint32_t node, const Set& stopped) const {
  Amount room = free_[node];
  for (const uint32_t w : on_[node]) {
    if (!std::ranges::binary_search(stopped, w)) continue;
    room.cpus += workloads_[w].pod.cpus;
    room.gib += workloads_[w].pod.gib;
  }
  return std::min(room.cpus / (kNodeCpus / 2), room.gib / (kNodeGib / 2));
}

uint32_t KueueWorld::LowestTop() const {
  Set stopped;
  for (uint32_t w = 1; w < workloads_.size(); ++w) {
    stopped.push_back(w);
    int64_t room = 0;
    for (uint32_t n = 0; n < free_.size(); ++n) {
      if (InGroup(n)) room += RoomOn(n, stopped);
    }
    if (room >= wanted_) return w;
  }
  return 0;
}

void KueueWorld::Branch(uint32_t number, Frontier* frontier) {
  Frontier with = *frontier;
  for (const auto& [stopped, most] : *frontier) {
    Set more = stopped;
    more.insert(std::ranges::upper_bound(more, number), number);
    std::vector<int64_t> later(1, kNever);
    later.insert(later.end(), most.begin(), most.end());
    with.emplace(std::move(more), std::move(later));
  }
  *frontier = std::move(with);
}

void KueueWorld::Forget(uint32_t number, Frontier* frontier) {
  Frontier without;
  for (const auto& [stopped, most] : *frontier) {
    Set less = stopped;
    std::erase(less, number);
    std::vector<int64_t>& best = without[std::move(less)];
    best.resize(std::max(best.size(), most.size()), kNever);
    for (size_t k = 0; k < most.size(); ++k) {
      best[k] = std::max(best[k], most[k]);
    }
  }
  *frontier = std::move(without);
}

uint32_t KueueWorld::FewestVictims(uint32_t top) const {
  std::vector<Set> begins(free_.size()), ends(free_.size());
  for (uint32_t w = 1; w <= top; ++w) {
    std::vector<uint32_t> nodes = workloads_[w].nodes;
    std::erase_if(nodes, [&](uint32_t n) { return !InGroup(n); });
    if (nodes.empty()) continue;
    begins[nodes.front()].push_back(w);
    ends[nodes.back()].push_back(w);
  }
  Frontier frontier = {{{}, {0}}};
  for (uint32_t n = 0; n < free_.size(); ++n) {
    if (!InGroup(n)) continue;
    for (const uint32_t w : begins[n]) Branch(w, &frontier);
    for (auto& [stopped, most] : frontier) {
      const int64_t room = RoomOn(n, stopped);
      for (int64_t& pods : most) pods += room;
    }
    for (const uint32_t w : ends[n]) Forget(w, &frontier);
  }
  const std::vector<int64_t>& most = frontier.begin()->second;
  const auto enough = [&](int64_t pods) { return pods >= wanted_; };
  return static_cast<uint32_t>(std::ranges::find_if(most, enough) -
                               most.begin());
}

}  // namespace muster::bench
