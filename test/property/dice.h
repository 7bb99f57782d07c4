// A small generator whose numbers are the same on every machine.
#pragma once

#include <cstdint>

namespace muster {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}

  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t x = state_;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  // 0 .. below - 1.
  uint32_t Below(uint32_t below) {
    return static_cast<uint32_t>(Next() % below);
  }
  // low .. high.
  int64_t In(int64_t low, int64_t high) {
    return low +
           static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }
  // True once in `n`.
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  // For what is rolled without a change of what this one rolls next.
  Dice Aside() const { return Dice(state_); }

 private:
  uint64_t state_;
};

}  // namespace muster
