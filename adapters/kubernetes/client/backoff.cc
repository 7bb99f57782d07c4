#include "adapters/kubernetes/client/backoff.h"

#include <algorithm>

namespace muster::kubernetes::client {

// SplitMix64.
uint64_t Mixed(uint64_t seed, uint64_t count) {
  uint64_t x = seed + (count + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Millis BackoffWait(const BackoffOptions& options, int failures, uint64_t roll) {
  constexpr int kMostDoublings = 20;
  const int doublings = std::clamp(failures - 1, 0, kMostDoublings);
  const Millis whole =
      std::clamp<Millis>(options.first << doublings, 1, options.most);
  return whole - static_cast<Millis>(Mixed(options.seed, roll) %
                                     static_cast<uint64_t>(whole / 2 + 1));
}

}  // namespace muster::kubernetes::client
