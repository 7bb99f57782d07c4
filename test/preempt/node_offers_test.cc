// The sums of the local search, beside sums made anew.
#include "lib/preempt/node_offers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "lib/preempt/preemption_problem.h"
#include "test/preempt/preempt_world.h"

namespace muster::preempt {
namespace {

constexpr uint32_t kMostTasks = 5;

// Candidates of one to five tasks, some of which may be shrink_costs.
struct Candidates {
  explicit Candidates(std::mt19937_64& random) : tasks(kMostTasks) {
    const size_t count = 1 + random() % 8;
    all.resize(count);
    shrink_costs.resize(count);
    for (size_t c = 0; c < count; ++c) {
      const auto size = static_cast<uint32_t>(1 + random() % kMostTasks);
      all[c].tasks = std::span(tasks).first(size);
      all[c].surplus = static_cast<uint32_t>(random() % size);
      int64_t cost = 0;
      for (uint32_t t = 0; t < all[c].surplus; ++t) {
        shrink_costs[c].push_back(cost += static_cast<int64_t>(random() % 4));
      }
      all[c].surplus_costs = shrink_costs[c];
      all[c].cost = cost + static_cast<int64_t>(random() % 9);
    }
  }

  std::vector<Assignment> tasks;
  std::vector<std::vector<int64_t>> shrink_costs;
  std::vector<VictimCandidate> all;
};

std::vector<NodeOffers::Offer> RandomOffers(const PreemptionProblem& problem,
                                            std::mt19937_64& random) {
  std::vector<NodeOffers::Offer> offers;
  std::vector<uint32_t> gone(problem.candidate_count(), 0);
  uint32_t slots = 0;
  for (auto count = random() % 4; count > 0; --count) {
    slots += static_cast<uint32_t>(1 + random() % 2);
    for (uint32_t c = 0; c < gone.size(); ++c) {
      if (random() % 3 > 0 || gone[c] == problem.Size(c)) continue;
      gone[c] = problem.AtLeast(c, gone[c] + 1);
    }
    NodeOffers::Offer& offer = offers.emplace_back(slots);
    for (uint32_t c = 0; c < gone.size(); ++c) {
      if (gone[c] > 0) offer.victims.push_back({c, gone[c]});
    }
  }
  return offers;
}

// What is taken, by sums over all places.
struct Plain {
  using Offers = std::vector<NodeOffers::Offer>;

  std::vector<uint32_t> Gone() const {
    std::vector<uint32_t> gone(problem.candidate_count(), 0);
    for (size_t p = 0; p < offers.size(); ++p) {
      if (levels[p] == 0) continue;
      for (const Victim& v : offers[p][levels[p] - 1].victims) {
        gone[v.candidate] = std::max(gone[v.candidate], v.tasks);
      }
    }
    return gone;
  }
  VictimCost Total() const {
    VictimCost cost;
    const std::vector<uint32_t> gone = Gone();
    for (uint32_t c = 0; c < gone.size(); ++c) {
      cost += problem.CostOf(c, gone[c]);
    }
    return cost;
  }
  // Between what is taken and what would be with the place at that level: what
  // each candidate costs more, where it is more.
  VictimCost Beyond(size_t place, uint32_t level) {
    const uint32_t before = levels[place];
    std::vector<uint32_t> less = Gone();
    levels[place] = level;
    std::vector<uint32_t> more = Gone();
    levels[place] = before;
    if (level < before) std::swap(less, more);
    VictimCost cost;
    for (uint32_t c = 0; c < less.size(); ++c) {
      if (less[c] < more[c]) cost += problem.CostBeyond(c, less[c], more[c]);
    }
    return cost;
  }

