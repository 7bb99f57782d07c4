// Random histories of a scheduler and its host; the design's invariants are
// checked after every step.
//
// MUSTER_SEED=n runs the one history of that seed; MUSTER_EVENTS=n changes how
// many steps are taken in all; MUSTER_ROUND=n runs as many histories that
// follow on those of round n - 1. The usual round is 0.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "test/property/dice.h"
#include "test/property/shrink.h"
#include "test/property/world.h"

namespace muster {
namespace {

constexpr uint32_t kStepsPerHistory = 100;
constexpr uint32_t kShards = 4;
constexpr uint32_t kSteps = 100'000;

// Dice of neighbouring seeds roll the same, one of them a step later: what is
// made of a seed is made of what they roll first.
uint64_t Rolled(uint64_t seed) { return Dice(seed).Next(); }

std::vector<Op> History(uint64_t seed) {
  Dice dice(Rolled(seed) ^ 0x5bd1e995);
  std::vector<Op> history;
  for (uint32_t i = 0; i < kStepsPerHistory; ++i) {
    history.push_back(RandomOp(dice));
  }
  return history;
}

// The invariant that the history breaks, if any.
std::string InvariantBroken(uint64_t seed, const std::vector<Op>& history) {
  World world(Rolled(seed), false);
  for (const Op& op : history) world.Step(op);
  world.Finish();
  return world.invariant();
}

// The shortest history found that breaks the same invariant, told step by step.
std::string Tale(uint64_t seed, const std::string& invariant) {
  const std::vector<Op> shortest =
      Shrink(History(seed), [&](const std::vector<Op>& trial) {
        return InvariantBroken(seed, trial) == invariant;
      });
  World world(Rolled(seed), true);
  for (const Op& op : shortest) world.Step(op);
  world.Finish();
  return world.failure() + "\nMUSTER_SEED=" + std::to_string(seed) + ", " +
         std::to_string(shortest.size()) + " steps:\n" + world.log();
}

class SchedulerHistories : public ::testing::TestWithParam<uint32_t> {};

TEST_P(SchedulerHistories, KeepTheInvariants) {
  uint64_t first = 1 + uint64_t{1'000'000} * GetParam();
  uint32_t steps = kSteps / kShards;
  if (const char* all = std::getenv("MUSTER_EVENTS")) {
    steps = static_cast<uint32_t>(std::atoi(all)) / kShards;
  }
  uint64_t histories = steps / kStepsPerHistory;
  if (const char* round = std::getenv("MUSTER_ROUND")) {
    first += histories * std::strtoull(round, nullptr, 10);
  }
  if (const char* seed = std::getenv("MUSTER_SEED")) {
    if (GetParam() > 0) GTEST_SKIP() << "one seed, in the first shard";
    first = std::strtoull(seed, nullptr, 10);
    histories = 1;
  }
  std::cout << "seeds " << first << " to " << first + histories - 1 << "\n";
  const bool keep_going = std::getenv("MUSTER_KEEP_GOING") != nullptr;
  for (uint64_t seed = first; seed < first + histories; ++seed) {
    const std::string invariant = InvariantBroken(seed, History(seed));
    if (invariant.empty()) continue;
    if (keep_going) {
      ADD_FAILURE() << invariant << ": MUSTER_SEED=" << seed;
      continue;
    }
    FAIL() << Tale(seed, invariant);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, SchedulerHistories,
                         ::testing::Range(0u, kShards));

}  // namespace
}  // namespace muster
