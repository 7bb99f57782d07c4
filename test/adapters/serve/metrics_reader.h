// Metrics in Prometheus' text format, read strictly. For tests.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::serve {

struct MetricSample {
  std::string name{};
  std::map<std::string, std::string> labels{};  // Unescaped.
  double value = 0;
};

struct MetricFamily {
  std::string type{};
  std::vector<MetricSample> samples{};
};

// INVALID_ARGUMENT tells the line that breaks a rule of the format: each family
// begins once with HELP and TYPE, its samples follow it, are finite in number
// and named after it, no two are alike, names consist of what names may,
// counters end in _total and are not negative, histograms add up.
absl::StatusOr<std::map<std::string, MetricFamily>> ReadMetrics(
    std::string_view text);

}  // namespace muster::serve
