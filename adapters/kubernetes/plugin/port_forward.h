// A port of this machine that leads to a pod: `kubectl port-forward` as a child
// process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/plugin/token.h"

namespace muster::kubernetes::plugin {

// The port of "Forwarding from 127.0.0.1:43210 -> 8080"; 0: the line is another
// one. Pure.
uint16_t ForwardedPort(std::string_view line);

// One at a time in a process: it is ended by SIGINT, SIGTERM and SIGHUP too,
// for which it sets handlers.
class PortForward {
 public:
  // Waits until the port is there. UNAVAILABLE: kubectl cannot be started, ends
  // or is silent for `timeout`; what it says goes to the standard error.
  static absl::StatusOr<std::unique_ptr<PortForward>> Start(
      const Kubectl& kubectl, const std::string& namespace_name,
      const std::string& pod, uint16_t port, client::Millis timeout);
  // Ends it.
  ~PortForward();
  PortForward(const PortForward&) = delete;
  PortForward& operator=(const PortForward&) = delete;

  // Of 127.0.0.1.
  uint16_t port() const { return port_; }
  pid_t pid() const { return pid_; }

 private:
  PortForward(pid_t pid, int out) : pid_(pid), out_(out) {}
  absl::Status AwaitPort(client::Millis until);

  const pid_t pid_;
  const int out_;
  uint16_t port_ = 0;
};

}  // namespace muster::kubernetes::plugin
