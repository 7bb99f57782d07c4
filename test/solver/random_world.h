// Small random clusters and gangs, for tests that ask thousands of questions.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "muster/gang.h"
#include "test/solver/world.h"

namespace muster::solver_test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  // From 0 to limit - 1.
  uint32_t Below(uint32_t limit) {
    return static_cast<uint32_t>(engine_() % limit);
  }
  uint32_t Between(uint32_t low, uint32_t high) {
    return low + Below(high - low + 1);
  }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

 private:
  std::mt19937_64 engine_;
};

struct Limits {
  uint32_t nodes = 6;
  uint32_t devices = 3;
  uint32_t roles = 2;
  uint32_t tasks = 3;  // Of a role.
  bool groups = false;
  bool slices = false;
  bool spreads = false;
  bool shares = false;
  bool elastic = false;
  bool traffic = false;
  bool alternatives = false;
  bool preferences = false;
};

// The topology of random nodes: "net", of blocks and racks.
std::vector<Topology> TwoLevels();
std::vector<NodeSpec> RandomNodes(Random& random, const Limits& limits);
Gang RandomGang(Random& random, const Limits& limits);
// Takes devices away, whole and in part.
void UseSome(Random& random, World& w);
// Of the tasks held, each goes with even odds, half of the time with its node.
void LoseHalf(Random& random, World& w);

}  // namespace muster::solver_test
