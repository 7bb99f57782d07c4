// What each policy prefers, on nodes that fit on a napkin.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "lib/solver/gang_solver.h"
#include "test/scoring/policy_world.h"

namespace muster::policy_test {
namespace {

TEST(PolicyTest, WithoutAWorkloadTheTightestNodeIsTaken) {
  PolicyWorld w;
  w.Add("idle", 64'000, {1000, 1000})
      .Add("shared", 64'000, {500, 1000})
      .Add("half", 64'000, {0, 1000});
  // A share goes to a device in use, though another node has less free.
  EXPECT_EQ(w.Order(Task(1000, 1, 300)), "shared half idle");
  EXPECT_EQ(w.Order(Task(1000, 1)), "half shared idle");
  w.UseCpu("shared", 60'000).Add("shared2", 64'000, {500, 1000});
  EXPECT_EQ(w.Order(Task(1000, 1)), "half shared shared2 idle")
      << "the less cpu is left, the better";
}

// Who will leave soon is not known; a node with one task is idle again as soon
// as that one ends, a node with many will not be for long.
TEST(PolicyTest, WithoutAWorkloadHolesBesideManyTasksAreFilledFirst) {
  PolicyWorld w;
  const std::vector<int32_t> idle(8, 1000);
  w.Add("idle", 64'000, idle)
      .Add("five", 64'000, idle)
      .Add("ones", 64'000, idle);
  w.Run("five", Task(0, 5));
  for (int i = 0; i < 4; ++i) w.Run("ones", Task(0, 1));
  EXPECT_EQ(w.Order(Task(0, 1)), "ones five idle")
      << "3 left beside 4 tasks, 2 beside one";
  EXPECT_EQ(w.Order(Task(0, 3)), "five ones idle") << "nothing is left";
  EXPECT_EQ(w.Order(Task(0, 0)), "five ones idle") << "it takes none of them";
}

TEST(PolicyTest, BinpackTakesTheFullestNodeAndSpreadTheEmptiest) {
  PolicyWorld w;
  w.Add("a", 64'000, {1000, 1000, 1000})
      .Add("b", 64'000, {0, 300, 1000})
      .Add("c", 64'000, {0, 1000, 1000});
  w.Use({.policy = PlacementPolicy::kBinpack});
  EXPECT_EQ(w.Order(Task(1000, 1)), "b c a");
  EXPECT_EQ(w.Order(Task(1000, 0)), "b c a");
  w.Use({.policy = PlacementPolicy::kLeastAllocated});
  EXPECT_EQ(w.Order(Task(1000, 1)), "a c b");
  // A task without devices spreads over what it asks for.
  w.UseCpu("a", 10'000);
  EXPECT_EQ(w.Order(Task(1000, 0)), "c b a");
}

TEST(PolicyTest, LeastFreeWeighsAllKindsAlike) {
  PolicyWorld w;
  w.Add("gpu", 100'000, {1000, 1000}).UseCpu("gpu", 90'000);
  w.Add("cpu", 100'000, {0, 1000}).UseCpu("cpu", 30'000);
  w.Use({.policy = PlacementPolicy::kLeastFree});
  // 10 % + 100 % against 70 % + 50 % of what the node has, memory equal.
  EXPECT_EQ(w.Order(Task(1000, 1)), "gpu cpu");
  // By another yardstick, the devices weigh more.
  w.Use({.policy = PlacementPolicy::kLeastFree,
         .yardstick = {1'000'000, 1000, 1000}});
  EXPECT_EQ(w.Order(Task(1000, 1)), "cpu gpu");
}

TEST(PolicyTest, BestFitLeavesTheLeastCpuAndDevices) {
  PolicyWorld w;
  w.Add("gpu", 128'000, {1000, 1000, 1000, 1000}).UseCpu("gpu", 100'000);
  w.Add("cpu", 128'000, {0, 0, 0, 1000});
  w.Use({.policy = PlacementPolicy::kBestFit, .yardstick = {128'000, 0, 8000}});
  // 100 - 50 * (16/128 + 3/8) = 75; 100 - 50 * (116/128 + 0/8) = 54.6.
  EXPECT_EQ(w.NodeCost("gpu", Task(12'000, 1)), 25u);
  EXPECT_EQ(w.NodeCost("cpu", Task(12'000, 1)), 46u);
}

TEST(PolicyTest, DotProductPrefersLittleFreeOfWhatIsAskedFor) {
  PolicyWorld w;
  w.Add("a", 128'000, {1000, 1000, 1000, 1000});
  w.Add("b", 128'000, {0, 0, 0, 1000});
  w.Use({.policy = PlacementPolicy::kDotProduct,
         .yardstick = {128'000, 0, 8000}});
  // 50 * (1 * 12/128 + 4/8 * 1/8) = 7.8; 50 * (1 * 12/128 + 1/64) = 5.5.
  EXPECT_EQ(w.NodeCost("a", Task(12'000, 1)), 8u);
  EXPECT_EQ(w.NodeCost("b", Task(12'000, 1)), 6u);
}

TEST(PolicyTest, BalancedUsesTheKindsOfANodeUpAlike) {
  PolicyWorld w;
  w.Add("cpu-used", 100'000, {1000, 1000}).UseCpu("cpu-used", 50'000);
  w.Add("gpu-used", 100'000, {0, 1000});
  w.Use({.policy = PlacementPolicy::kBalanced});
  Role task = Task(0, 1);
  task.shape.resources = {0, 500};
  EXPECT_EQ(w.Order(task), "cpu-used gpu-used") << "half of all three kinds";
  task = Task(50'000, 0);
  task.shape.resources.Set(1, 500);
  EXPECT_EQ(w.Order(task), "gpu-used cpu-used");
}

TEST(PolicyTest, GpuPackingTakesUsedDevicesThenUsedNodesThenIdleOnes) {
  PolicyWorld w;
  w.Add("idle2", 64'000, {1000, 1000})
      .Add("idle8", 64'000, std::vector<int32_t>(8, 1000))
      .Add("used", 64'000, {0, 1000, 1000})
      .Add("share40", 64'000, {400, 1000})
      .Add("share90", 64'000, {900, 1000});
  w.Use({.policy = PlacementPolicy::kGpuPacking});
  EXPECT_EQ(w.Order(Task(1000, 1, 300)), "share40 share90 used idle2 idle8");
  EXPECT_EQ(w.Order(Task(1000, 1, 500)), "share90 share40=used idle2 idle8");
  EXPECT_EQ(w.Order(Task(1000, 1)), "share40=share90=used idle2 idle8");
  EXPECT_EQ(w.Order(Task(1000, 0)), "idle2=idle8=share40=share90=used");
}

TEST(PolicyTest, GpuClusteringKeepsSharesAndWholeDevicesApart) {
  PolicyWorld w;
  w.Add("idle", 64'000, {1000, 1000, 1000})
      .Add("shared", 64'000, {500, 1000, 1000})
      .Add("whole", 64'000, {0, 1000, 1000})
      .Add("both", 64'000, {0, 500, 1000});
  w.Use({.policy = PlacementPolicy::kGpuClustering});
  EXPECT_EQ(w.Order(Task(1000, 1, 300)), "shared both idle whole");
  EXPECT_EQ(w.Order(Task(1000, 1)), "whole both idle shared");
}

TEST(PolicyTest, RandomIsAHashOfSeedGangAndNode) {
  PolicyWorld w;
  for (const char* n : {"a", "b", "c", "d", "e", "f"}) {
    w.Add(n, 64'000, {1000, 1000});
  }
  w.Use({.policy = PlacementPolicy::kRandom, .seed = 7});
  EXPECT_TRUE(w.policy->PerGang());
  std::set<std::string> nodes;
  std::set<uint32_t> devices;
  for (int i = 0; i < 64; ++i) {
    const std::string gang = "gang-" + std::to_string(i);
    nodes.insert(w.Best(Task(0, 1, 500), gang));
    devices.insert(w.Devices("a", Task(0, 1, 500), gang).at(0));
  }
  EXPECT_EQ(nodes.size(), 6u) << "each node is somebody's first";
  EXPECT_EQ(devices.size(), 2u);
  const std::string order = w.Order(Task(0, 1), "g");
  EXPECT_EQ(w.Order(Task(0, 1), "g"), order);
  w.Use({.policy = PlacementPolicy::kRandom, .seed = 8});
  EXPECT_NE(w.Order(Task(0, 1), "g"), order);
}

TEST(PolicyTest, CostsDoNotDependOnTheOrderInWhichNodesCame) {
  const Role typical = Task(8000, 1, 300);
  for (const PlacementPolicy p :
       {PlacementPolicy::kMuster, PlacementPolicy::kBinpack,
        PlacementPolicy::kLeastAllocated, PlacementPolicy::kBestFit,
        PlacementPolicy::kLeastFree, PlacementPolicy::kBalanced,
        PlacementPolicy::kFragmentation, PlacementPolicy::kDotProduct,
        PlacementPolicy::kGpuPacking, PlacementPolicy::kGpuClustering,
        PlacementPolicy::kRandom}) {
    PolicyWorld forth;
    PolicyWorld back;
    forth.Add("a", 9000, {1000, 500})
        .Add("b", 7000, {400, 0})
        .Add("c", 9000, {1000});
    back.Add("c", 9000, {1000})
        .Add("b", 7000, {400, 0})
        .Add("a", 9000, {1000, 500});
    const PlacementOptions options{.policy = p,
                                   .typical_tasks = {Typical(typical)}};
    forth.Use(options);
    back.Use(options);
    EXPECT_EQ(forth.Order(Task(1000, 1, 400)), back.Order(Task(1000, 1, 400)))
        << Name(p);
  }
}

// --- Through the solver ------------------------------------------------------

std::string Placed(PolicyWorld& w, PlacementOptions options, Role role,
                   const std::string& key = "g") {
  PreparedGang gang;
  gang.gang.key = key;
  gang.gang.groups.resize(1);
  gang.gang.roles = {role};
  gang.shapes = {{w.cluster.Intern(role, 0)}};
  PlacementResult result;
  const Cluster::Mark mark = w.cluster.Begin();
  NewGangSolver(options)->Place(w.cluster, {.gang = &gang}, &result);
  w.cluster.Rollback(mark);
  std::string placed;
  for (const Assignment& a : result.tasks) {
    placed += w.cluster.node(a.at.node).key + "/" +
              std::to_string(a.at.devices.word(0)) + " ";
  }
  return placed;
}

TEST(PolicyTest, TheSolverAsksPreferencesThenThePolicyThenKeys) {
  PolicyWorld w;
  w.Add("a", 64'000, {0, 1000})
      .Add("b", 64'000, {1000, 1000})
      .Add("c", 64'000, {1000, 1000});
  const Role task = Task(1000, 1);
  EXPECT_EQ(Placed(w, {}, task), "a/2 ");
  EXPECT_EQ(Placed(w, {.policy = PlacementPolicy::kLeastAllocated}, task),
            "b/1 ");
  Role picky = task;
  picky.preferences = {
      {.weight = 1, .term = {{{.key = "disk", .values = {"ssd"}}}}}};
  Node c = w.cluster.node(w.cluster.Find("c").index);
  c.labels = {{"disk", "ssd"}};
  w.cluster.Upsert(c);
  EXPECT_EQ(Placed(w, {}, picky), "c/1 ");
}

TEST(PolicyTest, TheSolverChargesTheDeviceThePolicyChose) {
  PolicyWorld w;
  w.Add("n", 64'000, {650, 1000});
  const PlacementOptions fgd{.policy = PlacementPolicy::kFragmentation,
                             .typical_tasks = {Typical(Task(1000, 1, 600))}};
  EXPECT_EQ(Placed(w, {}, Task(1000, 1, 300)), "n/1 ") << "the tightest";
  EXPECT_EQ(Placed(w, fgd, Task(1000, 1, 300)), "n/2 ")
      << "600 fit twice still";
}

TEST(PolicyTest, AGangOfTasksFollowsThePolicyToo) {
  PolicyWorld w;
  w.Add("a", 64'000, {0, 1000})
      .Add("b", 64'000, {1000, 1000})
      .Add("c", 64'000, {0, 1000});
  Role workers = Task(1000, 1);
  workers.min_tasks = workers.desired_tasks = 2;
  // Together first: only b has room for both.
  EXPECT_EQ(Placed(w, {.policy = PlacementPolicy::kBinpack}, workers),
            "b/1 b/2 ");
}

}  // namespace
}  // namespace muster::policy_test
