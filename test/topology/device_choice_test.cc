#include "lib/topology/device_choice.h"

#include <algorithm>
#include <bit>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(DeviceChoiceTest, BitsAreCounted) {
  std::mt19937_64 random(1);
  EXPECT_EQ(CountBits(0), 0u);
  EXPECT_EQ(CountBits(~uint64_t{0}), 64u);
  for (int i = 0; i < 1000; ++i) {
    const uint64_t x = random() & random();
    EXPECT_EQ(CountBits(x), static_cast<uint32_t>(std::popcount(x)));
  }
}

TEST(DeviceChoiceTest, TheSmallestSufficientGroupIsBrokenInto) {
  const std::vector<uint64_t> groups = {0b1111, 0b1111'0000};
  EXPECT_EQ(ChooseWhole(0b1111'1111, groups, 2), 0b11u) << "equal: lowest";
  EXPECT_EQ(ChooseWhole(0b0111'1111, groups, 2), 0b11'0000u) << "3 before 4";
  EXPECT_EQ(ChooseWhole(0b0001'1111, groups, 2), 0b11u) << "1 is not enough";
  EXPECT_EQ(ChooseWhole(0b0001'1111, groups, 1), 0b1'0000u);
}

TEST(DeviceChoiceTest, WhereNoGroupSufficesTheFewestAreUsed) {
  const std::vector<uint64_t> groups = {0b11, 0b1100, 0b1111'0000};
  EXPECT_EQ(ChooseWhole(0b1111'1111, groups, 6), 0b1111'0011u);
  EXPECT_EQ(ChooseWhole(0b1111'1101, groups, 5), 0b1111'0001u)
      << "the rest goes where it is tightest";
  EXPECT_EQ(ChooseWhole(0b1111'1111, groups, 9), 0u);
  EXPECT_EQ(ChooseWhole(0, groups, 1), 0u);
}

// Greedy by the most slots left is optimal; so it can be the judge.
uint32_t MaxTasksByGreed(std::vector<SharedDevice> devices, uint32_t count,
                         uint32_t limit) {
  uint32_t tasks = 0;
  while (tasks < limit && devices.size() >= count) {
    std::sort(devices.begin(), devices.end(),
              [](auto& a, auto& b) { return a.slots > b.slots; });
    if (devices[count - 1].slots == 0) break;
    for (uint32_t i = 0; i < count; ++i) --devices[i].slots;
    ++tasks;
  }
  return tasks;
}

TEST(DeviceChoiceTest, TightestFirstNeverWastesATask) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<SharedDevice> devices;
    for (uint32_t d = 0; d < 1 + random() % 8; ++d) {
      const uint32_t slots = 1 + random() % 6;
      devices.push_back({d, slots, static_cast<int32_t>(slots * 100), 0});
    }
    const uint32_t count = 1 + random() % 4;
    uint32_t left = MaxTasks(devices, count, 1000);
    EXPECT_EQ(left, MaxTasksByGreed(devices, count, 1000));
    EXPECT_EQ(MaxTasks(devices, count, 2), std::min(left, 2u));
    for (; left > 0; --left) {
      const uint64_t chosen = ChooseShared(devices, count);
      ASSERT_EQ(CountBits(chosen), count);
      for (SharedDevice& d : devices) {
        if ((chosen >> d.device & 1) == 0) continue;
        --d.slots;
        d.free_milli -= 100;
      }
      std::erase_if(devices, [](auto& d) { return d.slots == 0; });
    }
    EXPECT_EQ(ChooseShared(devices, count), 0u);
  }
}

TEST(DeviceChoiceTest, AlmostFullDevicesArePreferredWhereItCostsNothing) {
  std::vector<SharedDevice> devices = {
      {0, 10, 1000, 0}, {1, 2, 200, 0}, {2, 5, 500, 0}};
  EXPECT_EQ(ChooseShared(devices, 1), 0b010u);
  // Two distinct ones a task: 7 tasks need device 0 in every task.
  EXPECT_EQ(MaxTasks(devices, 2, 100), 7u);
  EXPECT_EQ(ChooseShared(devices, 2), 0b011u);
}

}  // namespace
}  // namespace muster
