// Thousands of small random questions, answered by brute force as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "test/solver/oracle.h"
#include "test/solver/random_world.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

// One question: the answer must be what brute force says. Whether it was yes.
void Check(uint64_t seed, const Limits& limits, uint64_t* yes) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  std::vector<NodeSpec> nodes = RandomNodes(random, limits);
  World w(TwoLevels());
  for (const NodeSpec& node : nodes) w.Add(node);
  UseSome(random, w);
  const Gang gang = RandomGang(random, limits);
  const std::optional<Optimum> best = BruteForce(w.cluster, w.Prepare(gang));
  const uint64_t before = w.cluster.Hash();
  const PlacementResult answer = w.Place(gang);
  ASSERT_NE(answer.reason.code, ReasonCode::kBudget);
  ASSERT_EQ(answer.fit == Fit::kFits, best.has_value());
  if (!best) {
    EXPECT_EQ(w.cluster.Hash(), before);
    EXPECT_NE(answer.reason.code, ReasonCode::kNone);
    if (answer.fit != Fit::kNever) return;
    World empty(TwoLevels());
    for (const NodeSpec& node : nodes) empty.Add(node);
    EXPECT_FALSE(BruteForce(empty.cluster, empty.Prepare(gang)));
    return;
  }
  ++*yes;
  EXPECT_TRUE(Meets(w.cluster, *w.request.gang, answer.tasks));
  EXPECT_EQ(answer.tasks.size(), best->tasks);
  for (const Assignment& a : answer.tasks) {
    w.cluster.Credit(a.at, Ledger::kBoth);
    EXPECT_TRUE(w.cluster.Fits(a.at, Ledger::kBoth));
  }
  EXPECT_EQ(w.cluster.Hash(), before);
  bool preferred = false;
  for (const Role& r : gang.roles) preferred |= !r.topology.preferred.empty();
  for (const Group& g : gang.groups) {
    preferred |= &g != &gang.groups[0] && !g.topology.preferred.empty();
  }
  if (limits.elastic || limits.alternatives || preferred) return;
  EXPECT_EQ(EnclosingLevel(w.cluster, answer.tasks), best->level);
  if (limits.traffic) {
    EXPECT_EQ(TrafficOf(w.cluster, gang, answer.tasks), best->traffic);
  }
}

// MUSTER_SEEDS=k asks k times as many questions.
void CheckMany(uint64_t first, uint64_t count, const Limits& limits) {
  const char* factor = std::getenv("MUSTER_SEEDS");
  if (factor != nullptr) count *= std::strtoull(factor, nullptr, 10);
  uint64_t yes = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    Check(seed, limits, &yes);
    if (testing::Test::HasFailure()) return;
  }
  std::cout << "seeds " << first << ".." << first + count - 1 << ": " << yes
            << " of " << count << " fit\n";
  EXPECT_GT(yes, count / 10);
  EXPECT_LT(yes, count - count / 10);
}

TEST(Property, IdenticalTasks) {
  CheckMany(1000, 1500, {.nodes = 7, .roles = 1, .tasks = 4});
}

TEST(Property, MixedRoles) {
  CheckMany(10000, 1500, {.nodes = 5, .roles = 3, .tasks = 2});
}

TEST(Property, SharesOfDevices) {
  CheckMany(20000, 1000,
            {.nodes = 3, .devices = 3, .roles = 3, .tasks = 2, .shares = true});
}

TEST(Property, Groups) {
  CheckMany(30000, 1500, {.nodes = 5, .roles = 3, .tasks = 2, .groups = true});
}

TEST(Property, Slices) {
  CheckMany(40000, 1000, {.nodes = 6, .roles = 1, .tasks = 5, .slices = true});
  CheckMany(45000, 500, {.nodes = 4, .roles = 2, .tasks = 3, .slices = true});
}

TEST(Property, ElasticGroups) {
  CheckMany(50000, 1500,
            {.nodes = 4,
             .devices = 2,
             .roles = 3,
             .tasks = 2,
             .groups = true,
             .elastic = true});
}

TEST(Property, Alternatives) {
  CheckMany(60000, 1000,
            {.nodes = 4, .roles = 2, .tasks = 3, .alternatives = true});
}

TEST(Property, Traffic) {
  CheckMany(70000, 1000, {.nodes = 5, .roles = 3, .tasks = 2, .traffic = true});
}

