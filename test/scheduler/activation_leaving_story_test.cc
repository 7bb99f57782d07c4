// What becomes active when tasks leave, and when a minimum is raised.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// --- Places that are needed again --------------------------------------------

class PlacesThatAreKept : public Activation {
 protected:
  void Leaves(TaskId task) { s.Answers("a", task, TaskOutcome::kLeaving); }
};

// The first of two that leave was promised, and is the one that stays kept.
TEST_F(PlacesThatAreKept, UndoTheNominationForThem) {
  Has("n1", 3);
  Runs(Elastic("a", 2, 3));
  Leaves({0, 1});
  s.Submit(Job("w"));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate w: n1"));
  Quiet();
  Leaves({0, 0});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w", "nominate w: n1"));
}

// The one that is needed again is larger than the one that went before it.
TEST_F(PlacesThatAreKept, UndoNominationsBeyondTheLimit) {
  s.HasQueue("q", {GpuQuota({}, 4)});
  Has("n1", 4);
  Has("n2", 2);
  Gang a = On("n1", Job("a", 2, 1));
  a.roles[0].name = "small";
  a.roles[0].min_tasks = 0;
  a.roles.push_back(On("n1", Job("", 1, 2)).roles[0]);
  a.roles[1].name = "large";
  a.roles[1].min_tasks = 0;
  a.groups.emplace_back();
  a.groups[0].min_tasks = 2;
  Runs(a);
  ASSERT_EQ(s.Where("a"), "n1 n1 n1");
  Leaves({1, 0});
  s.Submit(On("n2", Job("w", 1, 2)));
  EXPECT_THAT(s.Pass(), ElementsAre("nominate w: n2"));
  Quiet();
  Leaves({0, 0});
  EXPECT_THAT(s.Pass(), ElementsAre("evict w"));
}

// --- A raised minimum --------------------------------------------------------

class RaisedMinima : public Activation {
 protected:
  void Raise(const std::string& gang, uint32_t min) {
    Gang changed = s.Of(gang).gang;
    changed.roles[0].min_tasks = changed.roles[0].desired_tasks = min;
    s.Happens(GangChanged{changed});
  }
  // "a" has two tasks on n1, and one on n2 that its raised minimum asks.
  void IsMetOnN2() {
    Has("n1", 2);
    Runs(Elastic("a", 1, 2));
    Has("n2", 1);
    Quiet();
    Raise("a", 3);
    EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
  }
};

TEST_F(RaisedMinima, AreMetWhenANodeComes) {
  Has("n1", 1);
  Runs(Job("a"));
  Raise("a", 2);
  Quiet();
  Has("n2", 1);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n2"));
}

TEST_F(RaisedMinima, AreAskedForAtOnce) {
  Has("n1", 2);
  Runs(Job("a"));
  Raise("a", 2);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
}

TEST_F(RaisedMinima, AreTriedAgainAfterABackOff) {
  Has("n1", 2);
  Runs(Job("a"));
  Raise("a", 2);
  EXPECT_THAT(s.Pass(), ElementsAre("grow a: n1"));
  s.Answers("a", {0, 1}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.PassAfter(10), ElementsAre("grow a: n1"));
}

// What the raised minimum needed is surplus under the one of before, when what
// was to meet it failed on another node.
TEST_F(RaisedMinima, LeaveSurplusWhereTheyAreMissed) {
  IsMetOnN2();
  Waits(On("n1", Job("w")));
  s.Answers("a", {0, 2}, TaskOutcome::kFailed);
  EXPECT_THAT(s.Pass(), ElementsAre("shrink a for w: 0/1", "nominate w: n1"));
}

// Likewise where there is nothing to be repaired: it went by itself, and
// nothing is placed there any more.
TEST_F(RaisedMinima, LeaveSurplusWhereTheyAreMissedAgain) {
  IsMetOnN2();
  Node n2 = Named("n2", 1);
  n2.schedulable = false;
  s.Happens(NodeChanged{n2});
  Waits(On("n1", Job("w")));
  s.Answers("a", {0, 2}, TaskOutcome::kYielded);
  EXPECT_THAT(s.Pass(), ElementsAre("shrink a for w: 0/1", "nominate w: n1"));
}

}  // namespace
}  // namespace muster
