// Numbers that look random.
#pragma once

#include <cstdint>

namespace muster::preempt {

// A fixed sequence (Knuth, MMIX): equal questions, equal answers.
class Dice {
 public:
  explicit Dice(uint64_t seed = 0) : state_(seed) {}

  // From 0 to limit - 1; 0 < limit < 2^31.
  uint32_t Below(uint64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>((state_ >> 33) % limit);
  }

 private:
  uint64_t state_;
};

}  // namespace muster::preempt