TEST(Property, SpreadsOfIdenticalTasks) {
  CheckMany(200000, 3000,
            {.nodes = 7, .roles = 1, .tasks = 4, .spreads = true});
}

TEST(Property, SpreadsOfGroups) {
  CheckMany(
      210000, 3000,
      {.nodes = 5, .roles = 3, .tasks = 2, .groups = true, .spreads = true});
}

TEST(Property, SpreadsOfElasticGroups) {
  CheckMany(220000, 2000,
            {.nodes = 4,
             .devices = 2,
             .roles = 3,
             .tasks = 2,
             .groups = true,
             .spreads = true,
             .elastic = true});
}

TEST(Property, SpreadsOfSlicesAndShares) {
  CheckMany(230000, 1000,
            {.nodes = 4,
             .roles = 2,
             .tasks = 3,
             .slices = true,
             .spreads = true,
             .shares = true,
             .elastic = true,
             .alternatives = true});
}

TEST(Property, SpreadsAndTraffic) {
  CheckMany(
      240000, 1000,
      {.nodes = 5, .roles = 3, .tasks = 2, .spreads = true, .traffic = true});
}

// A gang loses some tasks for good: what is left is fixed, and what brute force
// finds for the others is found.
void LoseSome(uint64_t first, uint64_t last, const Limits& limits) {
  uint64_t yes = 0;
  uint64_t asked = 0;
  for (uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    if (w.Place(RandomGang(random, limits)).fit != Fit::kFits) continue;
    LoseHalf(random, w);
    const std::vector<Assignment> kept = w.placed;
    ++asked;
    const std::optional<Optimum> best =
        BruteForce(w.cluster, *w.request.gang, kept);
    ASSERT_EQ(w.PlaceAgain().fit == Fit::kFits, best.has_value());
    if (!best) continue;
    ++yes;
    EXPECT_EQ(w.result.tasks.size(), best->tasks);
    EXPECT_TRUE(Meets(w.cluster, *w.request.gang, w.placed, kept));
  }
  std::cout << yes << " of " << asked << " fit\n";
  EXPECT_GT(yes, asked / 10);
}

TEST(Property, BesideFixedTasks) {
  LoseSome(100000, 106000,
           {.nodes = 5,
            .devices = 2,
            .roles = 2,
            .tasks = 3,
            .groups = true,
            .slices = true,
            .elastic = true,
            .alternatives = true});
}

TEST(Property, SpreadBesideFixedTasks) {
  LoseSome(120000, 126000,
           {.nodes = 6, .roles = 1, .tasks = 4, .spreads = true});
  LoseSome(130000, 134000,
           {.nodes = 5,
            .devices = 2,
            .roles = 2,
            .tasks = 3,
            .groups = true,
            .spreads = true,
            .elastic = true});
}

// Growth meets the constraints, stays within bounds and leaves no room unused
// by a role that runs.
void GrowMany(uint64_t first, uint64_t last, const Limits& limits) {
  uint64_t grown = 0;
  for (uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    const Gang gang = RandomGang(random, limits);
    if (w.Place(gang).fit != Fit::kFits || w.placed.empty()) continue;
    const std::vector<Assignment> before = w.placed;
    ASSERT_TRUE(Meets(w.cluster, *w.request.gang, before));
    const std::vector<Assignment> added = w.Grow().tasks;
    grown += added.size();
    ASSERT_TRUE(Meets(w.cluster, *w.request.gang, w.placed, before));
    EXPECT_FALSE(CanGrow(w.cluster, *w.request.gang, w.placed));
    for (uint32_t r = 0; r < gang.roles.size(); ++r) {
      EXPECT_LE(w.NodesOf(r).size(), gang.roles[r].desired_tasks);
    }
    EXPECT_TRUE(w.Grow().tasks.empty()) << "nothing was left for a second time";
  }
  std::cout << grown << " tasks grown\n";
  EXPECT_GT(grown, 500u);
}

TEST(Property, Growth) {
  GrowMany(110000, 113000,
           {.nodes = 5,
            .roles = 3,
            .tasks = 4,
            .groups = true,
            .slices = true,
            .shares = true,
            .elastic = true});
}

TEST(Property, GrowthKeepsSpreads) {
  GrowMany(140000, 150000,
           {.nodes = 6,
            .roles = 2,
            .tasks = 5,
            .groups = true,
            .spreads = true,
            .elastic = true});
}

