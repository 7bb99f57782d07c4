// Nodes that exclude each other: each tenant may lose one gang and not two.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "lib/preempt/victim_search.h"
#include "test/preempt/preempt_world.h"

namespace muster {
namespace {

constexpr uint32_t kGangsPerNode = 4;

// By node: whose gangs, of two GPUs each, fill its eight.
using Deal = std::vector<std::vector<uint32_t>>;

Deal DealOf(uint32_t nodes, uint64_t seed) {
  std::vector<uint32_t> tenants;
  for (uint32_t t = 0; t < nodes; ++t) {
    tenants.insert(tenants.end(), kGangsPerNode, t);
  }
  std::mt19937_64 random(seed);
  for (size_t i = tenants.size(); i > 1; --i) {
    std::swap(tenants[i - 1], tenants[random() % i]);
  }
  Deal deal(nodes);
  for (size_t i = 0; i < tenants.size(); ++i) {
    deal[i / kGangsPerNode].push_back(tenants[i]);
  }
  return deal;
}

// The most nodes that can be emptied: by trying, node after node.
uint32_t MostOf(const Deal& deal, size_t next, std::vector<bool>& gone) {
  if (next == deal.size()) return 0;
  uint32_t most = MostOf(deal, next + 1, gone);
  std::vector<uint32_t> tenants = deal[next];
  std::ranges::sort(tenants);
  const bool allowed =
      std::ranges::adjacent_find(tenants) == tenants.end() &&
      std::ranges::none_of(tenants, [&](uint32_t t) { return gone[t]; });
  if (!allowed) return most;
  for (const uint32_t t : tenants) gone[t] = true;
  most = std::max(most, 1 + MostOf(deal, next + 1, gone));
  for (const uint32_t t : tenants) gone[t] = false;
  return most;
}

uint32_t MostOf(const Deal& deal) {
  std::vector<bool> gone(deal.size(), false);
  return MostOf(deal, 0, gone);
}

PreemptionResult Ask(const Deal& deal, uint32_t want, uint64_t victim_steps) {
  ClusterSpec spec{.racks = 1,
                   .nodes_per_rack = static_cast<uint32_t>(deal.size())};
  std::vector<QueuePolicy::Queue> queues(deal.size(), {.used = 8, .floor = 6});
  queues.push_back({});
  for (uint32_t n = 0; n < deal.size(); ++n) {
    for (uint32_t i = 0; i < kGangsPerNode; ++i) {
      spec.running.push_back({.key = NodeKey(0, n) + "/" + std::to_string(i),
                              .cost = 1,
                              .tasks = {{NodeKey(0, n), 2}},
                              .queue = deal[n][i]});
    }
  }
  World world(spec);
  QueuePolicy policy(world, queues);
  const PreparedGang prepared = world.Prepare(MakeGang(want, 8, ""));
  PreemptionRequest request;
  request.placement.gang = &prepared;
  request.placement.ledger = Ledger::kLater;
  request.candidates = world.candidates();
  request.rules = &policy;
  request.victim_steps = victim_steps;
  PreemptionResult result;
  world.cluster().Begin();
  NewVictimSearch()->Choose(world.cluster(), *NewGangSolver(), request,
                            &result);
  return result;
}

constexpr uint64_t kSteps = 100'000;

TEST(ExchangeTest, AsManyNodesAreEmptiedAsCanBe) {
  constexpr uint64_t kDeals = 20;
  uint32_t found = 0, deals = 0;
  for (const uint32_t nodes : {6u, 12u, 16u, 20u}) {
    for (uint64_t seed = 1; seed <= kDeals; ++seed) {
      const Deal deal = DealOf(nodes, seed);
      const uint32_t most = MostOf(deal);
      if (most == 0) continue;
      SCOPED_TRACE(std::to_string(nodes) + " nodes, seed " +
                   std::to_string(seed));
      ++deals;
      const PreemptionResult result = Ask(deal, most, kSteps);
      found += result.fit == Fit::kFits;
      // What is there is never denied.
      EXPECT_TRUE(result.fit == Fit::kFits || !result.optimal);
      if (result.fit == Fit::kFits) {
        EXPECT_EQ(result.victims.size(), kGangsPerNode * most);
      }
      if (most > 1) {
        EXPECT_EQ(Ask(deal, most - 1, kSteps).fit, Fit::kFits);
      }
      EXPECT_EQ(Ask(deal, most + 1, kSteps).fit, Fit::kNotNow);
    }
  }
  EXPECT_EQ(found, deals);
}

// The limit ends the local search, too, and what it found by then is told as
// what it is.
TEST(ExchangeTest, StepsBoundIt) {
  const Deal deal = DealOf(20, 3);
  const uint32_t most = MostOf(deal);
  for (const uint64_t steps : {0, 1, 10, 100, 1000}) {
    const PreemptionResult result = Ask(deal, most, steps);
    EXPECT_TRUE(result.fit == Fit::kFits || !result.optimal) << steps;
  }
}

TEST(ExchangeTest, EqualQuestionsHaveEqualAnswers) {
  const Deal deal = DealOf(20, 5);
  const uint32_t most = MostOf(deal);
  const PreemptionResult one = Ask(deal, most, kSteps);
  const PreemptionResult other = Ask(deal, most, kSteps);
  EXPECT_EQ(one.victims, other.victims);
  EXPECT_EQ(one.steps, other.steps);
}

}  // namespace
}  // namespace muster
