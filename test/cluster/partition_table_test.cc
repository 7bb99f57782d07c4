#include "lib/cluster/partition_table.h"

#include <algorithm>
#include <bit>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The most starts, all subsets tried, of which no two partitions overlap.
uint32_t MostByTrying(const PartitionExtent& extent, SliceMask free) {
  std::vector<uint32_t> starts;
  for (uint32_t s = 0; s < PartitionScheme::kMaxSlices; ++s) {
    if ((extent.starts >> s & 1) == 0) continue;
    if ((extent.At(s) & ~free) == 0) starts.push_back(s);
  }
  int most = 0;
  for (uint32_t set = 0; set < 1u << starts.size(); ++set) {
    SliceMask taken = 0;
    bool apart = true;
    for (size_t i = 0; i < starts.size(); ++i) {
      if ((set >> i & 1) == 0) continue;
      apart = apart && (taken & extent.At(starts[i])) == 0;
      taken |= extent.At(starts[i]);
    }
    if (apart) most = std::max(most, std::popcount(set));
  }
  return static_cast<uint32_t>(most);
}

TEST(PieceTest, StartsAreFreeWhereAllItsSlicesAre) {
  const PartitionExtent three{.slices = 3, .milli = 1, .starts = 0b11'1111};
  EXPECT_EQ(FreeStarts(three, 0b1111'1111), 0b11'1111u);
  EXPECT_EQ(FreeStarts(three, 0b1110'0111), 0b10'0001u);
  EXPECT_EQ(FreeStarts(three, 0b1101'1011), 0u);
  const PartitionExtent all{.slices = 16, .milli = 1, .starts = 1};
  EXPECT_EQ(FreeStarts(all, 0xffff), 1u);
  EXPECT_EQ(FreeStarts(all, 0xfeff), 0u);
}

TEST(PieceTest, EarliestFirstIsTheMost) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const uint32_t slices = 1 + random() % PartitionScheme::kMaxSlices;
    const uint32_t length = 1 + random() % slices;
    const SliceMask starts =
        random() & ((SliceMask{1} << (slices - length + 1)) - 1);
    const PartitionExtent extent{
        .slices = length, .milli = 1, .starts = starts};
    const SliceMask free = (random() | random()) & 0xffff;
    ASSERT_EQ(MostPartitions(extent, free), MostByTrying(extent, free))
        << "try " << i << " of seed 7";
  }
}

TEST(PartitionTableTest, ProfilesOfOneNameAreOne) {
  const PartitionTable table(CommonPartitionSchemes());
  EXPECT_NE(table.Find("1g.10gb"), kNoProfile);
  EXPECT_EQ(table.Find("1g.11gb"), kNoProfile);
  EXPECT_THAT(table.SchemesWith("1g.10gb"),
              ElementsAre("a100-40gb", "a100-80gb", "h100-80gb"));
  EXPECT_THAT(table.SchemesWith("1g.5gb"), ElementsAre("a100-40gb"));
  EXPECT_THAT(table.SchemesWith("8g"), IsEmpty());
  EXPECT_EQ(table.LeastMilli(table.Find("2g.10gb")), 285);
}

TEST(PartitionTableTest, DevicesThatAreCutAlikeShareACut) {
  PartitionTable table(CommonPartitionSchemes());
  Device device;
  EXPECT_EQ(table.Intern(device), PartitionTable::kNoLayout);
  device.partition_scheme = "unheard-of";
  EXPECT_EQ(table.Intern(device), PartitionTable::kNoLayout);
  device.partition_scheme = "a100-40gb";
  const uint32_t open = table.Intern(device);
  EXPECT_EQ(table.Intern(device), open);
  EXPECT_FALSE(table[open].fixed);
  EXPECT_EQ(table[open].extents[table.Find("2g.10gb")].starts, 0b10101u);
  EXPECT_EQ(table[open].extents[table.Find("2g.20gb")].starts, 0u);

  device.partitions = {{"2g.10gb", 2}, {"3g.20gb", 4}};
  const uint32_t fixed = table.Intern(device);
  EXPECT_NE(fixed, open);
  const PartitionTable copy = table;
  EXPECT_TRUE(copy[fixed].fixed);
  EXPECT_EQ(copy[fixed].extents[copy.Find("2g.10gb")].starts, 0b100u);
  EXPECT_EQ(copy[fixed].extents[copy.Find("1g.5gb")].starts, 0u);
}

// As nvidia-smi lists them for these devices.
TEST(CommonPartitionSchemesTest, HoldAsManyInstancesAsTheDeviceDoes) {
  const std::vector<uint32_t> instances = {7, 4, 3, 2, 1, 1};
  for (const PartitionScheme& scheme : CommonPartitionSchemes()) {
    SCOPED_TRACE(scheme.key);
    PartitionTable table({scheme});
    Device device;
    device.partition_scheme = scheme.key;
    const PartitionTable::PartitionLayout& layout = table[table.Intern(device)];
    ASSERT_EQ(scheme.profiles.size(), instances.size());
    for (size_t p = 0; p < instances.size(); ++p) {
      const PartitionExtent& extent =
          layout.extents[table.Find(scheme.profiles[p].name)];
      EXPECT_EQ(MostPartitions(extent, layout.all()), instances[p]);
      EXPECT_LE(extent.milli * static_cast<int32_t>(instances[p]),
                kWholeDevice);
    }
  }
}

}  // namespace
}  // namespace muster
