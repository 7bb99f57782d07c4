// The FGD experiment on lists that can be worked out by hand.
#include "adapters/experiments/fgd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/adapters/experiments/fgd_folder.h"

namespace muster::inprocess {
namespace {

using testing::ElementsAre;

class FgdTest : public FgdFolderTest {
 protected:
  FgdInput Load() const {
    absl::StatusOr<FgdInput> input = LoadFgd(
        Path("openb_node_list_gpu_node.csv"), Path("openb_pod_list_tiny.csv"));
    EXPECT_TRUE(input.ok()) << input.status();
    return input.value_or(FgdInput{});
  }
};

TEST_F(FgdTest, ReadsPodsByName) {
  const FgdInput input = Load();
  EXPECT_EQ(input.gpu_milli, 4000);
  ASSERT_EQ(input.pods.size(), 4u);
  std::vector<int64_t> demands;
  for (const uint32_t shape : input.pods) {
    demands.push_back(input.Demand(shape));
  }
  EXPECT_THAT(demands, ElementsAre(500, 1000, 500, 0));
  EXPECT_EQ(input.shapes.size(), 4u) << "p0 and p2 differ in memory";
  EXPECT_THAT(input.shapes[input.pods[1]].devices.models,
              ElementsAre("T4", "P100"));
}

TEST_F(FgdTest, TypicalTasksAreTheMostFrequent) {
  std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n";
  for (int i = 0; i < 100; ++i) {
    // 60 of one kind (of two memories), 36 of another, four odd ones.
    const int cpu = i < 60 ? 1000 : i < 96 ? 2000 : 3000 + i;
    pods += "p" + std::to_string(i) + "," + std::to_string(cpu) + "," +
            std::to_string(i < 30 ? 1024 : 2048) + ",1,500\n";
  }
  Write("openb_pod_list_tiny.csv", pods);
  const FgdInput input = Load();
  const std::vector<TypicalTask> typical = TypicalTasks(input, false);
  ASSERT_EQ(typical.size(), 2u);
  EXPECT_EQ(typical[0].weight, 60);
  EXPECT_EQ(typical[0].shape.resources, Resources({1000}));
  EXPECT_EQ(typical[1].weight, 36);
  EXPECT_EQ(TypicalTasks(input, true).size(), 3u);
}

TEST_F(FgdTest, TheSameSeedGivesTheSameRun) {
  const FgdInput input = Load();
  for (const FgdPolicy& p : FgdPolicies()) {
    const auto once = RunFgdOnce(input, p.policy, 7);
    const auto again = RunFgdOnce(input, p.policy, 7);
    ASSERT_TRUE(once.ok() && again.ok()) << once.status();
    EXPECT_EQ(once->allocated, again->allocated) << p.name;
    ASSERT_EQ(once->allocated.size(), 131u);
    EXPECT_GE(once->allocated[130], once->allocated[50]) << "pods never leave";
    EXPECT_LE(once->allocated[130], 100);
  }
}

// Half-device pods alone fill the cluster to the last thousandth.
TEST_F(FgdTest, WhatFitsIsAllocated) {
  Write("openb_pod_list_tiny.csv",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\n"
        "p0,1000,1024,1,500\n");
  const FgdInput input = Load();
  const auto run = RunFgdOnce(input, PlacementPolicy::kFragmentation, 1);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->pods, 11u) << "1.3 * 4000 / 500, rounded up";
  EXPECT_DOUBLE_EQ(run->allocated[50], 50);
  EXPECT_DOUBLE_EQ(run->allocated[100], 100);
  EXPECT_DOUBLE_EQ(run->allocated[130], 100);
}

}  // namespace
}  // namespace muster::inprocess
