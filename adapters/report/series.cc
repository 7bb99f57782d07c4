#include "adapters/report/series.h"

#include <algorithm>

namespace muster::inprocess {

BucketSeries::BucketSeries(size_t sums, size_t maxima, size_t max_buckets)
    : sums_(sums),
      maxima_(maxima),
      max_buckets_(max_buckets),
      cells_((sums + maxima) * max_buckets, 0) {}

void BucketSeries::Begin(Time origin) {
  begun_ = true;
  origin_ = origin;
}

void BucketSeries::Halve() {
  const size_t n = columns();
  for (size_t b = 0; b < count_; ++b) {
    double* from = &cells_[b * n];
    double* to = &cells_[b / 2 * n];
    if (b == 0) continue;
    for (size_t c = 0; c < n; ++c) {
      if (b % 2 == 0) {
        to[c] = from[c];
      } else if (c < sums_) {
        to[c] += from[c];
      } else {
        to[c] = std::max(to[c], from[c]);
      }
    }
  }
  const size_t kept = (count_ + 1) / 2;
  std::fill(cells_.begin() + static_cast<ptrdiff_t>(kept * n),
            cells_.begin() + static_cast<ptrdiff_t>(count_ * n), 0.0);
  count_ = kept;
  width_ *= 2;
}

size_t BucketSeries::BucketOf(Time t) {
  const auto bucket = [&] {
    return static_cast<size_t>((t - origin_) / width_);
  };
  while (bucket() >= max_buckets_) Halve();
  count_ = std::max(count_, bucket() + 1);
  return bucket();
}

void BucketSeries::AddAt(Time at, size_t column, double amount) {
  if (!begun_ || at < origin_) return;
  cells_[BucketOf(at) * columns() + column] += amount;
}

void BucketSeries::AddOver(Time from, Time to, std::span<const double> rates,
                           std::span<const double> levels) {
  if (!begun_) return;
  from = std::max(from, origin_);
  if (from >= to) return;
  BucketOf(to - 1);
  while (from < to) {
    const size_t bucket = BucketOf(from);
    const Time end =
        std::min(to, origin_ + static_cast<Time>(bucket + 1) * width_);
    const double seconds = static_cast<double>(end - from) / kSecond;
    double* row = &cells_[bucket * columns()];
    for (size_t c = 0; c < sums_; ++c) row[c] += seconds * rates[c];
    for (size_t c = 0; c < maxima_; ++c) {
      row[sums_ + c] = std::max(row[sums_ + c], levels[c]);
    }
    from = end;
  }
}

}  // namespace muster::inprocess
