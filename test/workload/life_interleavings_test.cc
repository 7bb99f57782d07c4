// Everything that can happen to small jobs, in every order.
#include <gtest/gtest.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "test/workload/life_moves.h"

namespace muster::workload {
namespace {

#ifndef MUSTER_LIFE_DEPTH
#define MUSTER_LIFE_DEPTH 9
#endif
constexpr int kDepth = MUSTER_LIFE_DEPTH;
// Beyond this, the rest of a depth is left to the random histories.
constexpr size_t kMostStates = 60'000;

class LifeInterleavingsTest : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(SmallJobs, LifeInterleavingsTest,
                         testing::Range<size_t>(0, SmallJobs().size()));

TEST_P(LifeInterleavingsTest, NoOrderOfEventsBreaksAnInvariant) {
  const auto life = Life::Make(SmallJobs()[GetParam()]);
  ASSERT_TRUE(life.ok()) << life.status();
  // From the moment when all have their places.
  LifeHost first(&*life);
  first.Submit();
  first.PlaceAll();
  std::vector<LifeHost> frontier{first};
  std::unordered_set<std::string> seen{first.Key()};
  size_t steps = 0;
  for (int depth = 1; depth <= kDepth && !frontier.empty(); ++depth) {
    std::vector<LifeHost> next;
    for (const LifeHost& host : frontier) {
      for (const Move& move : Moves(host, /*all=*/false)) {
        LifeHost after = host;
        after.At(move.at);
        after.Tell(move.event);
        ++steps;
        ASSERT_EQ(after.problem(), "")
            << "at depth " << depth << ", event " << move.event.index()
            << ", phase " << Name(host.phase()) << " to "
            << Name(after.phase());
        if (seen.insert(after.Key()).second && next.size() < kMostStates) {
          next.push_back(std::move(after));
        }
      }
    }
    frontier = std::move(next);
    RecordProperty("states_at_depth_" + std::to_string(depth),
                   static_cast<int>(frontier.size()));
  }
  std::printf("job %zu: %zu states, %zu steps\n", GetParam(), seen.size(),
              steps);
}

}  // namespace
}  // namespace muster::workload
