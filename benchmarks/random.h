// Equal choices in every run.
#pragma once

#include <cstdint>

namespace muster::bench {

// splitmix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // From 0 to limit - 1.
  uint32_t Below(uint32_t limit) {
    return static_cast<uint32_t>(((*this)() >> 32) * limit >> 32);
  }

 private:
  uint64_t state_;
};

}  // namespace muster::bench
