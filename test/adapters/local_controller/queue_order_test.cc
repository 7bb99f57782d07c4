// The order in which a user's own jobs wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint32_t kAlice = 1;
constexpr uint32_t kBob = 2;

class QueueOrderTest : public testing::Test {
 protected:
  // Behind a job that runs.
  void SetUp() override {
    world_.Submit(Manifest({.name = "first", .gpus = "1"}));
  }
  uint64_t Submit(uint32_t uid, const std::string& priority = "") {
    Submission s{.uid = uid, .manifest = Manifest({.name = "j", .gpus = "1"})};
    if (!priority.empty()) s.priority = priority;
    const uint64_t id = world_.Submit(s)[0];
    world_.Pass(kSecond);
    return id;
  }
  absl::Status Put(uint64_t job, MoveTo place, uint64_t other = 0) {
    const absl::Status s =
        world_.controller->Reorder(job, place, other, world_.now);
    world_.Settle();
    return s;
  }
  // By how many are before them.
  std::vector<uint64_t> Order() {
    std::map<uint32_t, uint64_t> by;
    for (const JobRow* row : world_.controller->Jobs()) {
      if (row->phase != "queued") continue;
      by[world_.controller->Explain(row->id)->ahead] = row->id;
    }
    std::vector<uint64_t> order;
    for (const auto& [ahead, id] : by) order.push_back(id);
    return order;
  }

  World world_{OneBox(1)};
};

TEST_F(QueueOrderTest, AJobGoesToThePlaceThatWasAskedFor) {
  const uint64_t a = Submit(kAlice), b = Submit(kAlice), c = Submit(kAlice),
                 d = Submit(kAlice);
  ASSERT_TRUE(Put(c, MoveTo::kFirst).ok());
  EXPECT_THAT(Order(), ElementsAre(c, a, b, d));
  ASSERT_TRUE(Put(c, MoveTo::kLast).ok());
  EXPECT_THAT(Order(), ElementsAre(a, b, d, c));
  ASSERT_TRUE(Put(d, MoveTo::kBefore, b).ok());
  EXPECT_THAT(Order(), ElementsAre(a, d, b, c));
  ASSERT_TRUE(Put(a, MoveTo::kAfter, b).ok());
  EXPECT_THAT(Order(), ElementsAre(d, b, a, c));
  ASSERT_TRUE(Put(d, MoveTo::kFirst).ok());
  EXPECT_THAT(Order(), ElementsAre(d, b, a, c));
  EXPECT_THAT(world_.controller->defects(), IsEmpty());
}

TEST_F(QueueOrderTest, NobodyElseIsOvertaken) {
  const uint64_t a1 = Submit(kAlice), b1 = Submit(kBob), a2 = Submit(kAlice),
                 b2 = Submit(kBob), a3 = Submit(kAlice);
  ASSERT_TRUE(Put(a3, MoveTo::kFirst).ok());
  EXPECT_THAT(Order(), ElementsAre(a3, b1, a1, b2, a2));
  ASSERT_TRUE(Put(b1, MoveTo::kLast).ok());
  EXPECT_THAT(Order(), ElementsAre(a3, b2, a1, b1, a2));
  ASSERT_TRUE(Put(a3, MoveTo::kAfter, a1).ok());
  EXPECT_THAT(Order(), ElementsAre(a1, b2, a3, b1, a2));
}

TEST_F(QueueOrderTest, JobsOfOneMomentChangePlacesToo) {
  const auto ids =
      world_.Submit(Submission{.uid = kAlice,
                               .manifest = Manifest({.name = "s", .gpus = "1"}),
                               .array = {0, 1, 2, 3}});
  world_.Settle();
  ASSERT_TRUE(Put(ids[2], MoveTo::kFirst).ok());
  EXPECT_THAT(Order(), ElementsAre(ids[2], ids[0], ids[1], ids[3]));
  ASSERT_TRUE(Put(ids[2], MoveTo::kLast).ok());
  EXPECT_THAT(Order(), ElementsAre(ids[0], ids[1], ids[3], ids[2]));
  ASSERT_TRUE(Put(ids[3], MoveTo::kBefore, ids[1]).ok());
  EXPECT_THAT(Order(), ElementsAre(ids[0], ids[3], ids[1], ids[2]));
}

TEST_F(QueueOrderTest, ARestartForgetsNoPlace) {
  const uint64_t a = Submit(kAlice), b = Submit(kAlice), c = Submit(kAlice);
  ASSERT_TRUE(Put(c, MoveTo::kFirst).ok());
  const Time submitted = world_.Row(c).submitted;
  world_.Restart();
  world_.Settle();
  EXPECT_THAT(Order(), ElementsAre(c, a, b));
  EXPECT_EQ(world_.Row(c).submitted, submitted);
  // Also of one whose gang is made anew.
  ASSERT_TRUE(world_.controller->Suspend(a, world_.now).ok());
  world_.Settle();
  EXPECT_THAT(Order(), ElementsAre(c, b));
  ASSERT_TRUE(world_.controller->Resume(a, world_.now).ok());
  world_.Settle();
  EXPECT_THAT(Order(), ElementsAre(c, a, b));
}

TEST_F(QueueOrderTest, OnlyOnesOwnJobsOfTheSameQueueAndPriorityAreChanged) {
  const uint64_t a = Submit(kAlice), b = Submit(kBob);
  const uint64_t low = Submit(kAlice, "low");
  for (const uint64_t other : {b, low, a, uint64_t{1}}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(Put(a, MoveTo::kBefore, other)))
        << other;
  }
  EXPECT_TRUE(absl::IsFailedPrecondition(Put(1, MoveTo::kFirst)));
  EXPECT_TRUE(absl::IsNotFound(Put(99, MoveTo::kFirst)));
  EXPECT_TRUE(absl::IsNotFound(Put(a, MoveTo::kAfter, 99)));
  EXPECT_THAT(Order(), ElementsAre(a, b, low));
}

TEST_F(QueueOrderTest, TheHeadOfAStrictQueueIsAskedAnew) {
  ControllerConfig config = OneBox(2);
  config.queues = {{.key = "default", .ordering = QueueOrdering::kStrictFifo}};
  World world(config);
  world.Submit(Manifest({.name = "half", .gpus = "1"}));
  const uint64_t big = world.Submit(Manifest({.name = "big", .gpus = "2"}));
  world.Pass(kSecond);
  const uint64_t small = world.Submit(Manifest({.name = "small", .gpus = "1"}));
  EXPECT_EQ(world.Phase(small), "queued");
  ASSERT_TRUE(
      world.controller->Reorder(small, MoveTo::kFirst, 0, world.now).ok());
  world.Settle();
  EXPECT_EQ(world.Running(small).size(), 1u);
  EXPECT_EQ(world.Phase(big), "queued");
}

}  // namespace
}  // namespace muster::local
