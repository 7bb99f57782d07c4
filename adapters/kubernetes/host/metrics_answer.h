// What /metrics answers.
#pragma once

#include <string>

#include "adapters/kubernetes/host/host.h"

namespace muster::kubernetes {

// Queues that have samples of their own; the others are told together.
inline constexpr size_t kMostMetricQueues = 500;

// All that a replica tells, as Prometheus reads it; `start` is when the process
// began, in seconds since 1970. On the host's thread;
// O(queues + classes of waiting gangs).
std::string MetricsAnswer(const Host& host, double start);

}  // namespace muster::kubernetes
