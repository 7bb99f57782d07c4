// Stories of partitions: slots of a device, cuts of the host, what shares a
// device and what does not.

#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "test/cluster/cluster_fixture.h"

namespace muster {
namespace {

using ::testing::Pair;

Role PartitionRole(std::string profile) {
  Role role;
  role.shape.devices = {.count = 1};
  role.shape.devices.partition = std::move(profile);
  return role;
}

class ClusterPartitionsTest : public ::testing::Test {
 protected:
  void Add(Node node) { n_ = cluster_.Upsert(node).index; }
  // A node with such devices, cut as tasks ask for it.
  static Node MigNode(size_t devices) {
    Node node = GpuNode("a", devices);
    for (Device& d : node.devices) d.partition_scheme = "a100-80gb";
    return node;
  }
  ShapeId Part(const std::string& profile) {
    return cluster_.Intern(PartitionRole(profile), 0);
  }
  ShapeId Whole() { return cluster_.Intern(GpuRole(1), 0); }
  ShapeId Half() { return cluster_.Intern(GpuRole(1, 500), 0); }
  uint32_t Slots(ShapeId shape, Ledger ledger = Ledger::kBoth) {
    return cluster_.Slots(n_, shape, ledger, 1000);
  }
  // Device and first slice.
  std::pair<uint32_t, uint32_t> Take(const std::string& profile) {
    const Allocation a = MustTake(cluster_, n_, Part(profile));
    EXPECT_EQ(a.devices.size(), 1u);
    return {a.devices.first(), a.first_slice};
  }

