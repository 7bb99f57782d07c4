#include "adapters/kubernetes/client/clock.h"

#include <chrono>

namespace muster::kubernetes::client {

Millis SteadyNow() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace muster::kubernetes::client
