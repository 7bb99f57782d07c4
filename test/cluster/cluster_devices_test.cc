// Stories of devices: whole ones, fractions, pieces of memory, islands, health.

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

class ClusterDevicesTest : public ::testing::Test {
 protected:
  void Add(Node node) { n_ = cluster_.Upsert(node).index; }
  ShapeId Whole(uint32_t count) { return cluster_.Intern(GpuRole(count), 0); }
  ShapeId Fraction(int32_t milli, uint32_t count = 1) {
    return cluster_.Intern(GpuRole(count, milli), 0);
  }
  ShapeId Piece(int64_t bytes, uint32_t count = 1) {
    return cluster_.Intern(GpuMemoryRole(count, bytes), 0);
  }
  DeviceSet Take(ShapeId shape) {
    return MustTake(cluster_, n_, shape).devices;
  }
  uint32_t Slots(ShapeId shape) {
    return cluster_.Slots(n_, shape, Ledger::kBoth, 1000);
  }

  Cluster cluster_ = EmptyCluster();
  NodeIndex n_ = 0;
};

TEST_F(ClusterDevicesTest, FractionsFillTheTightestDeviceFirst) {
  Add(GpuNode("a", 2));
  EXPECT_EQ(Take(Fraction(500)), DeviceSet({0}));
  EXPECT_EQ(Take(Fraction(300)), DeviceSet({0}));
  EXPECT_EQ(Take(Fraction(300)), DeviceSet({1})) << "200 are left on the first";
  EXPECT_EQ(Take(Fraction(200)), DeviceSet({0}));
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kBoth), 0);
  EXPECT_EQ(cluster_.free_milli(n_, 1, Ledger::kBoth), 700);
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 700);
  EXPECT_EQ(Slots(Fraction(300)), 2u);
  EXPECT_EQ(Slots(Whole(1)), 0u) << "no device is wholly free";
}

TEST_F(ClusterDevicesTest, TheSharesOfOneTaskAreOnDistinctDevices) {
  Add(GpuNode("a", 3));
  EXPECT_EQ(Slots(Fraction(500, 2)), 3u) << "6 halves, 2 a task";
  EXPECT_EQ(Slots(Fraction(500, 4)), 0u) << "4 halves need 4 devices";
  EXPECT_EQ(Take(Fraction(500, 2)), DeviceSet({0, 1}));
  EXPECT_EQ(Take(Fraction(500, 2)), DeviceSet({0, 2}))
      << "both tight ones would leave the last task one device only";
  EXPECT_EQ(Take(Fraction(500, 2)), DeviceSet({1, 2}));
  EXPECT_EQ(Slots(Fraction(500, 1)), 0u);
}

