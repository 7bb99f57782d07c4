// Whom gangs of a queue may stop is the queue's own policy.
#include <limits>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/activation_stage.h"
#include "test/scheduler/story.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class PreemptionPolicies : public ::testing::Test {
 protected:
  PreemptionPolicies() { s.HasClasses(); }

  void Has(const std::string& key, const PreemptionPolicy& policy,
           std::vector<Quota> quotas = {}, const std::string& parent = "") {
    s.Happens(QueueChanged{{.key = key,
                            .parent = parent,
                            .quotas = std::move(quotas),
                            .preemption = policy}});
  }
  // They run on nodes with a GPU each.
  void Run(const std::vector<Gang>& gangs) {
    for (const Gang& gang : gangs) {
      s.HasNode("n" + std::to_string(++nodes_), 1);
      s.Submit(gang);
      s.Pass();
      s.AllDone();
      ASSERT_EQ(s.Phase(gang.key), "running") << gang.key;
    }
  }
  std::vector<std::string> Asks(Gang gang) {
    s.Submit(std::move(gang));
    return s.Pass();
  }

  Story s;
  int nodes_ = 0;
};

// --- In its own queue --------------------------------------------------------

TEST_F(PreemptionPolicies, WithinNeverStopsNobody) {
  Has("q", {.within = PreemptWithin::kNever});
  Run({Job("low", 1, 1, "low")});
  EXPECT_THAT(Asks(Job("high", 1, 1, "high")), IsEmpty());
  EXPECT_THAT(s.Why("high"), StartsWith("insufficient: needs 1000 gpu"));
  Has("q", {});
  EXPECT_THAT(s.Pass(), ElementsAre("evict low for high", "nominate high: n1"))
      << "the queue's policy is another one";
}

TEST_F(PreemptionPolicies, WithinNeverTakesNoSurplusEither) {
  Has("q", {.within = PreemptWithin::kNever});
  s.HasNode("n1", 2);
  s.Submit(Elastic("e", 1, 2));
  for (int i = 0; i < 2; ++i) {
    s.Pass();
    s.AllDone();
  }
  ASSERT_EQ(s.Where("e"), "n1 n1");
  EXPECT_THAT(Asks(Job("w")), IsEmpty());
}

TEST_F(PreemptionPolicies, NewerEqualsGiveWay) {
  Has("q", {.within = PreemptWithin::kLowerOrNewerEqual});
  Gang older = Job("older"), same = Job("same"), newer = Job("newer");
  older.submitted = 1;
  same.submitted = 2;
  newer.submitted = 3;
  Run({older, same, newer});
  Gang w = Job("w");
  w.submitted = 2;
  EXPECT_THAT(Asks(w), ElementsAre("evict newer for w", "nominate w: n3"));
  s.AllDone();
  EXPECT_THAT(s.Pass(), ElementsAre("start w: n3"));
  s.AllDone();
  EXPECT_THAT(s.PassAfter(3600), IsEmpty()) << "nobody gives way to the newer";
}

TEST_F(PreemptionPolicies, NewerEqualsStayByDefault) {
  Has("q", {});
  Gang newer = Job("newer");
  newer.submitted = 3;
  Run({newer});
  EXPECT_THAT(Asks(Job("w")), IsEmpty());
}

TEST_F(PreemptionPolicies, ANewerEqualThatComesWakesTheOlder) {
  Has("q", {.within = PreemptWithin::kLowerOrNewerEqual});
  Gang first = Job("first"), w = Job("w", 1, 1), newer = Job("newer", 1, 1);
  first.submitted = 1;
  w.submitted = 2;
  newer.submitted = 3;
  Run({first});
  ASSERT_THAT(Asks(w), IsEmpty());
  s.HasNode("aside", 1);
  s.Happens(GangHeld{"w", true});
  ASSERT_THAT(Asks(newer), ElementsAre("start newer: aside"));
  s.AllDone();
  s.Happens(GangHeld{"w", false});
  EXPECT_THAT(s.Pass(), ElementsAre("evict newer for w", "nominate w: aside"));
}

// --- In other queues ---------------------------------------------------------

