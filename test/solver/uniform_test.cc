// Gangs of identical tasks against brute force: on small random trees a
// placement is found if and only if there is one, it uses the fewest domains
// level after level, and its certificate says so.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"
#include "test/solver/world.h"

namespace muster::solver_test {
namespace {

constexpr int kLevelsOfTree = 3;  // zone, block, rack; hosts are the fourth.
const char* const kNames[] = {"zone", "block", "rack", "host"};

// Domains used by level, the hosts last: fewer at a wider level is better. In
// front, the level of the smallest domain around all, negated.
using Counts = std::array<int, kLevelsOfTree + 2>;

class SmallTree {
 public:
  explicit SmallTree(uint64_t seed, bool differ = false) : random_(seed) {
    const uint32_t nodes = 3 + Below(8);
    for (uint32_t n = 0; n < nodes; ++n) {
      const uint32_t rack = Below(6);
      NodeSpec spec;
      spec.path = "z" + std::to_string(rack / 4) + "/b" +
                  std::to_string(rack / 2) + "/r" + std::to_string(rack) +
                  "/n" + std::to_string(n);
      spec.gpus = 1 + Below(5);
      spec.cpu = 1000;
      if (differ && Below(2) == 0) spec.labels.push_back({"disk", "fast"});
      if (differ && Below(3) == 0) spec.labels.push_back({"power", "green"});
      if (differ && Below(4) == 0) {
        spec.taints = {{"slow", "", TaintEffect::kPreferNoSchedule}};
      }
      world_.Add(spec);
      world_.Use("n" + std::to_string(n), Below(3));
    }
  }

  void Check() {
    int within = -1;
    const Gang gang = MakeGang(&within);
    const uint32_t tasks = gang.roles[0].min_tasks;
    const ShapeId shape = world_.Prepare(gang).shapes[0][0];
    Counts best;
    const bool possible = BruteForce(shape, tasks, within, &best);
    world_.Place(gang);
    ASSERT_EQ(world_.result.fit == Fit::kFits, possible)
        << tasks << " tasks, within " << within;
    if (!possible) return;
    std::vector<NodeIndex> nodes;
    for (const Assignment& a : world_.result.tasks) nodes.push_back(a.at.node);
    ASSERT_EQ(nodes.size(), tasks);
    ASSERT_EQ(Count(nodes), best) << tasks << " tasks, within " << within;
    const Certificate& certificate = world_.result.certificate;
    EXPECT_TRUE(certificate.optimal);
    ASSERT_EQ(certificate.levels.size(), kLevelsOfTree + 1u);
    for (int l = 0; l <= kLevelsOfTree; ++l) {
      EXPECT_EQ(certificate.levels[l].used, static_cast<uint32_t>(best[l + 1]));
      EXPECT_EQ(certificate.levels[l].least,
                static_cast<uint32_t>(best[l + 1]));
    }
  }

  // What is liked alike on all nodes is the same as nothing.
  void CheckAlike() {
    int within = -1;
    Gang gang = MakeGang(&within);
    const PlacementResult plain = world_.DryRun(gang);
    for (const SelectorOp op :
         {SelectorOp::kExists, SelectorOp::kDoesNotExist}) {
      gang.roles[0].preferences = {{5, {{{"rack", op}}}}};
      ExpectSame(world_.DryRun(gang), plain);
    }
    gang.roles[0].preferences.clear();
    for (const NodeIndex n : CopyOfNodes()) Avoid(n);
    ExpectSame(world_.DryRun(gang), plain);
  }

  // The same of a node that is avoided, and not needed; false if all are.
  bool CheckNotNeeded() {
    int within = -1;
    const Gang gang = MakeGang(&within);
    const PlacementResult plain = world_.DryRun(gang);
    const std::vector<NodeIndex> nodes = CopyOfNodes();
    const NodeIndex other = nodes[Below(nodes.size())];
    if (std::ranges::any_of(plain.tasks, [&](const Assignment& a) {
          return a.at.node == other;
        })) {
      return false;
    }
    Avoid(other);
    ExpectSame(world_.DryRun(gang), plain);
    return true;
  }

