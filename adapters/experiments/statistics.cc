#include "adapters/experiments/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace muster::inprocess {
namespace {

constexpr std::array<double, 30> kStudentT95 = {
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
constexpr double kNormal95 = 1.959964;
constexpr double kRounding = 1e-9;  // Of the larger operand.

}  // namespace

double StudentT95(uint64_t degrees) {
  if (degrees <= kStudentT95.size()) {
    return kStudentT95[std::max<uint64_t>(1, degrees) - 1];
  }
  // The expansion in 1/degrees around the normal distribution (Abramowitz and
  // Stegun, 26.7.5), to the second order.
  const double n = static_cast<double>(degrees);
  const double z = kNormal95;
  return z + (std::pow(z, 3) + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n);
}

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

PairedDifference PairedDifferenceOf(std::span<const double> base,
                                    std::span<const double> other) {
  std::vector<double> differences(base.size());
  for (size_t i = 0; i < base.size(); ++i) {
    const double least =
        kRounding * std::max(std::abs(base[i]), std::abs(other[i]));
    const double d = other[i] - base[i];
    differences[i] = std::abs(d) <= least ? 0 : d;
  }
  PairedDifference result{.mean = MeanOf(differences)};
  if (differences.size() < 2) return result;
  double squares = 0;
  for (const double d : differences) {
    squares += (d - result.mean) * (d - result.mean);
  }
  const double n = static_cast<double>(differences.size());
  const double error = std::sqrt(squares / (n - 1) / n);
  result.half_width = StudentT95(differences.size() - 1) * error;
  return result;
}

}  // namespace muster::inprocess