class AcrossQueues : public PreemptionPolicies {
 protected:
  // "poor" is guaranteed a GPU, "rich" has two of class "mid" and "high".
  void Begin(const PreemptionPolicy& policy) {
    Has("org", policy);
    Has("poor", {}, {GpuQuota(1, {})}, "org");
    Has("rich", {}, {}, "org");
    Run({In("rich", Job("mid", 1, 1, "mid")),
         In("rich", Job("high", 1, 1, "high"))});
  }
};

TEST_F(AcrossQueues, AnyPriorityGivesBackByDefault) {
  Begin({});
  EXPECT_THAT(Asks(In("poor", Job("w", 1, 1, "low"))),
              ElementsAre("evict mid for w", "nominate w: n1"));
}

TEST_F(AcrossQueues, LowerAloneDoIfThePolicyAboveSaysSo) {
  Begin({.across = PreemptAcross::kLower});
  EXPECT_THAT(Asks(In("poor", Job("w", 1, 1, "mid"))), IsEmpty());
  EXPECT_THAT(Asks(In("poor", Job("urgent", 1, 1, "high"))),
              ElementsAre("evict mid for urgent", "nominate urgent: n1"));
}

TEST_F(AcrossQueues, NobodyDoesIfItSaysNever) {
  Begin({.across = PreemptAcross::kNever});
  EXPECT_THAT(Asks(In("poor", Job("w", 1, 1, "high"))), IsEmpty());
  Has("poor", {.across = PreemptAcross::kAny}, {GpuQuota(1, {})}, "org");
  EXPECT_THAT(s.Pass(), ElementsAre("evict mid for w", "nominate w: n1"))
      << "what the queue says itself comes before what is above it";
}

TEST_F(AcrossQueues, BorrowersStopNobodyByDefault) {
  Begin({});
  EXPECT_THAT(Asks(In("poor", Job("w", 2, 1, "high"))), IsEmpty());
}

TEST_F(AcrossQueues, BorrowersStopLowerPrioritiesIfTheyMay) {
  Begin({.borrowing = PreemptBorrowing::kLower});
  EXPECT_THAT(Asks(In("poor", Job("mids", 2, 1, "mid"))), IsEmpty());
  s.HasNode("n3", 1);
  EXPECT_THAT(Asks(In("poor", Job("w", 2, 1, "high"))),
              ElementsAre("evict mid for w", "nominate w: n1 n3"));
}

TEST_F(AcrossQueues, NotAboveTheThreshold) {
  Begin({.borrowing = PreemptBorrowing::kLower, .borrowing_threshold = 9});
  s.HasNode("n3", 1);
  EXPECT_THAT(Asks(In("poor", Job("w", 2, 1, "high"))), IsEmpty());
}

// Those who hold no more than they are guaranteed keep it.
TEST_F(AcrossQueues, BorrowersTakeFromThoseBeyondTheirsAlone) {
  Begin({.borrowing = PreemptBorrowing::kLower});
  Has("rich", {}, {GpuQuota(2, {})}, "org");
  s.HasNode("n3", 1);
  EXPECT_THAT(Asks(In("poor", Job("w", 2, 1, "high"))), IsEmpty());
  Has("rich", {}, {GpuQuota(1, {})}, "org");
  EXPECT_THAT(s.Pass(), ElementsAre("evict mid for w", "nominate w: n1 n3"));
}

// --- Whose turn it is --------------------------------------------------------

// Of two equal tenants one calls all its work urgent.
TEST(OrdersOfQueues, TheShareBeforePriorityLeavesTheOtherItsHalf) {
  using enum QueueOrderKey;
  for (const bool share_first : {false, true}) {
    SchedulerConfig config;
    if (share_first) config.queue_order = {kWithin, kShare, kPriority};
    Story s(config);
    s.HasClasses();
    s.HasQueue("urgent");
    s.HasQueue("other");
    s.HasNode("n", 4);
    for (const char* key : {"1", "2", "3", "4"}) {
      s.Submit(In("urgent", Job(std::string("u") + key, 1, 1, "high")));
      s.Submit(In("other", Job(std::string("o") + key, 1, 1, "low")));
    }
    s.Pass();
    EXPECT_EQ(s.scheduler().QueueUsage("other")[2], share_first ? 2000 : 0);
  }
}