  // Returns whether all tasks could lie on nodes of the best score, in the
  // fewest domains: then they do.
  bool CheckScores() {
    int within = -1;
    Gang gang = MakeGang(&within);
    const uint32_t tasks = gang.roles[0].min_tasks;
    gang.roles[0].preferences = {
        {3, {{{"disk", SelectorOp::kIn, {"fast"}}}}},
        {2, {{{"power", SelectorOp::kIn, {"green"}}}}}};
    const ShapeId shape = world_.Prepare(gang).shapes[0][0];
    Counts best, liked;
    const bool possible = BruteForce(shape, tasks, within, &best);
    const PlacementResult result = world_.DryRun(gang);
    EXPECT_EQ(result.fit == Fit::kFits, possible);
    if (!possible || testing::Test::HasFailure()) return false;
    std::vector<NodeIndex> nodes;
    for (const Assignment& a : result.tasks) nodes.push_back(a.at.node);
    EXPECT_EQ(nodes.size(), tasks);
    const Counts counts = Count(nodes);
    if (result.certificate.optimal) {
      EXPECT_EQ(counts, best);
    }
    int64_t top = BestScore(shape, best[kLevelsOfTree + 1] == 1 ? tasks : 1);
    if (!BruteForce(shape, tasks, within, &liked, top) || liked != best) {
      return false;
    }
    EXPECT_EQ(counts, best);
    EXPECT_TRUE(result.certificate.optimal);
    for (const NodeIndex n : nodes) {
      EXPECT_EQ(world_.cluster.Score(n, shape), top);
    }
    return true;
  }

 private:
  // All in one domain of the level `within`, unless that is -1.
  Gang MakeGang(int* within) {
    Gang gang;
    const uint32_t tasks = 1 + Below(9);
    gang.roles = {MakeRole("w", tasks, 1 + Below(2))};
    const uint32_t required = Below(kLevelsOfTree + 2);
    *within = required <= kLevelsOfTree ? static_cast<int>(required) : -1;
    if (*within < 0) return gang;
    gang.groups.resize(1);
    gang.groups[0].topology.required = kNames[required];
    return gang;
  }

  static void ExpectSame(const PlacementResult& a, const PlacementResult& b) {
    EXPECT_EQ(a.fit, b.fit);
    ASSERT_EQ(a.tasks.size(), b.tasks.size());
    for (size_t i = 0; i < a.tasks.size(); ++i) {
      EXPECT_EQ(a.tasks[i].at.node, b.tasks[i].at.node);
      EXPECT_EQ(a.tasks[i].at.devices, b.tasks[i].at.devices);
    }
    EXPECT_EQ(a.certificate.levels, b.certificate.levels);
  }

  std::vector<NodeIndex> CopyOfNodes() const {
    const auto nodes = world_.cluster.nodes();
    return {nodes.begin(), nodes.end()};
  }

  void Avoid(NodeIndex n) {
    Node node = world_.cluster.node(n);
    node.taints.push_back({"avoid", "", TaintEffect::kPreferNoSchedule});
    world_.cluster.Upsert(node);
  }

  // Of the nodes with room for so many.
  int64_t BestScore(ShapeId shape, uint32_t tasks) const {
    int64_t best = std::numeric_limits<int64_t>::min();
    for (const NodeIndex n : world_.cluster.nodes()) {
      if (world_.cluster.Slots(n, shape, Ledger::kBoth, tasks) < tasks)
        continue;
      best = std::max(best, world_.cluster.Score(n, shape));
    }
    return best;
  }

  uint32_t Below(uint64_t bound) {
    return static_cast<uint32_t>(random_() % bound);
  }

  Counts Count(const std::vector<NodeIndex>& nodes) const {
    const TopologyIndex& index = world_.cluster.index(0);
    Counts counts{};
    int narrowest = -1;
    for (int l = 0; l <= kLevelsOfTree; ++l) {
      std::set<uint32_t> used;
      for (const NodeIndex n : nodes) {
        used.insert(l == kLevelsOfTree ? n : index.domain_of[l][n]);
      }
      counts[l + 1] = static_cast<int>(used.size());
      if (used.size() == 1) narrowest = l;
    }
    counts[0] = -narrowest;
    return counts;
  }

  // Over all sets of nodes that have room together, of one score perhaps.
  bool BruteForce(ShapeId shape, uint32_t tasks, int within, Counts* best,
                  std::optional<int64_t> score = {}) {
    const auto nodes = world_.cluster.nodes();
    bool found = false;
    for (uint32_t set = 1; set < uint32_t{1} << nodes.size(); ++set) {
      uint32_t room = 0;
      std::vector<NodeIndex> chosen;
      for (size_t i = 0; i < nodes.size(); ++i) {
        if ((set >> i & 1) == 0) continue;
        chosen.push_back(nodes[i]);
        room += world_.cluster.Slots(nodes[i], shape, Ledger::kBoth, tasks);
      }
      if (room < tasks || chosen.size() > tasks) continue;
      if (score && std::ranges::any_of(chosen, [&](NodeIndex n) {
            return world_.cluster.Score(n, shape) != score;
          })) {
        continue;
      }
      const Counts counts = Count(chosen);
      if (within >= 0 && counts[within + 1] != 1) continue;
      if (!found || counts < *best) *best = counts;
      found = true;
    }
    return found;
  }

