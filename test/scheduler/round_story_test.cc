// A round in one pass, and in passes that a budget ends: what one question
// gives back goes to the same gangs in both.
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// By SchedulerConfig::work_budget. Queue "q" may use four devices.
class RoundStory : public ::testing::TestWithParam<uint64_t> {
 protected:
  RoundStory() {
    SchedulerConfig config;
    config.work_budget = GetParam();
    config.replacement_timeout = 100 * kSecond;
    s = Story(config);
    s.HasNode("n1", 2);
    s.HasNode("n2", 8);
    s.HasQueue("q", {GpuQuota({}, 4)});
    s.HasClasses();
  }
  // All that the passes up to the end of the round decide.
  std::vector<std::string> Round() {
    std::vector<std::string> all;
    do {
      for (const std::string& line : s.Pass()) all.push_back(line);
    } while (s.plan().budget_exhausted);
    return all;
  }
  // "x" is stopped on n1, and counts with two devices until it has been. So
  // "big" and "z" behind it are nominated: the queue's limit is in the way.
  void XIsStopped() {
    s.Submit(Job("x", 1, 2, "low"));
    EXPECT_THAT(Round(), ElementsAre("start x: n1"));
    s.AllDone();
    s.Happens(NodeDrained{"n1"});
    EXPECT_THAT(Round(), ElementsAre("evict x"));
    s.Submit(Job("big", 1, 3, "low"));
    EXPECT_THAT(Round(), ElementsAre("nominate big: n2"));
    s.Submit(Job("z", 1, 1, "mid"));
    EXPECT_THAT(Round(), ElementsAre("nominate z: n2"));
  }
  Story s;
};

// "v" would have its quota in the same pass, and keep it.
TEST_P(RoundStory, ANominatedGangStartsBeforeGangsThatWaitAreAskedOn) {
  XIsStopped();
  s.Submit(Job("p", 1, 1, "high"));
  s.Submit(Job("v", 1, 1, "low"));
  EXPECT_THAT(Round(), ElementsAre("evict big for p", "start p: n2",
                                   "start z: n2", "nominate v: n2"));
  EXPECT_THAT(Round(), IsEmpty());
}

TEST_P(RoundStory, ANominatedGangStartsInPlaceOfOneThatCannotStartAnyMore) {
  XIsStopped();
  s.Submit(Job("v", 1, 1, "low"));
  EXPECT_THAT(Round(), IsEmpty());
  s.Happens(GangHeld{"big"});
  EXPECT_THAT(Round(), ElementsAre("evict big", "start z: n2", "start v: n2"));
  EXPECT_THAT(Round(), IsEmpty());
}

// Two free devices are kept for "big", which waits for a third, that of "w".
TEST_P(RoundStory, AGangThatLacksATaskGetsItBeforeGangsThatWaitAreAskedOn) {
  s.HasQueue("q");
  s.HasNode("n1", 1);
  s.HasNode("n2", 4);
  s.Submit(Job("x", 1, 3, "low"));
  EXPECT_THAT(Round(), ElementsAre("start x: n2"));
  s.Submit(Job("l", 2, 1, "mid"));
  EXPECT_THAT(Round(), ElementsAre("start l: n1 n2"));
  s.AllDone();
  s.Happens(GangFinished{"x"});
  s.Submit(Job("w", 1, 1, "low"));
  EXPECT_THAT(Round(), ElementsAre("start w: n2"));
  s.AllDone();
  s.Happens(GangCancelled{"w"});
  EXPECT_THAT(Round(), ElementsAre("cancel w"));
  s.Submit(Job("big", 1, 3, "low"));
  EXPECT_THAT(Round(), ElementsAre("nominate big: n2"));
  Node n1 = Machine("n1", 1);
  n1.schedulable = false;
  s.Happens(NodeChanged{n1});
  s.Answers("l", {0, 0}, TaskOutcome::kYielded);
  EXPECT_THAT(Round(), IsEmpty());
  s.Submit(Job("p", 1, 1, "high"));
  s.Submit(Job("v", 1, 2, "low"));
  EXPECT_THAT(Round(),
              ElementsAre("evict big for p", "nominate p: n2", "grow l: n2"));
}

INSTANTIATE_TEST_SUITE_P(Budgets, RoundStory, ::testing::Values(0, 1, 64));

}  // namespace
}  // namespace muster
