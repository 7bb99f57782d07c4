// Is what threads saw of a priority heap what one thread could have seen? The
// search is complete: "no" is a proof, and so is "yes".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::test {

inline constexpr int kNobody = -1;

// One call, from `start` to `end` on a clock that all threads share and that
// never gives one time twice. Nodes are known by numbers.
struct HeapCall {
  enum Kind { kPush, kPop, kPopMany, kPeek, kErase, kReprioritize, kSize };

  Kind kind = kPush;
  int node = kNobody;        // Given: kPush, kErase, kReprioritize.
  int key = 0;               // Given: kPush, kReprioritize.
  size_t most = 0;           // Given: kPopMany.
  bool found = false;        // Answered: kErase, kReprioritize.
  std::vector<int> nodes{};  // Answered: kPop, kPopMany, kPeek; maybe none.
  size_t size = 0;           // Answered: kSize.
  uint64_t start = 0;
  // kNever: the call did not return. It may have taken effect, or not; only
  // for kPush.
  static constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t end = 0;
};

// Whether the calls, at most 64, can be put in an order in which each takes
// effect between its start and its end, and all answers are those of a strict
// priority queue, least key first and first in, first out among equals. (After
// Wing and Gong, "Testing and Verifying Concurrent Objects", 1993; states that
// were met before are passed over, as Lowe, "Testing for Linearizability",
// 2017, does.)
bool Linearizable(const std::vector<HeapCall>& calls);

std::string Print(const std::vector<HeapCall>& calls);

}  // namespace muster::test