  std::mt19937_64 random_;
  World world_;
};

TEST(UniformGangs, UseTheFewestDomainsLevelAfterLevel) {
  const char* chosen = std::getenv("MUSTER_SEED");
  const uint64_t first =
      chosen != nullptr ? std::strtoull(chosen, nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + 400; ++seed) {
    SCOPED_TRACE("MUSTER_SEED=" + std::to_string(seed));
    SmallTree tree(seed);
    for (int i = 0; i < 4; ++i) tree.Check();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(UniformGangs, ScoresThatDecideNothingChangeNothing) {
  uint64_t not_needed = 0;
  for (uint64_t seed = 1000; seed < 1400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (int i = 0; i < 4; ++i) {
      SmallTree(seed * 4 + i).CheckAlike();
      not_needed += SmallTree(seed * 4 + i).CheckNotNeeded();
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(not_needed, 500u);
}

TEST(UniformGangs, LieOnLikedNodesWhereThatCostsNoDomain) {
  uint64_t liked = 0, asked = 0;
  for (uint64_t seed = 2000; seed < 2600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SmallTree tree(seed, true);
    for (int i = 0; i < 4; ++i, ++asked) liked += tree.CheckScores();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(liked, asked / 10);
}

// The tightest rack would need three nodes; another one does with two.
TEST(UniformGangs, FewNodesBeforeATightRack) {
  World w;
  w.AddMany("z/b/r1/a", 3, 1)
      .AddMany("z/b/r2/b", 2, 2)
      .AddMany("z/b/r2/c", 1, 1);
  Gang gang;
  gang.roles = {MakeRole("w", 3, 1)};
  w.Place(gang);
  EXPECT_EQ(w.Where(0, "rack"), "r2 r2 r2");
  EXPECT_EQ(w.result.certificate.levels.back().used, 2u);
  EXPECT_TRUE(w.result.certificate.optimal);
}

// A block that has room is left whole for a gang that needs it.
TEST(UniformGangs, OfEquallyTightRacksTheOneInTheTightestBlock) {
  World w;
  w.AddMany("z/b1/r1/a", 3, 2).AddMany("z/b1/r2/b", 4, 2);
  w.AddMany("z/b2/r3/c", 4, 2).AddMany("z/b2/r4/d", 3, 2);
  w.AddMany("z/b3/r5/e", 3, 2).AddMany("z/b3/r6/f", 2, 2);
  w.AddMany("z/b4/r7/g", 3, 2).AddMany("z/b4/r8/h", 2, 2);
  Gang whole;
  whole.roles = {MakeRole("w", 3, 2)};
  w.Place(whole);
  EXPECT_EQ(w.Where(0, "rack"), "r5 r5 r5");
  // The same if one rack might have needed fewer nodes: each is looked at.
  w.AddMany("z/b5/r9/i", 1, 4);
  Gang parts;
  parts.roles = {MakeRole("w", 5, 1)};
  w.Place(parts);
  EXPECT_EQ(w.Where(0, "rack"), "r7 r7 r7 r7 r7");
}

// A question changes nothing, and what it says is what is then done.
TEST(UniformGangs, ADryRunTellsWhatWouldBeDone) {
  World w;
  w.AddMany("z/b/r1/a", 4, 4);
  Gang gang;
  gang.roles = {MakeRole("w", 6, 1)};
  PlacementRequest request;
  request.gang = &w.Prepare(gang);
  request.dry_run = true;
  PlacementResult dry, real;
  const uint64_t before = w.cluster.Hash();
  w.solver->Place(w.cluster, request, &dry);
  EXPECT_EQ(w.cluster.Hash(), before);
  request.dry_run = false;
  w.solver->Place(w.cluster, request, &real);
  EXPECT_NE(w.cluster.Hash(), before);
  EXPECT_EQ(dry.tasks, real.tasks);
}

// What the index remembers changes neither answers nor steps.
TEST(UniformGangs, AFreshSolverAnswersTheSame) {
  World w;
  w.AddMany("z/b/r1/a", 9, 4)
      .AddMany("z/b/r2/a1", 9, 4)
      .AddMany("y/c/r3/b", 9, 8);
  std::mt19937_64 random(3);
  for (int i = 0; i < 40; ++i) {
    Gang gang;
    gang.roles = {MakeRole("w", 1 + random() % 12, 1 + random() % 4)};
    PlacementRequest request;
    request.gang = &w.Prepare(gang);
    request.dry_run = true;
    PlacementResult fresh;
    NewGangSolver()->Place(w.cluster, request, &fresh);
    request.dry_run = false;
    PlacementResult warm;
    w.solver->Place(w.cluster, request, &warm);
    EXPECT_EQ(warm.fit, fresh.fit);
    EXPECT_EQ(warm.tasks, fresh.tasks);
    EXPECT_EQ(warm.steps, fresh.steps);
    if (i % 3 == 2 && !warm.tasks.empty()) {
      for (const Assignment& a : warm.tasks) {
        w.cluster.Credit(a.at, Ledger::kBoth);
      }
    }
  }
}

}  // namespace
}  // namespace muster::solver_test
