// Sums over time in a bounded number of buckets of equal width.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "muster/ids.h"

namespace muster::inprocess {

// However long it goes on, there are never more than `max_buckets`: when time
// leaves the last one, neighbours are added up and all get twice as wide. No
// sum is lost by that. Memory O(columns x max_buckets); time O(columns) per
// call and bucket touched. For reading only, hence in floating point.
class BucketSeries {
 public:
  // Columns of sums, and behind them columns of maxima.
  BucketSeries(size_t sums, size_t maxima, size_t max_buckets);

  // Time begins; what lies before is left out. To be called once.
  void Begin(Time origin);
  bool begun() const { return begun_; }

  // At one moment: `amount` more in a column of sums.
  void AddAt(Time at, size_t column, double amount);
  // For all of [from, to): each column of sums grows by rates[column] a second,
  // each column of maxima rises to its level.
  void AddOver(Time from, Time to, std::span<const double> rates,
               std::span<const double> levels);

  Time origin() const { return origin_; }
  Duration width() const { return width_; }
  size_t size() const { return count_; }  // Buckets, up to the last touched.
  double sum(size_t bucket, size_t column) const {
    return cells_[bucket * columns() + column];
  }
  double maximum(size_t bucket, size_t column) const {
    return cells_[bucket * columns() + sums_ + column];
  }

 private:
  size_t columns() const { return sums_ + maxima_; }
  // Makes room for time t; its bucket.
  size_t BucketOf(Time t);
  void Halve();

  size_t sums_;
  size_t maxima_;
  size_t max_buckets_;
  bool begun_ = false;
  Time origin_ = 0;
  Duration width_ = kMillisecond;
  size_t count_ = 0;
  std::vector<double> cells_;  // Row after row; all max_buckets_ of them.
};

}  // namespace muster::inprocess
