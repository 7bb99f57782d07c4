// A histogram of durations.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace muster::serve {

// Not synchronised.
class Histogram {
 public:
  // `bounds`: upper ends of the buckets, in seconds, rising; a last one without
  // an end is added.
  explicit Histogram(std::vector<double> bounds);

  // One more of so many seconds. O(log buckets).
  void Add(double seconds);

  std::span<const double> bounds() const { return bounds_; }
  // How many lay at or below bounds()[i] and above the one before; the last one
  // is above all.
  std::span<const uint64_t> counts() const { return counts_; }
  uint64_t count() const { return count_; }
  double sum() const { return sum_; }

 private:
  std::vector<double> bounds_;
  std::vector<uint64_t> counts_;
  uint64_t count_ = 0;
  double sum_ = 0;
};

}  // namespace muster::serve
