// Conversations with a real API server, as test/kube/record_traffic.py has
// written them down: that script describes the format.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/transport.h"
#include "test/adapters/kubernetes_client/recorded_transport.h"

namespace muster::kubernetes::client {

// A request, and what the server said to it.
struct Exchange {
  std::string method{};
  std::string path{};
  std::string body{};
  int status = 0;
  std::optional<Millis> retry_after{};
  std::string answer{};
};

// In their order. NOT_FOUND: no such file; INVALID_ARGUMENT names a line that
// is none of the format's.
absl::StatusOr<std::vector<Exchange>> ReadTraffic(const std::string& file);

// The answer in pieces of so many bytes.
Recording ToRecording(const Exchange& exchange, size_t piece);

// The request as "METHOD PATH", without how long a watch is to last, which a
// client chooses at random.
std::string Asked(const std::string& method, const std::string& path);

}  // namespace muster::kubernetes::client
