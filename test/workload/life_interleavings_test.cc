// Everything that can happen to small jobs, in every order of kDepth events.
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
// A job with more states at a depth is too large for this test.
constexpr size_t kMostStates = 200'000;

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
        // Those of the last depth are gone on from no more.
        if (seen.insert(after.Key()).second && depth < kDepth) {
          next.push_back(std::move(after));
        }
      }
    }
    ASSERT_LE(next.size(), kMostStates) << "at depth " << depth;
    frontier = std::move(next);
    RecordProperty("states_at_depth_" + std::to_string(depth),
                   static_cast<int>(frontier.size()));
  }
  std::printf("job %zu: %zu states, %zu steps\n", GetParam(), seen.size(),
              steps);
}

}  // namespace
}  // namespace muster::workload
