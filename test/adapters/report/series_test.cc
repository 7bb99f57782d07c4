#include "adapters/report/series.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace muster::inprocess {
namespace {

constexpr size_t kBuckets = 64;

TEST(BucketSeriesTest, AStretchOfTimeIsSharedOutAmongItsBuckets) {
  BucketSeries s(1, 1, kBuckets);
  s.Begin(10 * kSecond);
  // Long enough that one bucket is wider than a second.
  s.AddOver(10 * kSecond, 110 * kSecond, std::array{3.0}, std::array{7.0});
  EXPECT_LE(s.size(), kBuckets);
  double sum = 0;
  for (size_t b = 0; b < s.size(); ++b) {
    sum += s.sum(b, 0);
    EXPECT_EQ(s.maximum(b, 0), 7);
  }
  EXPECT_NEAR(sum, 300, 1e-9);
  EXPECT_NEAR(s.sum(0, 0), 3 * static_cast<double>(s.width()) / kSecond, 1e-9);
}

TEST(BucketSeriesTest, WhatLiesBeforeTheBeginningIsLeftOut) {
  BucketSeries s(1, 0, kBuckets);
  s.AddOver(0, kSecond, std::array{1.0}, {});
  s.AddAt(0, 0, 1);
  EXPECT_EQ(s.size(), 0U);
  s.Begin(5 * kSecond);
  s.AddAt(4 * kSecond, 0, 1);
  s.AddOver(0, 6 * kSecond, std::array{1.0}, {});
  double sum = 0;
  for (size_t b = 0; b < s.size(); ++b) sum += s.sum(b, 0);
  EXPECT_NEAR(sum, 1, 1e-9);
}

// Every bucket is what the stretches inside it add up to, however often
// neighbours were merged on the way.
TEST(BucketSeriesTest, AMillionStretchesStayBoundedAndNothingIsLost) {
  constexpr unsigned kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937_64 random(kSeed);
  BucketSeries s(2, 1, kBuckets);
  s.Begin(0);
  struct Stretch {
    Time from, to;
    double level;
  };
  std::vector<Stretch> all;
  Time now = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    const Time to = now + static_cast<Time>(1 + random() % (3 * kSecond));
    const double level = static_cast<double>(random() % 100);
    s.AddOver(now, to, std::array{level, 0.0}, std::array{level});
    s.AddAt(now, 1, 1);
    all.push_back({now, to, level});
    now = to;
  }
  ASSERT_LE(s.size(), kBuckets);
  EXPECT_GT(s.size(), kBuckets / 2);
  std::vector<double> sums(s.size()), counts(s.size()), maxima(s.size());
  for (const Stretch& x : all) {
    const size_t last = static_cast<size_t>((x.to - 1) / s.width());
    ++counts[static_cast<size_t>(x.from / s.width())];
    for (size_t b = static_cast<size_t>(x.from / s.width()); b <= last; ++b) {
      const Time begin = static_cast<Time>(b) * s.width();
      const Duration inside =
          std::min(x.to, begin + s.width()) - std::max(x.from, begin);
      sums[b] += x.level * static_cast<double>(inside) / kSecond;
      maxima[b] = std::max(maxima[b], x.level);
    }
  }
  for (size_t b = 0; b < s.size(); ++b) {
    EXPECT_NEAR(s.sum(b, 0), sums[b], 1e-6 * sums[b] + 1e-6) << b;
    EXPECT_EQ(s.sum(b, 1), counts[b]) << b;
    EXPECT_EQ(s.maximum(b, 0), maxima[b]) << b;
  }
}

}  // namespace
}  // namespace muster::inprocess
