#include "lib/cluster/device_choice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

using Masks = std::vector<uint64_t>;

uint32_t CountBits(uint64_t mask) {
  return static_cast<uint32_t>(std::popcount(mask));
}

// Up to eight devices of a node, as bits: easy to read and to enumerate. Bit i
// is device `places[i]`.
struct Eight {
  std::array<uint32_t, 8> places{0, 1, 2, 3, 4, 5, 6, 7};

  DeviceSet Of(uint64_t mask) const {
    DeviceSet set;
    ForEachBit(mask, [&](uint32_t i) { set.Insert(places[i]); });
    return set;
  }
  std::vector<DeviceSet> Of(const Masks& masks) const {
    std::vector<DeviceSet> sets;
    for (const uint64_t mask : masks) sets.push_back(Of(mask));
    return sets;
  }
  uint64_t Choose(uint64_t usable, const Masks& islands, const Masks& numa,
                  uint32_t count, uint64_t aligned = 0) const {
    const std::vector<DeviceSet> i = Of(islands);
    const std::vector<DeviceSet> n = Of(numa);
    const DeviceSet set = ChooseWhole(Of(usable), {i, n, Of(aligned)}, count);
    uint64_t chosen = 0;
    for (uint32_t d = 0; d < places.size(); ++d) {
      chosen |= uint64_t{set.Contains(places[d])} << d;
    }
    EXPECT_EQ(set, Of(chosen));
    return chosen;
  }
};

