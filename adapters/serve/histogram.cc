#include "adapters/serve/histogram.h"

#include <algorithm>
#include <utility>

namespace muster::serve {

Histogram::Histogram(std::vector<double> bounds)
    : bounds_(std::move(bounds)), counts_(bounds_.size() + 1) {}

void Histogram::Add(double seconds) {
  const auto bucket = std::ranges::lower_bound(bounds_, seconds);
  ++counts_[static_cast<size_t>(bucket - bounds_.begin())];
  ++count_;
  sum_ += seconds;
}

}  // namespace muster::serve
