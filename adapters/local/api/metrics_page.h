// Metrics for Prometheus.
#pragma once

#include <string>

#include "adapters/local/controller/controller.h"

namespace muster::local {

// Nothing in it is of one job or user. O(queues + jobs).
std::string MetricsPage(const Controller& controller);

}  // namespace muster::local
