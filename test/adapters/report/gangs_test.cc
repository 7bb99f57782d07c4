#include "adapters/report/gangs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace muster::inprocess {
namespace {

GangRecord Made(uint32_t number, int64_t gpus, Duration waited,
                uint32_t stops) {
  return {.number = number,
          .key = "g" + std::to_string(number),
          .device_milli = gpus * 1000,
          .waited = waited,
          .stops = stops};
}

TEST(GangSampleTest, AFewGangsAreAllKept) {
  GangSample sample(2);
  for (uint32_t i = 8; i > 0; --i) sample.Offer(Made(i - 1, 0, 0, 0));
  EXPECT_TRUE(sample.complete());
  const auto picks = sample.Picks();
  ASSERT_EQ(picks.size(), 8U);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(picks[i].gang->number, i);
}

// Against a sort of everything.
TEST(GangSampleTest, OfAMillionGangsThoseThatStandOutAreKept) {
  constexpr unsigned kSeed = 3;
  constexpr uint32_t kGangs = 1'000'000;
  constexpr size_t kEach = 50;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  GangSample sample(kEach);
  struct Short {
    int64_t gpus;
    Duration waited;
    uint32_t stops;
  };
  std::vector<Short> all;
  for (uint32_t i = 0; i < kGangs; ++i) {
    const Short g{static_cast<int64_t>(random() % 100'000'000),
                  static_cast<Duration>(random() % kForever),
                  static_cast<uint32_t>(random() % 4'000'000'000)};
    all.push_back(g);
    sample.Offer(Made(i, g.gpus, g.waited, g.stops));
  }
  EXPECT_FALSE(sample.complete());
  EXPECT_EQ(sample.offered(), kGangs);
  const auto picks = sample.Picks();
  EXPECT_LE(picks.size(), kStandings * kEach);
  const auto check = [&](Standing standing, auto value) {
    std::vector<int64_t> best, kept;
    for (const Short& g : all) best.push_back(value(g));
    std::ranges::sort(best, std::greater());
    best.resize(kEach);
    for (const auto& p : picks) {
      if (!p.standing[static_cast<size_t>(standing)]) continue;
      kept.push_back(value(all[p.gang->number]));
    }
    std::ranges::sort(kept, std::greater());
    EXPECT_EQ(kept, best) << Name(standing);
  };
  check(Standing::kLargest, [](const Short& g) { return g.gpus; });
  check(Standing::kWaited, [](const Short& g) { return g.waited; });
  check(Standing::kInterrupted,
        [](const Short& g) { return static_cast<int64_t>(g.stops); });
}

TEST(GangSampleTest, TheLotDependsOnNothingButTheKeys) {
  const auto by_lot = [](bool backwards) {
    GangSample sample(20);
    for (uint32_t i = 0; i < 5000; ++i) {
      sample.Offer(Made(backwards ? 4999 - i : i, 1, 0, 0));
    }
    std::vector<uint32_t> numbers;
    for (const auto& p : sample.Picks()) {
      if (p.standing[static_cast<size_t>(Standing::kByLot)]) {
        numbers.push_back(p.gang->number);
      }
    }
    return numbers;
  };
  const std::vector<uint32_t> numbers = by_lot(false);
  EXPECT_EQ(numbers, by_lot(true));
  ASSERT_EQ(numbers.size(), 20U);
  // From all over: the keys differ in their last digits only.
  EXPECT_LT(numbers.front(), 1500U);
  EXPECT_GT(numbers.back(), 3500U);
}

TEST(GangSampleTest, WhoNeverWaitedOrStoppedHasNoSuchStanding) {
  GangSample sample(1);
  for (uint32_t i = 0; i < 100; ++i) sample.Offer(Made(i, 1, 0, 0));
  for (const auto& p : sample.Picks()) {
    EXPECT_FALSE(p.standing[static_cast<size_t>(Standing::kWaited)]);
    EXPECT_FALSE(p.standing[static_cast<size_t>(Standing::kInterrupted)]);
  }
}

}  // namespace
}  // namespace muster::inprocess