TEST(DeviceChoiceTest, TheSmallestSufficientGroupIsBrokenInto) {
  const Masks groups = {0b1111, 0b1111'0000};
  const Masks all = {0b1111'1111};
  const Eight e;
  for (const auto& [i, n] : {std::pair(groups, all), std::pair(all, groups)}) {
    EXPECT_EQ(e.Choose(0b1111'1111, i, n, 2), 0b11u) << "equal: lowest";
    EXPECT_EQ(e.Choose(0b0111'1111, i, n, 2), 0b11'0000u) << "3 before 4";
    EXPECT_EQ(e.Choose(0b0001'1111, i, n, 2), 0b11u) << "1 is not enough";
    EXPECT_EQ(e.Choose(0b0001'1111, i, n, 1), 0b1'0000u);
  }
}

TEST(DeviceChoiceTest, WhereNoGroupSufficesTheFewestAreUsed) {
  const Masks g = {0b11, 0b1100, 0b1111'0000};
  const Eight e;
  EXPECT_EQ(e.Choose(0b1111'1111, g, g, 6), 0b1111'0011u);
  EXPECT_EQ(e.Choose(0b1111'1101, g, g, 5), 0b1111'0001u)
      << "the rest goes where it is tightest";
  EXPECT_EQ(e.Choose(0b1111'1111, g, g, 9), 0u);
  EXPECT_EQ(e.Choose(0, g, g, 1), 0u);
}

TEST(DeviceChoiceTest, AnIslandGoesBeforeANumaNodeAndBothBeforeRails) {
  const Masks islands = {0b0000'1111, 0b1111'0000};
  const Masks numa = {0b0000'0011, 0b0011'1100, 0b1100'0000};
  const Eight e;
  EXPECT_EQ(e.Choose(0b0011'1111, islands, numa, 2), 0b11'0000u);
  EXPECT_EQ(e.Choose(0b0001'1110, islands, numa, 2), 0b1100u)
      << "one island, though devices 3 and 4 share a NUMA node, too";
  EXPECT_EQ(e.Choose(0b0001'1010, islands, numa, 2), 0b1010u);
  EXPECT_EQ(e.Choose(0b1111'1111, islands, numa, 2, 0b0101'0000), 0b0011'0000u)
      << "one NUMA node before two aligned devices";
  EXPECT_EQ(e.Choose(0b1111'1111, islands, numa, 1, 0b0000'1001), 0b0001u);
  EXPECT_EQ(e.Choose(0b0011'1111, islands, numa, 1, 0b0000'1000), 0b1000u)
      << "an aligned one before the tighter island";
}

// The documented order, worked out over all sets of devices, which may lie
// anywhere among the devices that a node can have.
TEST(DeviceChoiceTest, TheDocumentedOrderDecides) {
  constexpr uint32_t kDevices = 8;
  for (uint32_t seed = 0; seed < 4000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto groups = [&] {
      Masks all;
      std::vector<uint32_t> label(kDevices);
      const uint32_t labels = 1 + random() % 4;
      for (uint32_t& l : label) l = random() % labels;
      for (uint32_t d = 0; d < kDevices; ++d) {
        uint64_t group = 0;
        for (uint32_t e = 0; e < kDevices; ++e) {
          if (label[e] == label[d]) group |= uint64_t{1} << e;
        }
        if ((group & ((uint64_t{1} << d) - 1)) == 0) all.push_back(group);
      }
      return all;
    };
    const Masks islands = groups();
    const Masks numa = groups();
    const uint64_t usable = random() % 256;
    const uint64_t aligned = random() % 2 == 0 ? 0 : random() % 256;
    const uint32_t count = 1 + random() % 4;
    const auto used = [](const Masks& all, uint64_t set) {
      return std::count_if(all.begin(), all.end(),
                           [&](uint64_t g) { return (g & set) != 0; });
    };
    // The group in which a set lies, if it lies in one.
    const auto home = [](const Masks& all, uint64_t set) {
      for (const uint64_t g : all) {
        if ((g & set) != 0) return g;
      }
      return uint64_t{0};
    };
    const auto around = [&](uint64_t set) {
      return CountBits(home(islands, set) & usable);
    };
    const auto around_inside = [&](uint64_t set) {
      return CountBits(home(islands, set) & home(numa, set) & usable);
    };
    Masks sets;
    for (uint64_t set = 1; set < 256; ++set) {
      if ((set & ~usable) == 0 && CountBits(set) == count) sets.push_back(set);
    }
    Eight eight;
    if (random() % 2 == 0) {
      std::vector<uint32_t> all(DeviceSet::kCapacity);
      std::iota(all.begin(), all.end(), 0u);
      std::ranges::sample(all, eight.places.begin(), kDevices, random);
    }
    const uint64_t chosen = eight.Choose(usable, islands, numa, count, aligned);
    ASSERT_EQ(chosen == 0, sets.empty());
    if (sets.empty()) continue;
    ASSERT_EQ(CountBits(chosen), count);
    ASSERT_EQ(chosen & ~usable, 0u);
    const auto first = [](const Masks& all, uint64_t set) {
      return std::find_if(all.begin(), all.end(),
                          [&](uint64_t g) { return (g & set) != 0; }) -
             all.begin();
    };
    // Lowest numbers: of two sets the one with the lowest device they do not
    // share, as it is for reversed bits.
    const auto rank = [&](uint64_t set) {
      uint64_t reversed = 0;
      ForEachBit(set, [&](uint32_t d) { reversed |= uint64_t{128} >> d; });
      return std::tuple(used(islands, set), used(numa, set),
                        count - CountBits(set & aligned), around(set),
                        around_inside(set), first(islands, set),
                        first(numa, set), 256 - reversed);
    };
    uint64_t best = sets[0];
    for (const uint64_t set : sets) {
      if (rank(set) < rank(best)) best = set;
    }
    ASSERT_EQ(used(islands, chosen), used(islands, best));
    if (used(islands, best) > 1) continue;
    ASSERT_EQ(used(numa, chosen), used(numa, best));
    if (used(numa, best) > 1) continue;
    // Aligned ones come before lower numbers, the lowest of them first.
    ASSERT_EQ(CountBits(chosen & aligned), CountBits(best & aligned));
    ASSERT_EQ(around(chosen), around(best));
    if (aligned == 0) {
      ASSERT_EQ(chosen, best);
    }
  }
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
    const uint32_t stride = 1 + random() % 16;
    for (uint32_t d = 0; d < 1 + random() % 8; ++d) {
      const uint32_t slots = 1 + random() % 6;
      devices.push_back({d * stride, slots, static_cast<int32_t>(slots * 100)});
    }
    const uint32_t count = 1 + random() % 4;
    uint32_t left = MaxTasks(devices, count, 1000);
    EXPECT_EQ(left, MaxTasksByGreed(devices, count, 1000));
    EXPECT_EQ(MaxTasks(devices, count, 2), std::min(left, 2u));
    for (; left > 0; --left) {
      const DeviceSet chosen = ChooseShared(devices, count);
      ASSERT_EQ(chosen.size(), count);
      for (SharedDevice& d : devices) {
        if (!chosen.Contains(d.device)) continue;
        --d.slots;
        d.free_milli -= 100;
      }
      std::erase_if(devices, [](auto& d) { return d.slots == 0; });
    }
    EXPECT_TRUE(ChooseShared(devices, count).empty());
  }
}

TEST(DeviceChoiceTest, AlmostFullDevicesArePreferredWhereItCostsNothing) {
  std::vector<SharedDevice> devices = {
      {0, 10, 1000, 0}, {1, 2, 200, 0}, {2, 5, 500, 0}};
  EXPECT_EQ(ChooseShared(devices, 1), DeviceSet({1}));
  // Two distinct ones a task: 7 tasks need device 0 in every task.
  EXPECT_EQ(MaxTasks(devices, 2, 100), 7u);
  EXPECT_EQ(ChooseShared(devices, 2), DeviceSet({0, 1}));
}

}  // namespace
}  // namespace muster
