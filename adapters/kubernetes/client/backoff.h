// Waits between tries that double, with jitter from a seed.
#pragma once

#include <cstdint>

#include "adapters/kubernetes/client/clock.h"

namespace muster::kubernetes::client {

struct BackoffOptions {
  Millis first = 200;
  Millis most = 30'000;
  // So that clients that failed together do not come back together. Equal
  // seeds give equal waits.
  uint64_t seed = 1;
};

// A number that depends on `seed` and `count` alone, well spread.
uint64_t Mixed(uint64_t seed, uint64_t count);

// The wait after `failures` (1 or more) of them in turn: between half of and
// the whole of min(most, first * 2^(failures - 1)) milliseconds; `roll` varies
// it.
Millis BackoffWait(const BackoffOptions& options, int failures, uint64_t roll);

// Not thread-safe. All functions take O(1).
class Backoff {
 public:
  explicit Backoff(BackoffOptions options) : options_(options) {}

  // After a failure: the wait before the next try.
  Millis Next() { return BackoffWait(options_, ++failures_, rolls_++); }
  // A try went well.
  void Reset() { failures_ = 0; }
  int failures() const { return failures_; }

 private:
  BackoffOptions options_;
  int failures_ = 0;
  uint64_t rolls_ = 0;
};

}  // namespace muster::kubernetes::client
