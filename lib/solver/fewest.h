// How many numbers, the largest first, add up to a sum.
#pragma once

#include <cstdint>
#include <span>

#include "lib/base/fraction.h"
#include "lib/index/scan.h"

namespace muster::solver {

// Of the values that reach `tasks` together, the largest first: what is above
// `edge` is needed, and some at it.
struct Edge {
  uint32_t edge = 0;
  index::AboveCount above{};
};

// All of the values reach `tasks`; `most` is the largest. The sum fits into 32
// bits. O(n log most).
template <class T>
Edge EdgeOf(std::span<const T> values, uint32_t most, uint32_t tasks) {
  // What is above `low` reaches the tasks, what is above `high` does not.
  uint32_t low = 0, high = most;
  index::AboveCount above;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    const index::AboveCount now = index::SumAbove(values, middle);
    if (now.sum < tasks) {
      high = middle;
      above = now;
    } else {
      low = middle;
    }
  }
  return {high, above};
}

// How many of them it takes.
template <class T>
uint32_t Fewest(std::span<const T> values, uint32_t most, uint32_t tasks) {
  const auto [edge, above] = EdgeOf(values, most, tasks);
  return above.count +
         static_cast<uint32_t>(CeilDiv<uint64_t>(tasks - above.sum, edge));
}

}  // namespace muster::solver
