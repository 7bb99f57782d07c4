// Means of few runs, and what may be said of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace muster::inprocess {

// The value that a variable with Student's t distribution exceeds, up or down,
// with a probability of 5 %. To three digits behind the point. degrees >= 1.
double StudentT95(uint64_t degrees);

// Of no values: 0.
double MeanOf(std::span<const double> values);

// The mean of differences between pairs, and its 95 % confidence interval: that
// of the mean of independent, normally distributed values. No interval for less
// than two.
struct PairedDifference {
  double mean = 0;
  std::optional<double> half_width{};  // mean -+ this.

  double low() const { return mean - half_width.value_or(0); }
  double high() const { return mean + half_width.value_or(0); }
};
// other[i] - base[i]; as many of one as of the other. Differences that are
// rounding errors of their operands count as 0.
PairedDifference PairedDifferenceOf(std::span<const double> base,
                                    std::span<const double> other);

}  // namespace muster::inprocess