  Cluster cluster_{3, kGpu, {}, CommonPartitionSchemes()};
  NodeIndex n_ = 0;
};

TEST_F(ClusterPartitionsTest, ADeviceHoldsAsManyAsItsSlotsSay) {
  Add(MigNode(2));
  EXPECT_EQ(Slots(Part("1g.10gb")), 14u);
  EXPECT_EQ(Slots(Part("1g.20gb")), 8u);
  EXPECT_EQ(Slots(Part("2g.20gb")), 6u);
  EXPECT_EQ(Slots(Part("3g.40gb")), 4u);
  EXPECT_EQ(Slots(Part("4g.40gb")), 2u);
  EXPECT_EQ(Slots(Part("7g.80gb")), 2u);
  EXPECT_EQ(Slots(Part("1g.5gb")), 0u) << "of another scheme";
  EXPECT_EQ(Slots(Part("no such")), 0u);
  EXPECT_FALSE(cluster_.Admits(n_, Part("1g.5gb")));
}

TEST_F(ClusterPartitionsTest, SlicesDecideNotTheirNumber) {
  Add(MigNode(1));
  cluster_.Charge({n_, Part("1g.10gb"), {0}, 1}, Ledger::kBoth);
  EXPECT_EQ(cluster_.busy_slices(n_, 0, Ledger::kBoth), 0b10u);
  EXPECT_EQ(Slots(Part("4g.40gb")), 0u) << "it begins at 0 only";
  EXPECT_EQ(Slots(Part("3g.40gb")), 1u);
  EXPECT_EQ(Slots(Part("2g.20gb")), 2u);
  EXPECT_EQ(Slots(Part("1g.10gb")), 6u);
  EXPECT_FALSE(cluster_.Fits({n_, Part("3g.40gb"), {0}, 0}, Ledger::kNow));
  EXPECT_FALSE(cluster_.Fits({n_, Part("3g.40gb"), {0}, 2}, Ledger::kNow));
  EXPECT_FALSE(cluster_.Fits({n_, Part("3g.40gb"), {0}, 77}, Ledger::kNow));
  EXPECT_TRUE(cluster_.Fits({n_, Part("3g.40gb"), {0}, 4}, Ledger::kNow));
}

// A host that put both there put one of them somewhere else.
TEST_F(ClusterPartitionsTest, NothingIsOpenWhereTwoLieOnTheSameSlices) {
  Add(MigNode(1));
  const ShapeId part = Part("2g.20gb");
  cluster_.Charge({n_, part, {0}, 0}, Ledger::kBoth);
  cluster_.Charge({n_, part, {0}, 0}, Ledger::kBoth);
  EXPECT_EQ(Slots(part), 0u);
  EXPECT_FALSE(cluster_.Fits({n_, part, {0}, 4}, Ledger::kNow));
  cluster_.Credit({n_, part, {0}, 0}, Ledger::kNow);
  EXPECT_EQ(Slots(part, Ledger::kNow), 2u);
  EXPECT_EQ(Slots(part), 0u) << "they do later";
  EXPECT_TRUE(cluster_.Fits({n_, part, {0}, 4}, Ledger::kNow));
}

TEST_F(ClusterPartitionsTest, TheLeastOfWhatCouldStillComeIsLost) {
  Add(MigNode(2));
  EXPECT_THAT(Take("1g.10gb"), Pair(0, 6)) << "4g and 3g at 0 stay whole";
  EXPECT_THAT(Take("1g.10gb"), Pair(0, 4))
      << "the used half, and 2g at 4 goes with 3g";
  EXPECT_THAT(Take("4g.40gb"), Pair(0, 0)) << "the used device";
  EXPECT_THAT(Take("1g.10gb"), Pair(0, 5));
  EXPECT_EQ(cluster_.busy_slices(n_, 0, Ledger::kNow), 0b0111'1111u);
  EXPECT_THAT(Take("7g.80gb"), Pair(1, 0)) << "that is what was kept";
  EXPECT_EQ(Slots(Part("1g.10gb")), 0u) << "slice 7 starts nothing";
}

TEST_F(ClusterPartitionsTest, ADeviceIsCutOrSharedNotBoth) {
  Add(MigNode(2));
  const Allocation part = MustTake(cluster_, n_, Part("2g.20gb"));
  EXPECT_EQ(part.devices, DeviceSet({0}));
  EXPECT_EQ(cluster_.split_devices(n_, Ledger::kNow), DeviceSet({0}));
  EXPECT_EQ(Slots(Half()), 2u) << "both on the other device";
  EXPECT_EQ(Slots(Whole()), 1u);
  EXPECT_FALSE(cluster_.Fits({n_, Half(), {0}}, Ledger::kNow));
  const Allocation half = MustTake(cluster_, n_, Half());
  EXPECT_EQ(half.devices, DeviceSet({1}));
  EXPECT_EQ(Slots(Part("1g.10gb")), 5u) << "all on the cut device";
  cluster_.Credit(part, Ledger::kBoth);
  EXPECT_EQ(Slots(Part("1g.10gb")), 7u);
  EXPECT_EQ(Slots(Whole()), 1u) << "whole again";
  cluster_.Credit(half, Ledger::kBoth);
  EXPECT_EQ(Slots(Whole()), 2u);
  EXPECT_TRUE(cluster_.Validate().ok());
}

TEST_F(ClusterPartitionsTest, WhatTheHostHasCutIsGivenAwayAsItIs) {
  Node node = MigNode(2);
  node.devices[1].partitions = {{"3g.40gb", 0}, {"2g.20gb", 4}, {"1g.10gb", 6}};
  Add(node);
  EXPECT_EQ(Slots(Whole()), 1u);
  EXPECT_EQ(Slots(Half()), 2u);
  EXPECT_EQ(Slots(Part("3g.40gb")), 3u);
  EXPECT_EQ(Slots(Part("1g.10gb")), 8u);
  EXPECT_THAT(Take("1g.10gb"), Pair(1, 6)) << "no other placement is lost";
  EXPECT_THAT(Take("3g.40gb"), Pair(1, 0));
  EXPECT_FALSE(cluster_.Fits({n_, Part("1g.10gb"), {1}, 4}, Ledger::kNow))
      << "free, but cut otherwise";
  node.devices[0].partitions = {{"7g.80gb", 0}};
  Add(node);
  EXPECT_FALSE(cluster_.Admits(n_, Part("4g.40gb")));
  EXPECT_TRUE(cluster_.Admits(n_, Part("2g.20gb")));
  EXPECT_EQ(cluster_.PartitionCapacity(n_, Part("1g.10gb")), 1u);
  EXPECT_EQ(Slots(Whole()), 0u);
}

TEST_F(ClusterPartitionsTest, PartitionsAreUsageLikeAnyOther) {
  Add(MigNode(1));
  const Allocation a = MustTake(cluster_, n_, Part("3g.40gb"));
  EXPECT_EQ(cluster_.Usage(a), Resources({0, 0, 428}));
  EXPECT_EQ(cluster_.demand(a.shape), Resources({0, 0, 428}));
  EXPECT_EQ(cluster_.free(n_, kGpu, Ledger::kNow), 572);
  EXPECT_EQ(cluster_.free_memory(n_, 0, Ledger::kNow), 40'000);
  EXPECT_EQ(cluster_.free_milli(n_, 0, Ledger::kNow), 572);
  EXPECT_EQ(a.devices, DeviceSet({0}));
  EXPECT_EQ(a.first_slice, 4u);
}

TEST_F(ClusterPartitionsTest, LedgersHaveSlotsOfTheirOwn) {
  Add(MigNode(1));
  const Allocation whole = MustTake(cluster_, n_, Whole());
  cluster_.Credit(whole, Ledger::kLater);  // Being released.
  const ShapeId part = Part("4g.40gb");
  EXPECT_EQ(Slots(part), 0u);
  EXPECT_EQ(Slots(part, Ledger::kLater), 1u);
  const Allocation nominated = MustTake(cluster_, n_, part, Ledger::kLater);
  EXPECT_FALSE(cluster_.Fits(nominated, Ledger::kNow));
  EXPECT_FALSE(cluster_.Overcommitted(n_, Ledger::kBoth));
  cluster_.Credit(whole, Ledger::kNow);
  EXPECT_TRUE(cluster_.Fits(nominated, Ledger::kNow));
  EXPECT_EQ(Slots(Whole(), Ledger::kNow), 1u);
  EXPECT_EQ(Slots(Whole()), 0u);
}

TEST_F(ClusterPartitionsTest, RealityMayPutTwoIntoOneSlot) {
  Add(MigNode(1));
  const Allocation first{n_, Part("2g.20gb"), {0}, 2};
  const Allocation second{n_, Part("1g.10gb"), {0}, 3};
  cluster_.Charge(first, Ledger::kBoth);
  cluster_.Charge(second, Ledger::kBoth);
  EXPECT_TRUE(cluster_.Overcommitted(n_));
  EXPECT_EQ(cluster_.clashing_devices(n_, Ledger::kLater), DeviceSet({0}));
  cluster_.Credit(first, Ledger::kBoth);
  EXPECT_FALSE(cluster_.Overcommitted(n_));
  EXPECT_EQ(cluster_.busy_slices(n_, 0, Ledger::kNow), 0b1000u);
  cluster_.Charge({n_, Half(), {0}}, Ledger::kBoth);
  EXPECT_TRUE(cluster_.Overcommitted(n_)) << "cut and shared";
}

TEST_F(ClusterPartitionsTest, OthersHoldPartitionsToo) {
  Add(MigNode(1));
  cluster_.SetExternalUsage(
      n_,
      {.node = "a",
       .devices = {{.device = 0, .partition = "3g.40gb", .first_slice = 0}}});
  EXPECT_EQ(Slots(Part("4g.40gb")), 0u);
  EXPECT_EQ(Slots(Part("3g.40gb")), 1u);
  EXPECT_EQ(Slots(Whole()), 0u);
  cluster_.SetExternalUsage(n_, {.node = "a"});
  EXPECT_EQ(Slots(Whole()), 1u);
}

// The documented order, worked out the long way: every place on every device,
// every placement of every profile before and after.
TEST_F(ClusterPartitionsTest, TheChoiceIsTheOneOfTheDocumentedOrder) {
  const PartitionScheme scheme = CommonPartitionSchemes()[1];
  const auto places = [&](uint64_t* weighted) {
    std::map<std::string, uint32_t> slots;
    *weighted = 0;
    for (const PartitionProfile& p : scheme.profiles) {
      std::vector<Allocation> all;
      cluster_.PartitionPlaces(n_, Part(p.name), Ledger::kBoth, &all);
      *weighted += all.size() * p.memory_slices;
      slots[p.name] = Slots(Part(p.name));
    }
    return slots;
  };
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Add(MigNode(3));
    std::vector<Allocation> held;
    for (int step = 0; step < 40; ++step) {
      if (!held.empty() && random() % 3 == 0) {
        const size_t i = random() % held.size();
        cluster_.Credit(held[i], Ledger::kBoth);
        held.erase(held.begin() + static_cast<ptrdiff_t>(i));
        continue;
      }
      const std::string& profile = scheme.profiles[random() % 6].name;
      std::vector<Allocation> all;
      cluster_.PartitionPlaces(n_, Part(profile), Ledger::kBoth, &all);
      uint64_t before = 0;
      const uint32_t slots = places(&before)[profile];
      std::tuple<bool, uint64_t, int> best{true, ~uint64_t{0}, 99};
      Allocation expected;
      for (const Allocation& at : all) {
        const Cluster::Mark mark = cluster_.Begin();
        const auto d = at.devices.first();
        const int busy =
            std::popcount(cluster_.busy_slices(n_, d, Ledger::kBoth));
        cluster_.Charge(at, Ledger::kBoth);
        uint64_t after = 0;
        const bool wasteful = places(&after)[profile] + 1 < slots;
        cluster_.Rollback(mark);
        const std::tuple rank{wasteful, before - after, 8 - busy};
        if (rank < best) {
          best = rank;
          expected = at;
        }
      }
      Allocation chosen;
      ASSERT_EQ(cluster_.Take(n_, Part(profile), Ledger::kBoth, &chosen),
                !all.empty());
      if (all.empty()) continue;
      ASSERT_EQ(chosen, expected);
      held.push_back(chosen);
    }
    for (const Allocation& at : held) cluster_.Credit(at, Ledger::kBoth);
    ASSERT_EQ(Slots(Whole()), 3u);
  }
}

}  // namespace
}  // namespace muster