// Where the index says which node is best, a look at all nodes, which a list of
// them asks for, says the same. Each role runs: it grows task by task.
TEST(Property, GrowthByIndexIsGrowthByLook) {
  uint64_t grown = 0;
  for (uint64_t seed = 160000; seed < 166000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Limits limits{.nodes = 24,
                        .roles = 1 + random.Below(2),
                        .tasks = 8,
                        .slices = random.Chance(10),
                        .shares = random.Chance(20),
                        .elastic = true,
                        .preferences = random.Chance(20)};
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    UseSome(random, w);
    Gang gang = RandomGang(random, limits);
    for (Role& role : gang.roles) role.min_tasks = std::max(role.min_tasks, 1u);
    if (w.Place(gang).fit != Fit::kFits) continue;
    const std::vector<NodeIndex> all(w.cluster.nodes().begin(),
                                     w.cluster.nodes().end());
    w.request.fixed = w.placed;
    const Cluster::Mark mark = w.cluster.Begin();
    PlacementResult by_look;
    w.request.within = all;
    w.solver->Grow(w.cluster, w.request, &by_look);
    w.cluster.Rollback(mark);
    w.request.within = {};
    w.solver->Grow(w.cluster, w.request, &w.result);
    ASSERT_TRUE(std::ranges::equal(w.result.tasks, by_look.tasks,
                                   [](const auto& a, const auto& b) {
                                     return a.task == b.task && a.at == b.at;
                                   }));
    grown += w.result.tasks.size();
  }
  EXPECT_GT(grown, 3000u);
}

// Where slots decide, they tell of any nodes of one required domain whether the
// gang fits there.
TEST(Property, SlotsDecide) {
  uint64_t decided = 0, fits = 0;
  for (uint64_t seed = 150000; seed < 156000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Limits limits{.nodes = 6,
                        .roles = 1,
                        .tasks = 6,
                        .slices = random.Chance(20),
                        .spreads = random.Chance(20),
                        .shares = random.Chance(20),
                        .alternatives = random.Chance(20),
                        .preferences = random.Chance(50)};
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    UseSome(random, w);
    const PreparedGang& gang = w.Prepare(RandomGang(random, limits));
    if (!w.solver->SlotsDecide(w.cluster, w.request)) continue;
    const Role& role = gang.gang.roles[0];
    const TopologyConstraint& c = role.topology.required.empty()
                                      ? gang.gang.groups[0].topology
                                      : role.topology;
    // One domain of the required level, and of it some nodes.
    const int level =
        c.required.empty() ? -1 : w.cluster.FindLevel(0, c.required);
    const auto domain_of = [&](NodeIndex n) {
      const TopologyIndex& index = w.cluster.index(0);
      if (level >= static_cast<int>(index.levels.size())) return n;
      return level < 0 ? 0 : index.domain_of[level][n];
    };
    const auto nodes = w.cluster.nodes();
    const NodeIndex home =
        nodes[random.Below(static_cast<uint32_t>(nodes.size()))];
    if (domain_of(home) == TopologyIndex::kOutside) continue;
    std::vector<NodeIndex> within;
    uint64_t slots = 0;
    for (const NodeIndex n : nodes) {
      if (domain_of(n) != domain_of(home) || random.Chance(20)) continue;
      within.push_back(n);
      slots += w.cluster.Slots(n, gang.shapes[0][0], Ledger::kBoth, 1000);
    }
    if (within.empty()) continue;
    w.request.within = within;
    ++decided;
    const bool placed = w.PlaceAgain().fit == Fit::kFits;
    ASSERT_EQ(placed, slots >= role.min_tasks);
    fits += placed;
  }
  EXPECT_GT(decided, 1000u);
  EXPECT_GT(fits, decided / 10);
  EXPECT_LT(fits, decided * 9 / 10);
}

