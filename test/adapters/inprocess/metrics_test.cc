#include "adapters/inprocess/metrics.h"

#include <gtest/gtest.h>

namespace muster::inprocess {
namespace {

TEST(MetricsTest, QuantilesAreElementsOfTheSortedSet) {
  std::vector<Duration> spans;
  for (int i = 100; i > 0; --i) spans.push_back(i * kSecond);
  const Quantiles q = QuantilesOf(&spans);
  EXPECT_EQ(q.count, 100U);
  EXPECT_DOUBLE_EQ(q.mean, 50.5);
  EXPECT_DOUBLE_EQ(q.p50, 51);
  EXPECT_DOUBLE_EQ(q.p90, 91);
  EXPECT_DOUBLE_EQ(q.p99, 100);
  EXPECT_DOUBLE_EQ(q.max, 100);
  std::vector<Duration> none;
  EXPECT_EQ(QuantilesOf(&none).count, 0U);
}

TEST(MetricsTest, SizesAreByDevices) {
  EXPECT_EQ(kSizeNames[SizeOf(0)], "0");
  EXPECT_EQ(kSizeNames[SizeOf(999)], "<1");
  EXPECT_EQ(kSizeNames[SizeOf(1000)], "1");
  EXPECT_EQ(kSizeNames[SizeOf(2000)], "2-4");
  EXPECT_EQ(kSizeNames[SizeOf(8000)], "5-8");
  EXPECT_EQ(kSizeNames[SizeOf(9000)], "9-16");
  EXPECT_EQ(kSizeNames[SizeOf(64'000)], "33-64");
  EXPECT_EQ(kSizeNames[SizeOf(65'000)], ">64");
}

TEST(MetricsTest, UtilisationIsOverTimeFromTheFirstSubmission) {
  Metrics m;
  UsageTotals totals;
  totals.capacity = {4000};
  totals.used = {0};
  m.Advance(100 * kSecond, totals);  // No gang is there yet.
  m.Submitted(100 * kSecond, 0, 0);
  totals.used = {2000};
  m.Advance(150 * kSecond, totals);
  totals.used = {4000};
  m.Advance(200 * kSecond, totals);
  m.Ended(200 * kSecond, {});
  EXPECT_DOUBLE_EQ(m.Utilisation(0), 0.75);
  EXPECT_EQ(m.makespan(), 100 * kSecond);
}

TEST(MetricsTest, DaysAreCountedFromTheFirstSubmission) {
  Metrics m;
  UsageTotals totals;
  totals.capacity = {2000};
  totals.used = {1000};
  m.Submitted(5 * kHour, 1000, 36 * kHour);
  m.Advance(65 * kHour, totals);
  ASSERT_EQ(m.days().size(), 3U);
  EXPECT_DOUBLE_EQ(m.days()[0].offered, 24 * 3600);
  EXPECT_DOUBLE_EQ(m.days()[1].offered, 12 * 3600);
  EXPECT_DOUBLE_EQ(m.days()[2].offered, 0);
  EXPECT_DOUBLE_EQ(m.days()[2].used, 12 * 3600);
  EXPECT_DOUBLE_EQ(m.days()[2].capacity, 24 * 3600);
}

TEST(MetricsTest, FragmentationIsAShareOfWhatIsFree) {
  Metrics m;
  UsageTotals totals;
  totals.capacity = totals.used = {0};
  m.Submitted(0, 4000, 10 * kSecond);
  totals.free_milli = 4000;
  totals.partly_free_milli = 1000;
  totals.whole_free = 3;
  totals.whole_on_free_node = 2;
  m.Advance(10 * kSecond, totals);
  EXPECT_DOUBLE_EQ(m.days()[0].offered, 40);
  EXPECT_DOUBLE_EQ(m.PartlyUsedShare(), 0.25);
  EXPECT_DOUBLE_EQ(m.ScatteredShare(), 1.0 / 3);
}

}  // namespace
}  // namespace muster::inprocess
