// Queue limits where a task uses more of a small device than of a large one:
// what counts is what it does use, told as stories.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGigabyte = int64_t{1} << 30;

// Tasks with 40 GB each: 500 thousandths of a device of 80 GB, 250 of 160 GB.
Gang Shares(Gang gang) { return WithMemory(std::move(gang), 40 * kGigabyte); }

// Queue "q" may use so many thousandths, queue "free" what it likes.
class UnlikeDevices : public Activation {
 protected:
  UnlikeDevices() { s.HasQueue("free"); }
  void MayUse(int64_t limit) {
    s.HasQueue("q", {{.resource = "gpu", .limit = limit}});
  }
  // Devices of so many gigabytes.
  void HasDevices(const std::string& key, const std::vector<int64_t>& sizes) {
    Node node = Named(key, static_cast<uint32_t>(sizes.size()));
    for (size_t d = 0; d < sizes.size(); ++d) {
      node.devices[d].memory_bytes = sizes[d] * kGigabyte;
    }
    s.Happens(NodeChanged{node});
  }
  // A device of 80 GB on n1, one of 160 GB on n2.
  void HasSmallAndLarge() {
    HasDevices("n1", {80});
    HasDevices("n2", {160});
  }
  void HasPartsOf(const std::string& key, const std::string& scheme) {
    Node node = Named(key, 1);
    node.devices[0].partition_scheme = scheme;
    s.Happens(NodeChanged{node});
  }
  void StartsOn(const std::string& nodes, const Gang& gang) {
    s.Submit(gang);
    EXPECT_THAT(s.Pass(), ElementsAre("start " + gang.key + ": " + nodes));
    s.ExpectRestorable();
    s.AllDone();
  }
};

TEST_F(UnlikeDevices, AGangStartsWhereItKeepsToTheLimit) {
  MayUse(400);
  HasSmallAndLarge();
  StartsOn("n2", Shares(Job("a")));
}

TEST_F(UnlikeDevices, AGangStartsOnTheDeviceOnWhichItKeepsToTheLimit) {
  MayUse(400);
  HasDevices("n1", {80, 160});
  StartsOn("n1", Shares(Job("a")));
  EXPECT_EQ(s.Of("a").tasks[0].devices.first(), 1u);
}

TEST_F(UnlikeDevices, AGangWaitsForADeviceOnWhichItKeepsToTheLimit) {
  MayUse(400);
  HasSmallAndLarge();
  Runs(In("free", On("n2", Job("large"))));
  Waits(Shares(Job("a")));
  EXPECT_THAT(s.Why("a"),
              HasSubstr("limit (queue q): needs 500 gpu, 400 available"));
  s.Happens(GangCancelled{"large"});
  s.Pass();
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start a: n2"));
}

TEST_F(UnlikeDevices, TasksTogetherKeepToTheLimit) {
  MayUse(700);
  HasSmallAndLarge();
  HasDevices("n3", {160});
  Runs(In("free", Shares(On("n2", Job("x", 3)))));
  // 250 on n2, 500 on n1 would be too much.
  StartsOn("n3 n3", Shares(Job("a", 2)));
}

TEST_F(UnlikeDevices, WhatIsLeftOfTheLimitCounts) {
  MayUse(700);
  HasSmallAndLarge();
  Runs(Shares(On("n1", Job("a"))));
  Waits(Shares(On("n1", Job("b"))));
  EXPECT_THAT(s.Why("b"),
              HasSubstr("limit (queue q): needs 500 gpu, 200 available"));
  Waits(Shares(Job("c")));
}

// A part is a quarter of the device on n1, an eighth of that on n2.
TEST_F(UnlikeDevices, APartitionCountsAsInItsScheme) {
  SchedulerConfig config;
  config.partition_schemes = {{.key = "quarters",
                               .memory_slices = 4,
                               .profiles = {{"part", 1, 250, {0, 1}}}},
                              {.key = "eighths",
                               .memory_slices = 8,
                               .profiles = {{"part", 1, 125, {0, 1}}}}};
  Begins(config);
  MayUse(200);
  HasPartsOf("n1", "quarters");
  HasPartsOf("n2", "eighths");
  Gang part = Job("a");
  part.roles[0].shape.devices.partition = "part";
  Waits(On("n1", part));
  EXPECT_THAT(s.Why("a"), HasSubstr("needs 250 gpu, 200 available"));
  part.key = "b";
  StartsOn("n2", part);
}

TEST_F(UnlikeDevices, GrowthKeepsToTheLimit) {
  MayUse(700);
  HasSmallAndLarge();
  Runs(In("free", Shares(On("n2", Job("x", 3)))));
  Runs(In("free", On("n1", Job("y"))));
  Runs(Shares(Elastic("e", 1, 4)));
  s.Happens(GangCancelled{"y"});
  Rests();
  EXPECT_EQ(s.Where("e"), "n2");
  s.Happens(GangCancelled{"x"});
  Rests();
  EXPECT_EQ(s.Where("e"), "n2 n2");
}

TEST_F(UnlikeDevices, AnElasticGangGrowsWhereItKeepsToTheLimit) {
  MayUse(600);
  HasSmallAndLarge();
  Runs(In("free", On("n1", Job("y"))));
  Runs(In("free", Shares(On("n2", Job("x", 3)))));
  Runs(Shares(Elastic("e", 1, 4)));
  s.Happens(GangCancelled{"y"});
  s.Happens(GangCancelled{"x"});
  Rests();
  EXPECT_EQ(s.Where("e"), "n2 n2");
}

TEST_F(UnlikeDevices, APromiseKeepsToTheLimit) {
  MayUse(400);
  HasSmallAndLarge();
  Runs(In("free", Shares(On("n2", Job("x", 3)))));
  Runs(Shares(Job("l")));
  s.Happens(GangCancelled{"l"});
  s.Submit(Shares(Job("w")));
  EXPECT_THAT(s.Pass(), ElementsAre("cancel l", "nominate w: n2"));
}

// It could be on n1 if both were evicted.
TEST_F(UnlikeDevices, VictimsAreWhereTheWinnerKeepsToTheLimit) {
  MayUse(600);
  HasSmallAndLarge();
  Runs(In("free", Shares(On("n2", Job("x", 2)))));
  Runs(Shares(On("n2", Job("l1", 1, 1, "low"))));
  Runs(Shares(On("n2", Job("l2", 1, 1, "low"))));
  s.Submit(Shares(Job("w", 1, 1, "high")));
  EXPECT_THAT(s.Pass(), ElementsAre(HasSubstr("evict l"), "nominate w: n2"));
}

TEST_F(UnlikeDevices, VictimsGiveWhatTheWinnerUses) {
  MayUse(600);
  HasSmallAndLarge();
  Runs(In("free", On("n2", Job("x"))));
  Runs(Shares(Job("l", 1, 1, "low")));
  s.Submit(Shares(Job("w", 1, 1, "high")));
  EXPECT_THAT(s.Pass(), ElementsAre("evict l for w", "nominate w: n1"));
}

}  // namespace
}  // namespace muster
