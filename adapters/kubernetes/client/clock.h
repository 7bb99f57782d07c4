// Time in this library: whole milliseconds that the caller passes in.
#pragma once

#include <cstdint>
#include <limits>

namespace muster::kubernetes::client {

// A time on the local monotonic clock, or a span. Times of two machines are
// never compared.
using Millis = int64_t;

inline constexpr Millis kNever = std::numeric_limits<Millis>::max();

// std::chrono::steady_clock, which is what transports measure by. Thread-safe.
Millis SteadyNow();

// a + b for b >= 0, or kNever where that is later than any time.
constexpr Millis Later(Millis a, Millis b) {
  return a > kNever - b ? kNever : a + b;
}

}  // namespace muster::kubernetes::client
