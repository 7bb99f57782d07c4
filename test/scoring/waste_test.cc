// kMuster with typical tasks: the least new waste.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/scoring/policy_world.h"

namespace muster::policy_test {
namespace {

using testing::ElementsAre;

PlacementOptions Muster(std::vector<TypicalTask> typical_tasks,
                        std::vector<ModelSupply> supply = {}) {
  return {.typical_tasks = std::move(typical_tasks),
          .supply = std::move(supply)};
}

TEST(WasteTest, AShareGoesWhereItLeavesAFit) {
  PolicyWorld w;
  w.Add("n", 64'000, {700, 900, 1000});
  w.Use(Muster({Typical(Task(1000, 1, 600)), Typical(Task(1000, 1, 400))}));
  EXPECT_THAT(w.Devices("n", Task(1000, 1, 300)), ElementsAre(1));
}

// Tasks take ten cpus a device. Where there are five cpus for two devices, one
// of the devices will starve: unless a task that is content with little comes.
TEST(WasteTest, ATaskOfLittleCpuGoesWhereCpuIsShort) {
  PolicyWorld w;
  w.Add("rich", 64'000, {1000, 1000, 0}).Add("short", 12'000, {1000, 1000, 0});
  w.Use(Muster({Typical(Task(10'000, 1))}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "short rich");
  EXPECT_EQ(w.Order(Task(12'000, 1)), "rich short") << "all cpus, one device";
}

TEST(WasteTest, AnyKindCanBeTheShortOne) {
  PolicyWorld w;
  w.Add("rich", 64'000, {1000, 1000, 0}).Add("short", 64'000, {1000, 1000, 0});
  Role hoarder = Task(0, 0);
  hoarder.shape.resources = {0, 990};
  w.cluster.Charge(
      {w.cluster.Find("short").index, w.cluster.Intern(hoarder, 0)},
      Ledger::kBoth);
  Role typical = Task(1000, 1);
  typical.shape.resources.Set(1, 10);
  w.Use(Muster({Typical(typical)}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "short rich");
}

TEST(WasteTest, CpuTasksStayOffFreeDevices) {
  PolicyWorld w;
  w.Add("free", 64'000, {1000, 1000})
      .Add("full", 64'000, {0, 0})
      .Add("none", 64'000, {});
  w.Use(Muster({Typical(Task(10'000, 1))}));
  EXPECT_EQ(w.Order(Task(4000, 0)), "full=none free");
  // And where both are of use, they take from the node that has more than
  // enough of what its devices need.
  w.Add("scarce", 20'000, {1000, 1000});
  EXPECT_EQ(w.Order(Task(10'000, 0)), "full=none free scarce");
}

TEST(WasteTest, AnIdleNodeIsOpenedLast) {
  PolicyWorld w;
  w.Add("a-idle", 64'000, {1000, 1000}).Add("b-used", 64'000, {1000, 0});
  w.Use(Muster({Typical(Task(1000, 1))}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "b-used a-idle");
}

TEST(WasteTest, WhatNobodyElseCanUseIsTakenFirst) {
  PolicyWorld w;
  w.Add("any", 64'000, {1000, 0}, "A").Add("odd", 64'000, {1000, 0}, "B");
  w.Use(Muster({Typical(TaskOn({"A"}, 1000, 1))}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "odd any");
}

// Unlike FGD, it does not take the model first that is asked for the least:
// there may be few such devices.
TEST(WasteTest, ModelsAreAlikeWhereTheirSupplyIsNotKnown) {
  PolicyWorld w;
  w.Add("much", 64'000, {1000, 0}, "A").Add("rare", 64'000, {1000, 0}, "B");
  w.Use(Muster({Typical(Task(1000, 1), 50), Typical(TaskOn({"A"}, 1000, 1), 40),
                Typical(TaskOn({"B"}, 1000, 1), 10)}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "much=rare");
}

// B is half of what is asked for, and a quarter of what there is: such tasks
// can fill all of B, and others stay away from it.
TEST(WasteTest, AModelIsKeptForThoseWhoFillIt) {
  PolicyWorld w;
  w.Add("a", 64'000, {1000, 0}, "A").Add("b", 64'000, {1000, 0}, "B");
  w.Use(Muster({Typical(Task(1000, 1)), Typical(TaskOn({"B"}, 1000, 1))},
               {{"A", 300}, {"B", 100}}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "a b");
  EXPECT_EQ(w.Order(TaskOn({"A", "B"}, 1000, 1)), "a=b");
}

// Where they ask for a tenth, every eighth node is kept (a quarter more than
// they ask for), drawn by key.
TEST(WasteTest, NoMoreOfAModelIsKeptThanIsAskedFor) {
  constexpr int kNodes = 10'000;
  PolicyWorld w;
  for (int i = 0; i < kNodes; ++i) {
    w.Add("n" + std::to_string(i), 64'000, {1000, 0}, "A");
  }
  w.Use(Muster({Typical(Task(1000, 1), 9), Typical(TaskOn({"A"}, 1000, 1), 1)},
               {{"A", kNodes}}));
  const uint32_t open = w.NodeCost("n0", TaskOn({"A"}, 1000, 1));
  int kept = 0;
  for (int i = 0; i < kNodes; ++i) {
    const std::string key = "n" + std::to_string(i);
    EXPECT_EQ(w.NodeCost(key, TaskOn({"A"}, 1000, 1)), open);
    if (w.NodeCost(key, Task(1000, 1)) > open) ++kept;
  }
  // Three times the deviation of so many draws; a tenth would be 1,000.
  EXPECT_NEAR(kept, kNodes / 8, 100);
}

TEST(WasteTest, SelectorsOfTheWorkloadTellNodesApart) {
  PolicyWorld w;
  w.Add("fast", 64'000, {1000, 0}).Add("slow", 64'000, {1000, 0});
  Node fast = w.cluster.node(w.cluster.Find("fast").index);
  fast.labels = {{"tier", "fast"}};
  w.cluster.Upsert(fast);
  Role typical = Task(1000, 1);
  typical.shape.selector.any_of = {{{{.key = "tier", .values = {"fast"}}}}};
  w.Use(Muster({Typical(typical)}));
  EXPECT_EQ(w.Order(Task(1000, 1)), "slow fast");
}

TEST(WasteTest, AWorkloadOfMemorySharesIsUnderstood) {
  PolicyWorld w;
  Node node{.key = "n", .capacity = {64'000, 1000}};
  node.devices.assign(2, {.model = "G", .memory_bytes = 80});
  w.cluster.Upsert(node);
  Role piece = Task(1000, 1);
  piece.shape.devices = {.count = 1, .milli = 0, .memory_bytes = 30};
  Role used = piece;
  used.shape.devices.memory_bytes = 40;
  w.cluster.Charge({0, w.cluster.Intern(used, 0), {0}}, Ledger::kBoth);
  w.Use(Muster({Typical(piece)}));
  // 40 of 80 are left on device 0: a piece of 30 would spoil 10 there, and on
  // device 1 leaves 50, which is of use.
  EXPECT_THAT(w.Devices("n", piece), ElementsAre(1));
}

}  // namespace
}  // namespace muster::policy_test
