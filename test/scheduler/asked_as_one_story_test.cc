// Equal gangs in many queues are one question: is there room?
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/scheduler.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Gang Waits(const std::string& key, const std::string& queue) {
  Gang gang = Job(key, 1, 4);
  gang.queue = queue;
  return gang;
}

// A node full of "x" and "y", with four devices each.
class FullNode : public Story {
 public:
  FullNode() {
    HasNode("n", 8);
    HasQueue("busy");
    for (const char* key : {"x", "y"}) Submit(Waits(key, "busy"));
    Pass();
    AllDone();
  }
  // In each of the queues a gang waits: "a0" in "a".
  void WaitIn(const std::vector<std::string>& queues) {
    for (const std::string& queue : queues) {
      HasQueue(queue);
      Submit(Waits(queue + "0", queue));
    }
    SettlesDown();
  }
  void SettlesDown() {
    while (!Pass().empty()) AllDone();
    Pass();
  }
};

class AskedAsOne : public ::testing::Test {
 protected:
  FullNode s;
};

TEST_F(AskedAsOne, OneStartsAndNobodyIsToldAgain) {
  s.WaitIn({"a", "b", "c"});
  s.Happens(GangFinished{"x"});
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), ElementsAre("start a0: n"));
  ASSERT_EQ(s.plan().waiting.size(), 1u);
  EXPECT_EQ(s.plan().waiting[0].count, 0u) << "no gang waits in a";
  EXPECT_THAT(s.Why("c0"), StartsWith("insufficient"));
  s.ExpectRestorable();
  s.AllDone();
  s.Happens(GangFinished{"y"});
  EXPECT_THAT(s.Pass(), ElementsAre("start b0: n"));
}

// A no costs as many steps as there are shapes, and next to nothing a queue.
TEST(AskedAsOneOfMany, QueuesCostNoQuestions) {
  const auto steps = [](int queues) {
    FullNode s;
    std::vector<std::string> keys;
    for (int q = 0; q < queues; ++q) keys.push_back("q" + std::to_string(q));
    s.WaitIn(keys);
    s.Happens(GangFinished{"x"});
    EXPECT_EQ(s.Pass().size(), 1u);
    return s.plan().steps;
  };
  EXPECT_LT(steps(64), 3 * steps(4));
}

TEST_F(AskedAsOne, WhoIsNotTheHeadIsAskedWhenItIs) {
  s.Happens(
      QueueChanged{{.key = "strict", .ordering = QueueOrdering::kStrictFifo}});
  Gang head = Waits("head", "strict");
  head.roles[0].shape.resources.Set(0, 5);  // Another shape.
  s.Submit(head);
  s.Submit(Waits("next", "strict"));
  s.WaitIn({"z"});
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("start head: n"));
  s.AllDone();
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.Happens(GangFinished{"y"});
  EXPECT_THAT(s.Pass(), ElementsAre("start z0: n"));
  s.AllDone();
  s.Happens(GangFinished{"z0"});
  EXPECT_THAT(s.Pass(), ElementsAre("start next: n"));
}

TEST_F(AskedAsOne, AQueueAtItsLimitIsToldSoAndAskedWhenItIsNot) {
  s.HasQueue("a", {GpuQuota(std::nullopt, 4)});
  s.Submit(Waits("a0", "a"));
  s.Submit(Waits("a1", "a"));
  s.SettlesDown();
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("start a0: n"));
  s.AllDone();
  s.Happens(GangFinished{"y"});
  EXPECT_THAT(s.Pass(), IsEmpty());
  EXPECT_THAT(s.Why("a1"), StartsWith("queue-limit"));
  s.ExpectRestorable();
  s.Happens(GangFinished{"a0"});
  EXPECT_THAT(s.Pass(), ElementsAre("start a1: n"));
}

TEST_F(AskedAsOne, AHeldQueueIsAskedWhenItIsReleased) {
  s.WaitIn({"a", "b"});
  s.Happens(QueueChanged{{.key = "a", .held = true}});
  s.Happens(GangFinished{"x"});
  EXPECT_THAT(s.Pass(), ElementsAre("start b0: n"));
  s.AllDone();
  s.Happens(GangFinished{"y"});
  EXPECT_THAT(s.Pass(), IsEmpty());
  s.ExpectRestorable();
  s.Happens(QueueChanged{{.key = "a"}});
  EXPECT_THAT(s.Pass(), ElementsAre("start a0: n"));
}

TEST_F(AskedAsOne, AWhatIfAsksForItselfOnly) {
  s.WaitIn({"a", "b"});
  s.Happens(GangFinished{"x"});
  const Event also{s.now, GangFinished{"y"}};
  Plan then;
  ASSERT_TRUE(s.scheduler().WhatIf(s.now, {&also, 1}, &then).ok());
  EXPECT_EQ(then.decisions.size(), 2u);
  s.ExpectRestorable();
  EXPECT_THAT(s.Pass(), ElementsAre("start a0: n"));
}

}  // namespace
}  // namespace muster