  const PreemptionProblem& problem;
  std::vector<Offers> offers{};
  std::vector<uint32_t> levels{};
};

void ExpectEqual(NodeOffers& node_offers, Plain& plain) {
  const std::vector<uint32_t> gone = plain.Gone();
  for (uint32_t c = 0; c < gone.size(); ++c)
    EXPECT_EQ(node_offers.Gone(c), gone[c]);
  EXPECT_EQ(node_offers.cost(), plain.Total());
  uint64_t given = 0;
  std::vector<uint32_t> taken;
  for (uint32_t p = 0; p < plain.offers.size(); ++p) {
    if (plain.levels[p] > 0) taken.push_back(p);
    const Plain::Offers& offers = plain.offers[p];
    const uint32_t level = plain.levels[p];
    ASSERT_EQ(node_offers.Level(p), level);
    ASSERT_EQ(node_offers.IsFull(p), level == offers.size());
    const uint32_t slots = level == 0 ? 0 : offers[level - 1].slots;
    given += slots;
    if (level > 0) {
      EXPECT_EQ(node_offers.SavedBy(p), plain.Beyond(p, level - 1).cost);
      EXPECT_EQ(node_offers.LastSlots(p),
                slots - (level == 1 ? 0 : offers[level - 2].slots));
    }
    if (level < offers.size()) {
      EXPECT_EQ(node_offers.AddedBy(p), plain.Beyond(p, level + 1));
      EXPECT_EQ(node_offers.MoreSlots(p), offers[level].slots - slots);
    }
  }
  EXPECT_EQ(node_offers.given(), given);
  EXPECT_EQ(node_offers.taken(), taken);
}

// Some places go back together: what each saves at the most is enough for what
// they save.
void ExpectNoMoreSaved(const NodeOffers& node_offers, Plain plain,
                       std::mt19937_64& random) {
  const int64_t before = plain.Total().cost;
  int64_t most = 0;
  for (uint32_t p = 0; p < plain.levels.size(); ++p) {
    const auto level = static_cast<uint32_t>(random() % (plain.levels[p] + 1));
    for (; plain.levels[p] > level; --plain.levels[p]) {
      most += node_offers.MostSavedAt(p, plain.levels[p]);
    }
  }
  EXPECT_LE(before - plain.Total().cost, most);
}

TEST(NodeOffersTest, SumsAreThoseMadeAnew) {
  World world({});
  const PreparedGang gang = world.Prepare(MakeGang(1, 1, ""));
  const auto solver = NewGangSolver();
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Candidates candidates(random);
    PreemptionRequest request;
    request.placement.gang = &gang;
    request.candidates = candidates.all;
    const PreemptionProblem problem(world.cluster(), *solver, request);
    NodeOffers node_offers(problem);
    for (int again = 0; again < 2; ++again) {
      Plain plain{problem};
      plain.offers.resize(1 + random() % 6);
      plain.levels.resize(plain.offers.size());
      node_offers.Begin(plain.offers.size());
      for (uint32_t p = 0; p < plain.offers.size(); ++p) {
        plain.offers[p] = RandomOffers(problem, random);
        node_offers.Add(p, plain.offers[p]);
      }
      for (int step = 0; step < 40; ++step) {
        const auto p = static_cast<uint32_t>(random() % plain.offers.size());
        plain.levels[p] = random() % (plain.offers[p].size() + 1);
        node_offers.SetLevel(p, plain.levels[p]);
        ExpectEqual(node_offers, plain);
        ExpectNoMoreSaved(node_offers, plain, random);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(NodeOffersTest, FindsHowFarVictimsReach) {
  World world({});
  const PreparedGang gang = world.Prepare(MakeGang(1, 1, ""));
  const auto solver = NewGangSolver();
  std::mt19937_64 random(7);
  const Candidates candidates(random);
  PreemptionRequest request;
  request.placement.gang = &gang;
  request.candidates = candidates.all;
  const PreemptionProblem problem(world.cluster(), *solver, request);
  ASSERT_GE(problem.candidate_count(), 2u);
  NodeOffers node_offers(problem);
  node_offers.Begin(2);
  const std::vector<NodeOffers::Offer> offers = {
      {1, {{1, 1}}}, {2, {{1, 1}}}, {3, {{0, 1}, {1, 1}}}};
  node_offers.Add(1, offers);
  std::vector<uint32_t> gone(problem.candidate_count(), 0);
  EXPECT_EQ(node_offers.LevelWith(1, gone), 0u);
  gone[1] = 1;
  EXPECT_EQ(node_offers.LevelWith(1, gone), 2u);
  EXPECT_EQ(node_offers.LevelWith(0, gone), 0u);
  gone[0] = 1;
  EXPECT_EQ(node_offers.LevelWith(1, gone), 3u);
  EXPECT_FALSE(node_offers.Asks(1, 2, 0));
  EXPECT_TRUE(node_offers.Asks(1, 3, 0));
  EXPECT_EQ(
      std::vector(node_offers.involved().begin(), node_offers.involved().end()),
      (std::vector<uint32_t>{0, 1}));
}

}  // namespace
}  // namespace muster::preempt