TEST(OrdersOfQueues, AHigherBandComesFirst) {
  Story s;
  s.HasClasses();
  s.HasQueue("a");
  s.Happens(QueueChanged{{.key = "b", .band = 1}});
  s.HasNode("n", 2);
  s.Submit(In("a", Job("first", 1, 2, "high")));
  s.Submit(In("b", Job("second", 1, 1, "low")));
  EXPECT_THAT(s.Pass(), ElementsAre("start second: n"));
}

// --- What may be borrowed ----------------------------------------------------

Quota Borrows(std::optional<int64_t> guarantee, int64_t more) {
  Quota quota = GpuQuota(guarantee, {});
  quota.borrow_limit = 1000 * more;
  return quota;
}

TEST_F(PreemptionPolicies, ABorrowLimitBoundsWhatIsBeyondTheGuarantee) {
  Has("q", {}, {Borrows(1, 1)});
  s.HasNode("n", 4);
  EXPECT_THAT(Asks(Job("a", 2)), ElementsAre("start a: n n"));
  EXPECT_THAT(Asks(Job("b")), IsEmpty());
  EXPECT_THAT(s.Why("b"), StartsWith("queue-limit (queue q)"));
  Has("q", {}, {Borrows(2, 1)});
  EXPECT_THAT(s.Pass(), ElementsAre("start b: n"));
}

TEST_F(PreemptionPolicies, MoreThanItMayEverBorrowIsHopeless) {
  Has("q", {}, {Borrows(1, 1)});
  s.HasNode("n", 4);
  EXPECT_THAT(Asks(Job("a", 3)), IsEmpty());
  EXPECT_THAT(s.Why("a"), StartsWith("over-limit-always (queue q)"));
}

// A group that borrows nothing: its queues have what they are guaranteed
// together, whatever else is free.
class ClosedGroup : public PreemptionPolicies {
 protected:
  ClosedGroup() {
    Has("group", {}, {Borrows({}, 0)});
    Has("a", {}, {GpuQuota(1, {})}, "group");
    Has("b", {}, {GpuQuota(2, {})}, "group");
    s.HasNode("n", 8);
  }
};

TEST_F(ClosedGroup, BorrowsFromItsOwnAlone) {
  EXPECT_THAT(Asks(In("a", Job("three", 3))),
              ElementsAre("start three: n n n"));
  EXPECT_THAT(Asks(In("a", Job("more"))), IsEmpty());
}

TEST_F(ClosedGroup, HasMoreWhenAQueueOfItComes) {
  Asks(In("a", Job("three", 3)));
  ASSERT_THAT(Asks(In("a", Job("more"))), IsEmpty());
  Has("c", {}, {GpuQuota(1, {})}, "group");
  EXPECT_THAT(s.Pass(), ElementsAre("start more: n"));
}

TEST_F(ClosedGroup, HasMoreWhenOneIsGuaranteedMore) {
  Asks(In("a", Job("three", 3)));
  ASSERT_THAT(Asks(In("a", Job("more"))), IsEmpty());
  Has("b", {}, {GpuQuota(3, {})}, "group");
  EXPECT_THAT(s.Pass(), ElementsAre("start more: n"));
}

TEST_F(ClosedGroup, HasLessWhenOneGoes) {
  s.Happens(QueueRemoved{"b"});
  EXPECT_THAT(Asks(In("a", Job("two", 2))), IsEmpty());
  EXPECT_THAT(Asks(In("a", Job("one", 1))), ElementsAre("start one: n"));
}

TEST_F(ClosedGroup, SumsDoNotOverflow) {
  for (const char* key : {"c", "d", "e", "f", "g"}) {
    Quota quota = GpuQuota({}, {});
    quota.guarantee = kMaxQuota;
    Has(key, {}, {quota}, "group");
  }
  EXPECT_THAT(Asks(In("a", Job("eight", 8))),
              ElementsAre("start eight: n n n n n n n n"));
}

}  // namespace
}  // namespace muster