TEST_F(ClusterDevicesTest, MemoryAndFractionsMeetOnOneDevice) {
  Add(GpuNode("a", 1));  // 80,000 bytes
  const Allocation piece = MustTake(cluster_, n_, Piece(20'000));
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), 750);
  EXPECT_EQ(cluster_.free_memory(n_, 0, Ledger::kNow), 60'000);
  EXPECT_EQ(Slots(Fraction(250)), 3u);
  const Allocation half = MustTake(cluster_, n_, Fraction(500));
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), 250);
  EXPECT_EQ(cluster_.free_memory(n_, 0, Ledger::kNow), 20'000);
  EXPECT_EQ(Slots(Piece(20'000)), 1u);
  EXPECT_EQ(Slots(Piece(20'001)), 0u);
  EXPECT_EQ(cluster_.Usage(piece), Resources({0, 0, 250}));
  EXPECT_EQ(cluster_.Usage(half), Resources({0, 0, 500}));
}

TEST_F(ClusterDevicesTest, ByteByByteMemoryStillMakesADeviceUsed) {
  Add(GpuNode("a", 2));
  EXPECT_EQ(Slots(Piece(1)), 1000u) << "the limit";
  EXPECT_EQ(Take(Piece(1)), DeviceSet({0}));
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), 1000) << "rounded down";
  EXPECT_EQ(Slots(Whole(1)), 1u) << "but not wholly free";
  EXPECT_EQ(Take(Piece(1)), DeviceSet({0})) << "so it is the tighter one";
  EXPECT_EQ(Slots(Fraction(1000)), 1u);
}

TEST_F(ClusterDevicesTest, OddMemoryIsRoundedDownWithoutOverflow) {
  Node node = GpuNode("a", 1);
  node.devices[0].memory_bytes = (int64_t{1} << 42) - 1;
  Add(node);
  MustTake(cluster_, n_, Fraction(333));
  EXPECT_EQ(
      node.devices[0].memory_bytes - cluster_.free_memory(n_, 0, Ledger::kNow),
      1464549488197)
      << "floor of .333 x that";
  EXPECT_EQ(Slots(Fraction(333)), 2u);
  MustTake(cluster_, n_, Piece((int64_t{1} << 42) / 3));
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), 1000 - 2 * 333);
}

TEST_F(ClusterDevicesTest, AMemoryShareNeedsAKnownMemory) {
  Node node = GpuNode("a", 2);
  node.devices[0].memory_bytes = 0;
  Add(node);
  EXPECT_EQ(Slots(Piece(40'000)), 2u) << "both on the second device";
  EXPECT_EQ(Take(Piece(40'000)), DeviceSet({1}));
  EXPECT_EQ(Slots(Fraction(500)), 3u);
  EXPECT_EQ(Take(Whole(1)), DeviceSet({0}));
  EXPECT_FALSE(cluster_.Fits({n_, Piece(1), {0}}, Ledger::kNow));
}

TEST_F(ClusterDevicesTest, WholeDevicesComeFromOneIsland) {
  Node node = GpuNode("a", 8);
  for (int d = 0; d < 8; ++d) node.devices[size_t(d)].island = d % 2;
  Add(node);
  EXPECT_EQ(Take(Whole(3)), DeviceSet({0, 2, 4}));
  EXPECT_EQ(Take(Whole(1)), DeviceSet({6})) << "the broken island first";
  EXPECT_EQ(Take(Whole(2)), DeviceSet({1, 3}));
  EXPECT_EQ(Slots(Whole(1)), 2u);
}

TEST_F(ClusterDevicesTest, NumaNodesCountWhereNoIslandIsKnown) {
  Node node = GpuNode("a", 4);
  for (size_t d : {0u, 3u}) node.devices[d].numa = 1;
  for (size_t d : {1u, 2u}) node.devices[d].numa = 0;
  Add(node);
  EXPECT_EQ(Take(Whole(2)), DeviceSet({0, 3}));
  EXPECT_EQ(Take(Whole(2)), DeviceSet({1, 2}));
}

TEST_F(ClusterDevicesTest, AnUnhealthyDeviceOffersNothing) {
  Node node = GpuNode("a", 4);
  node.devices[1].healthy = false;
  Add(node);
  EXPECT_EQ(Slots(Whole(1)), 3u);
  EXPECT_EQ(Slots(Whole(4)), 0u);
  EXPECT_EQ(Slots(Fraction(500)), 6u);
  EXPECT_EQ(cluster_.free_milli(n_, 1, Ledger::kNow), 0);
  EXPECT_EQ(cluster_.free_memory(n_, 1, Ledger::kNow), 0);
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 3000);
  EXPECT_EQ(cluster_.capacity(n_, kGpu), 4000);
  EXPECT_EQ(Take(Whole(2)), DeviceSet({0, 2}));
  EXPECT_FALSE(cluster_.Fits({n_, Whole(1), {1}}, Ledger::kNow));
}

TEST_F(ClusterDevicesTest, HealthComesAndGoesUnderARunningTask) {
  Node node = GpuNode("a", 2);
  Add(node);
  const Allocation task = MustTake(cluster_, n_, Whole(1));
  node.devices[0].healthy = false;
  Add(node);
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 1000);
  EXPECT_FALSE(cluster_.Overcommitted(n_)) << "what runs may stay";
  cluster_.Credit(task, Ledger::kBoth);
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 1000);
  EXPECT_EQ(Slots(Whole(1)), 1u);
  node.devices[0].healthy = true;
  Add(node);
  EXPECT_EQ(Slots(Whole(2)), 1u);
  EXPECT_TRUE(cluster_.Validate().ok());
}

TEST_F(ClusterDevicesTest, OnlyTheAskedModelsAreUsed) {
  Node node = GpuNode("a", 4);
  node.devices[1].model = node.devices[3].model = "A100";
  Add(node);
  Role role = GpuRole(1);
  role.shape.devices.models = {"A100", "B200"};
  const ShapeId a100 = cluster_.Intern(role, 0);
  EXPECT_EQ(Slots(a100), 2u);
  EXPECT_EQ(Take(a100), DeviceSet({1}));
  role.shape.devices.milli = 500;
  EXPECT_EQ(Slots(cluster_.Intern(role, 0)), 2u);
  EXPECT_EQ(Take(Whole(1)), DeviceSet({0}));
  role.shape.devices.models = {"B200"};
  EXPECT_FALSE(cluster_.Admits(n_, cluster_.Intern(role, 0)));
}

TEST_F(ClusterDevicesTest, OthersHoldSharesOfDevices) {
  Add(GpuNode("a", 2));
  cluster_.SetExternalUsage(
      n_, {.node = "a", .devices = {{0, 500, 0}, {7, 1000, 0}}});
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kLater), 500);
  EXPECT_EQ(cluster_.free_memory(n_, 0, Ledger::kLater), 40'000)
      << "memory in proportion, where it was not said";
  EXPECT_EQ(Slots(Whole(1)), 1u);
  cluster_.SetExternalUsage(n_, {.node = "a", .devices = {{0, 1500, 1}}});
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), -500);
  EXPECT_TRUE(cluster_.Overcommitted(n_));
  EXPECT_EQ(Slots(Fraction(500)), 2u)
      << "the other device is as free as it was";
  cluster_.SetExternalUsage(n_, {.node = "a"});
  EXPECT_EQ(Slots(Whole(1)), 2u);
}

TEST_F(ClusterDevicesTest, RealityMayOvercommitADevice) {
  Add(GpuNode("a", 2));
  const Allocation first{n_, Whole(1), {0}};
  const Allocation second{n_, Fraction(300), {0}};
  cluster_.Charge(first, Ledger::kBoth);
  cluster_.Charge(second, Ledger::kBoth);
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), -300);
  EXPECT_TRUE(cluster_.Overcommitted(n_));
  EXPECT_EQ(Slots(Whole(1)), 1u);
  cluster_.Credit(first, Ledger::kBoth);
  EXPECT_FALSE(cluster_.Overcommitted(n_));
}

