// Means and intervals of a few runs, against values worked out by hand.
#include "adapters/experiments/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace muster::inprocess {
namespace {

using Values = std::vector<double>;

TEST(StatisticsTest, StudentsQuantilesAreThoseOfTheTables) {
  EXPECT_DOUBLE_EQ(StudentT95(1), 12.706);
  EXPECT_DOUBLE_EQ(StudentT95(4), 2.776);
  EXPECT_DOUBLE_EQ(StudentT95(30), 2.042);
  // Beyond the table it is computed; what other tables have.
  EXPECT_NEAR(StudentT95(31), 2.0395, 5e-4);
  EXPECT_NEAR(StudentT95(40), 2.0211, 5e-4);
  EXPECT_NEAR(StudentT95(60), 2.0003, 5e-4);
  EXPECT_NEAR(StudentT95(120), 1.9799, 5e-4);
  EXPECT_NEAR(StudentT95(1'000'000), 1.95996, 5e-5);
}

TEST(StatisticsTest, MoreRunsNeverWidenTheQuantile) {
  for (uint64_t n = 1; n < 200; ++n) {
    EXPECT_LE(StudentT95(n + 1), StudentT95(n)) << n;
  }
}

TEST(StatisticsTest, AnIntervalByHand) {
  // Differences 1, 2, 3, 4: mean 2.5, variance 5/3, standard error
  // sqrt(5/12), times 3.182 for three degrees of freedom.
  const PairedDifference d =
      PairedDifferenceOf(Values{10, 20, 30, 40}, Values{11, 22, 33, 44});
  EXPECT_DOUBLE_EQ(d.mean, 2.5);
  ASSERT_TRUE(d.half_width.has_value());
  EXPECT_NEAR(*d.half_width, 3.182 * 0.6454972244, 1e-9);
  EXPECT_NEAR(d.low(), 0.446, 1e-3);
  EXPECT_NEAR(d.high(), 4.554, 1e-3);
}

TEST(StatisticsTest, PairsCancelWhatInputsHaveInCommon) {
  // Inputs that differ much, variants that differ little, and always by 1.
  const PairedDifference d =
      PairedDifferenceOf(Values{5, 500, 50000}, Values{6, 501, 50001});
  EXPECT_DOUBLE_EQ(d.mean, 1);
  EXPECT_NEAR(*d.half_width, 0, 1e-9);
}

TEST(StatisticsTest, OnePairHasNoInterval) {
  const PairedDifference d = PairedDifferenceOf(Values{3}, Values{1});
  EXPECT_DOUBLE_EQ(d.mean, -2);
  EXPECT_FALSE(d.half_width.has_value());
  EXPECT_DOUBLE_EQ(d.low(), -2);
  EXPECT_DOUBLE_EQ(d.high(), -2);
}

TEST(StatisticsTest, RoundingErrorsAreNoDifference) {
  const double third = 1.0 / 3;
  const PairedDifference d = PairedDifferenceOf(
      Values{third, 1e9}, Values{std::nextafter(third, 1), 1e9});
  EXPECT_EQ(d.mean, 0);
  EXPECT_EQ(*d.half_width, 0);
}

TEST(StatisticsTest, TheMeanOfNothingIsZero) {
  EXPECT_EQ(MeanOf({}), 0);
  EXPECT_DOUBLE_EQ(MeanOf(Values{1, 2, 6}), 3);
}

}  // namespace
}  // namespace muster::inprocess
