// Questions for victims, or for a packing, to which the answer is hard to find.
//   BM_Latin/nodes:N   N full nodes of 8 devices; N tenants are guaranteed 6
//                      each and hold 8, in four gangs of two that are dealt
//                      over the nodes at random, so that each may lose one
//                      gang. A queue that is guaranteed them asks for whole
//                      nodes: as many as the rules allow to be emptied (found),
//                      or one less (found_less); shares of 10 deals, within 10
//                      passes. false_no: of all these, how many were told a no
//                      that is not true as if it were proven. How many nodes
//                      can be emptied is searched for exactly.
//   BM_Packs/racks:R   one gang of groups of 2 to 7 whole nodes, each inside a
//                      rack of 16, that fill R racks without a gap (placed): of
//                      20 gangs, within 10 passes
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/random.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {
namespace {

constexpr uint32_t kMostNodes = 128;
constexpr int kPasses = 10;
using Nodes = std::bitset<kMostNodes>;

// Whose gangs are on each node.
using Deal = std::vector<std::array<uint32_t, 4>>;

template <class T>
void Shuffle(std::vector<T>* values, Random* random) {
  for (size_t i = values->size(); i > 1; --i) {
    std::swap((*values)[i - 1],
              (*values)[random->Below(static_cast<uint32_t>(i))]);
  }
}

Deal DealOf(uint32_t nodes, uint32_t seed) {
  Random random(seed);
  std::vector<uint32_t> gangs;
  for (uint32_t g = 0; g < 4 * nodes; ++g) gangs.push_back(g / 4);
  Shuffle(&gangs, &random);
  Deal deal(nodes);
  for (uint32_t g = 0; g < 4 * nodes; ++g) deal[g / 4][g % 4] = gangs[g];
  return deal;
}

// The most nodes no two of which share a tenant: a largest independent set, by
// branch and bound. The bound covers the nodes that are left with cliques, of
// each of which one node at most is in the set (Tomita and Seki, 2003).
class MostNodes {
 public:
  explicit MostNodes(const Deal& deal) : shares_(deal.size()) {
    Nodes all;
    for (size_t n = 0; n < deal.size(); ++n) {
      std::array<uint32_t, 4> tenants = deal[n];
      std::ranges::sort(tenants);
      // A tenant may lose one gang.
      if (std::ranges::adjacent_find(tenants) == tenants.end()) all.set(n);
    }
    for (size_t a = 0; a < deal.size(); ++a) {
      for (size_t b = 0; b < deal.size(); ++b) {
        shares_[a][b] = a != b && std::ranges::find_first_of(
                                      deal[a], deal[b]) != deal[a].end();
      }
    }
    Search(all, 0);
  }
  uint32_t most() const { return most_; }

 private:
  void Search(Nodes left, uint32_t taken) {
    most_ = std::max(most_, taken);
    // By clique: what the nodes up to here can add at the most.
    std::vector<std::pair<size_t, uint32_t>> order;
    uint32_t cliques = 0;
    for (Nodes uncovered = left; uncovered.any();) {
      ++cliques;
      Nodes fit = uncovered;
      for (size_t n = fit._Find_first(); n < kMostNodes;
           n = fit._Find_next(n)) {
        fit &= shares_[n];
        uncovered.reset(n);
        order.emplace_back(n, cliques);
      }
    }
    for (; !order.empty(); order.pop_back()) {
      const auto [n, bound] = order.back();
      if (taken + bound <= most_) return;
      left.reset(n);
      Search(left & ~shares_[n], taken + 1);
    }
  }

  std::vector<Nodes> shares_;  // By node: those that share a tenant with it.
  uint32_t most_ = 0;
};

SchedulerHost LatinHost(const Deal& deal, uint32_t want) {
  SchedulerHost host(MakeConfig());
  host.AddQueue("owed", 8 * want);
  Reconciled real;
  for (uint32_t n = 0; n < deal.size(); ++n) {
    host.AddQueue(Padded("t", n), 6);
    real.nodes.push_back(MakeNode(n, 8));
  }
  for (uint32_t n = 0; n < deal.size(); ++n) {
    for (uint32_t i = 0; i < 4; ++i) {
      const std::string key = Padded("g", 4 * n + i);
      host.Apply(GangSubmitted{MakeGang(key, Padded("t", deal[n][i]), 1, 2)});
      real.tasks.push_back({.gang = key, .node = Padded("n", n)});
    }
  }
  if (!host.scheduler.Reconcile(host.now, real).ok()) std::abort();
  host.Settle();
  host.Apply(GangSubmitted{MakeGang("asks", "owed", want, 8)});
  return host;
}

enum class Found { kYes, kNotSoFar, kNo };

// Passes until the gang has victims, or places.
Found Ask(SchedulerHost& host) {
  bool proven = false;
  for (int pass = 0; pass < kPasses; ++pass) {
    host.Pass();
    if (!host.plan.decisions.empty()) return Found::kYes;
    for (const Waiting& waiting : host.plan.waiting) {
      proven = waiting.reason.code != ReasonCode::kBudget &&
               waiting.reason.code != ReasonCode::kNotFound;
    }
    host.now += kSecond;
  }
  return proven ? Found::kNo : Found::kNotSoFar;
}

void BM_Latin(benchmark::State& state, uint32_t nodes) {
  constexpr uint32_t kDeals = 10;
  std::array<uint32_t, 2> found{};
  uint32_t false_no = 0;
  std::vector<double> cpu;
  for (auto _ : state) {
    for (uint32_t seed = 1; seed <= kDeals; ++seed) {
      Untimed untimed(state);
      const Deal deal = DealOf(nodes, seed);
      const uint32_t most = MostNodes(deal).most();
      for (uint32_t less = 0; less < 2; ++less) {
        SchedulerHost host = LatinHost(deal, most - less);
        Found answer = Found::kNo;
        cpu.push_back(untimed.Timed([&] { answer = Ask(host); }));
        found[less] += answer == Found::kYes ? 1 : 0;
        false_no += answer == Found::kNo ? 1 : 0;
      }
    }
  }
  state.counters["found"] = found[0] / double{kDeals};
  state.counters["found_less"] = found[1] / double{kDeals};
  state.counters["false_no"] = false_no;
  state.counters["cpu_ms"] = Median(cpu) * 1e3;
}

// Sizes from 2 to 7 that add up to `nodes`.
std::vector<uint32_t> CutUp(uint32_t nodes, Random* random) {
  std::vector<uint32_t> sizes;
  while (nodes > 0) {
    const uint32_t size = std::min(nodes, 2 + random->Below(6));
    if (nodes - size == 1) continue;
    sizes.push_back(size);
    nodes -= size;
  }
  return sizes;
}

void BM_Packs(benchmark::State& state, uint32_t racks) {
  constexpr uint32_t kGangs = 20;
  uint32_t placed = 0;
  std::vector<double> cpu;
  for (auto _ : state) {
    for (uint32_t seed = 1; seed <= kGangs; ++seed) {
      Untimed untimed(state);
      Random random(seed);
      std::vector<uint32_t> sizes;
      for (uint32_t r = 0; r < racks; ++r) {
        const std::vector<uint32_t> more = CutUp(kSchedulerRack, &random);
        sizes.insert(sizes.end(), more.begin(), more.end());
      }
      Shuffle(&sizes, &random);
      SchedulerHost host(MakeConfig());
      host.AddNodes(racks * kSchedulerRack, 8);
      host.AddQueue("q");
      Gang gang = MakeGang("gang", "q", 1, 8);
      const Role role = gang.roles[0];
      gang.roles.clear();
      for (const uint32_t size : sizes) {
        Role& part = gang.roles.emplace_back(role);
        part.name = Padded("p", static_cast<uint32_t>(gang.roles.size()));
        part.min_tasks = part.desired_tasks = size;
        part.topology.required = "rack";
      }
      host.Apply(GangSubmitted{std::move(gang)});
      Found answer = Found::kNo;
      cpu.push_back(untimed.Timed([&] { answer = Ask(host); }));
      placed += answer == Found::kYes ? 1 : 0;
    }
  }
  state.counters["placed"] = placed;
  state.counters["cpu_ms"] = Median(cpu) * 1e3;
}

int Register() {
  for (const uint32_t nodes : {12u, 20u, 40u, 60u, 100u}) {
    RegisterOnce("BM_Latin/nodes:" + std::to_string(nodes), BM_Latin, nodes);
  }
  for (const uint32_t racks : {5u, 6u, 7u, 8u, 9u, 10u, 20u, 50u}) {
    RegisterOnce("BM_Packs/racks:" + std::to_string(racks), BM_Packs, racks);
  }
  return 0;
}

[[maybe_unused]] const int kRegistered = Register();

}  // namespace
}  // namespace muster::bench