// The first 64 devices of a node are kept apart from the others.
TEST_F(ClusterDevicesTest, ANodeWithManyDevicesIsLikeAnyOther) {
  Node node = GpuNode("a", 80);
  for (size_t d = 0; d < 80; ++d) {
    node.devices[d].island = static_cast<int32_t>(d / 40);
    if (d % 40 < 4) node.devices[d].rail = static_cast<int32_t>(d % 40);
  }
  node.devices[79].healthy = false;
  Add(node);
  EXPECT_EQ(Slots(Whole(1)), 79u);
  EXPECT_EQ(Slots(Whole(40)), 1u);
  EXPECT_EQ(cluster_.free_devices(n_, Ledger::kBoth), 79u);
  EXPECT_EQ(cluster_.free_milli(n_, 64, Ledger::kBoth), 1000);
  EXPECT_EQ(cluster_.free_milli(n_, 79, Ledger::kBoth), 0);
  EXPECT_EQ(cluster_.free_milli(n_, 80, Ledger::kBoth), 0) << "no such";
  const Allocation many = MustTake(cluster_, n_, Whole(30));
  EXPECT_EQ(many.devices, DeviceSet::FirstOf(70) - DeviceSet::FirstOf(40))
      << "the smallest island with enough";
  EXPECT_EQ(cluster_.Rails(many), 0b1111u);
  EXPECT_EQ(Take(Whole(2)), DeviceSet({70, 71}));
  EXPECT_EQ(Take(Fraction(300)), DeviceSet({0}));
  EXPECT_EQ(Take(Whole(39)), DeviceSet::FirstOf(40) - DeviceSet({0}));
  EXPECT_EQ(Take(Fraction(800)), DeviceSet({72}));
  EXPECT_EQ(cluster_.free_milli(n_, 72, Ledger::kNow), 200);
  EXPECT_EQ(Slots(Whole(1)), 6u) << "73 to 78";
  cluster_.Credit(many, Ledger::kNow);
  EXPECT_EQ(cluster_.free_devices(n_, Ledger::kNow), 36u);
  EXPECT_EQ(Slots(Whole(30)), 0u) << "later it is still taken";
  EXPECT_TRUE(cluster_.Fits({n_, Whole(2), {40, 69}}, Ledger::kNow));
  EXPECT_FALSE(cluster_.Fits({n_, Whole(2), {40, 70}}, Ledger::kNow));
  EXPECT_FALSE(cluster_.Fits({n_, Whole(1), {80}}, Ledger::kNow)) << "no such";
  EXPECT_TRUE(cluster_.Validate().ok());
}

TEST_F(ClusterDevicesTest, ANodeMayGrowBeyond64DevicesAndShrinkAgain) {
  Add(GpuNode("a", 8));
  const Allocation task{n_, Whole(8), DeviceSet::FirstOf(8)};
  cluster_.Charge(task, Ledger::kBoth);
  Add(GpuNode("a", 100));
  EXPECT_EQ(Slots(Whole(1)), 92u) << "what is charged stays";
  EXPECT_EQ(Take(Whole(92)), DeviceSet::FirstOf(100) - task.devices);
  EXPECT_TRUE(cluster_.Validate().ok());
  Add(GpuNode("a", 8));
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 0);
  cluster_.Credit(task, Ledger::kBoth);
  Add(GpuNode("a", 100));
  EXPECT_EQ(Slots(Whole(100)), 1u) << "new devices are free";
}

TEST_F(ClusterDevicesTest, ANodeMayHaveAsManyAsASetHolds) {
  constexpr uint32_t kMost = DeviceSet::kCapacity;
  Add(GpuNode("a", kMost));
  EXPECT_EQ(Slots(Whole(1)), kMost);
  EXPECT_EQ(Slots(Whole(kMost + 1)), 0u);
  EXPECT_EQ(Slots(Fraction(500, kMost)), 2u);
  EXPECT_EQ(Take(Fraction(500, kMost)), DeviceSet::FirstOf(kMost));
  EXPECT_EQ(Take(Fraction(500, kMost)), DeviceSet::FirstOf(kMost));
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 0);
}

}  // namespace
}  // namespace muster