// The order in which nodes arrive changes nothing.
TEST(Property, ArrivalOrderDoesNotMatter) {
  for (uint64_t seed = 80000; seed < 80500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const Limits limits{.nodes = 8,
                        .roles = 3,
                        .tasks = 3,
                        .groups = true,
                        .slices = true,
                        .shares = true,
                        .elastic = true};
    std::vector<NodeSpec> nodes = RandomNodes(random, limits);
    const Gang gang = RandomGang(random, limits);
    World a(TwoLevels());
    for (const NodeSpec& node : nodes) a.Add(node);
    for (size_t i = nodes.size(); i > 1; --i) {
      std::swap(nodes[i - 1], nodes[random.Below(static_cast<uint32_t>(i))]);
    }
    World b(TwoLevels());
    for (const NodeSpec& node : nodes) b.Add(node);
    for (World* w : {&a, &b}) {
      w->Place(gang);
      if (w->result.fit == Fit::kFits) w->Grow();
    }
    ASSERT_EQ(a.result.fit, b.result.fit);
    ASSERT_EQ(a.result.steps, b.result.steps);
    ASSERT_EQ(a.placed.size(), b.placed.size());
    for (size_t i = 0; i < a.placed.size(); ++i) {
      EXPECT_EQ(a.placed[i].task, b.placed[i].task);
      EXPECT_EQ(a.placed[i].at.devices, b.placed[i].at.devices);
      EXPECT_EQ(a.cluster.node(a.placed[i].at.node).key,
                b.cluster.node(b.placed[i].at.node).key);
    }
    EXPECT_EQ(a.cluster.Hash(), b.cluster.Hash());
  }
}

// The fewest sets of `sizes` that together hold `tasks`.
uint32_t Fewest(const std::vector<uint32_t>& sizes, uint32_t tasks) {
  uint32_t fewest = 99;
  for (uint32_t set = 0; set < (1u << sizes.size()); ++set) {
    uint32_t room = 0;
    uint32_t members = 0;
    for (uint32_t i = 0; i < sizes.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      room += sizes[i];
      ++members;
    }
    if (room >= tasks) fewest = std::min(fewest, members);
  }
  return fewest;
}

size_t Distinct(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  return static_cast<size_t>(std::unique(names.begin(), names.end()) -
                             names.begin());
}

// The fewest racks of a block; inside one rack the fewest nodes.
TEST(Property, FewestDomains) {
  for (uint64_t seed = 90000; seed < 92000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World w(TwoLevels());
    std::vector<uint32_t> nodes;
    std::vector<uint32_t> racks(random.Between(1, 3), 0);
    uint32_t sum = 0;
    const uint32_t count = random.Between(2, 8);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t rack = random.Below(static_cast<uint32_t>(racks.size()));
      nodes.push_back(random.Below(9));
      racks[rack] += nodes.back();
      sum += nodes.back();
      w.Add({.path = "n" + std::to_string(i),
             .gpus = nodes.back(),
             .labels = {{"block", "b"}, {"rack", std::to_string(rack)}}});
    }
    if (sum == 0) continue;
    const uint32_t tasks = random.Between(1, sum);
    Gang gang;
    gang.roles = {MakeRole("w", tasks, 1)};
    ASSERT_EQ(w.Place(gang).fit, Fit::kFits);
    std::vector<std::string> used;
    for (const Assignment& a : w.placed) {
      used.push_back(w.cluster.node(a.at.node).labels[1].value);
    }
    EXPECT_EQ(Distinct(used), Fewest(racks, tasks));
    if (racks.size() == 1) {
      EXPECT_EQ(Distinct(w.NodesOf(0)), Fewest(nodes, tasks));
    }
  }
}

// By key, those with slots for some shape, and no others.
TEST(Property, NodesWithRoom) {
  const Limits limits{
      .nodes = 9, .roles = 3, .shares = true, .alternatives = true};
  for (uint64_t seed = 95000; seed < 96000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    World w(TwoLevels());
    for (const NodeSpec& node : RandomNodes(random, limits)) w.Add(node);
    PlacementRequest request;
    request.ledger = random.Chance(50) ? Ledger::kLater : Ledger::kBoth;
    for (int question = 0; question < 3; ++question) {
      UseSome(random, w);
      request.gang = &w.Prepare(RandomGang(random, limits));
      std::vector<NodeIndex> expected;
      for (const NodeIndex n : w.cluster.nodes()) {
        const bool room =
            std::ranges::any_of(request.gang->shapes, [&](const auto& shapes) {
              return std::ranges::any_of(shapes, [&](ShapeId shape) {
                return w.cluster.Slots(n, shape, request.ledger, 1) > 0;
              });
            });
        if (room) expected.push_back(n);
      }
      std::vector<NodeIndex> found;
      w.solver->NodesWithRoom(w.cluster, request, &found);
      EXPECT_EQ(found, expected);
    }
  }
}

}  // namespace
}  // namespace muster::solver_test
