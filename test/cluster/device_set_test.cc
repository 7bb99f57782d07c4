#include "muster/device_set.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <ranges>
#include <set>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

std::vector<uint32_t> Numbers(DeviceSet devices) {
  std::vector<uint32_t> numbers;
  std::ranges::copy(devices, std::back_inserter(numbers));
  return numbers;
}

static_assert(sizeof(DeviceSet) == 16);
static_assert(std::forward_iterator<DeviceSet::Iterator>);
static_assert(std::ranges::forward_range<DeviceSet>);
static_assert(DeviceSet{0, 64}.size() == 2, "usable in constants");

TEST(DeviceSetTest, IsEmptyUntilDevicesAreInserted) {
  DeviceSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.size(), 0u);
  EXPECT_EQ(set.first(), DeviceSet::kCapacity);
  EXPECT_TRUE(set.begin() == set.end());
  for (const uint32_t d : {63u, 64u, 127u, 64u}) set.Insert(d);
  EXPECT_THAT(Numbers(set), ElementsAre(63, 64, 127));
  EXPECT_EQ(set.first(), 63u);
  set.Erase(63);
  set.Erase(5);
  EXPECT_EQ(set, DeviceSet({64, 127}));
  EXPECT_EQ(set.first(), 64u);
}

TEST(DeviceSetTest, NumbersBeyondTheCapacityAreInNoSet) {
  DeviceSet set = {3, DeviceSet::kCapacity, DeviceSet::kCapacity + 64, ~0u};
  EXPECT_THAT(Numbers(set), ElementsAre(3));
  for (const uint32_t d : {DeviceSet::kCapacity, 192u, 1u << 31, ~0u}) {
    EXPECT_FALSE(DeviceSet::FirstOf(~0u).Contains(d)) << d;
    set.Erase(d);
  }
  EXPECT_THAT(Numbers(set), ElementsAre(3));
}

TEST(DeviceSetTest, FirstOfAreTheLowest) {
  for (uint32_t count = 0; count <= DeviceSet::kCapacity; ++count) {
    const DeviceSet set = DeviceSet::FirstOf(count);
    ASSERT_EQ(set.size(), count);
    ASSERT_FALSE(set.Contains(count));
    ASSERT_TRUE(count == 0 || set.Contains(count - 1));
  }
}

TEST(DeviceSetTest, IsMadeOfAListAndTellsOne) {
  EXPECT_EQ(DeviceSet::Of(std::vector<uint32_t>{70, 3, 3}), (DeviceSet{3, 70}));
  EXPECT_EQ((DeviceSet{70, 3}).ToList(), (std::vector<uint32_t>{3, 70}));
  EXPECT_TRUE(DeviceSet{}.ToList().empty());
}

TEST(DeviceSetTest, ItsWordsAreItself) {
  const DeviceSet set = DeviceSet::OfWords(1, 1);
  EXPECT_THAT(Numbers(set), ElementsAre(0, 64));
  DeviceSet copy;
  copy.word(0) = set.word(0);
  EXPECT_NE(copy, set);
  copy.word(1) = set.word(1);
  EXPECT_EQ(copy, set);
}

// Against std::set.
TEST(DeviceSetTest, IsWhatASetOfNumbersIs) {
  using Set = std::set<uint32_t>;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto some = [&](Set* numbers) {
      DeviceSet set;
      const uint32_t most = random() % 3 == 0 ? 64 : DeviceSet::kCapacity;
      for (uint32_t i = random() % 100; i > 0; --i) {
        const uint32_t d = random() % most;
        set.Insert(d);
        numbers->insert(d);
      }
      return set;
    };
    Set x, y, both, either, only_x;
    const DeviceSet a = some(&x);
    const DeviceSet b = some(&y);
    std::ranges::set_intersection(x, y, std::inserter(both, both.end()));
    std::ranges::set_union(x, y, std::inserter(either, either.end()));
    std::ranges::set_difference(x, y, std::inserter(only_x, only_x.end()));
    ASSERT_THAT(Numbers(a), ElementsAreArray(x));
    ASSERT_THAT(Numbers(a & b), ElementsAreArray(both));
    ASSERT_THAT(Numbers(a | b), ElementsAreArray(either));
    ASSERT_THAT(Numbers(a - b), ElementsAreArray(only_x));
    ASSERT_EQ(a.size(), x.size());
    ASSERT_EQ(a == b, x == y);
    ASSERT_EQ(a.Intersects(b), !both.empty());
    ASSERT_EQ(a.ContainsAll(b), std::ranges::includes(x, y));
    // The highest number decides, as for two integers.
    ASSERT_EQ(a < b, std::ranges::lexicographical_compare(
                         std::views::reverse(x), std::views::reverse(y)));
  }
}

}  // namespace
}  // namespace muster
