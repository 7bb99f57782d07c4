// What QuotaChecker answers on small trees.
#include "lib/queue/quota_checker.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

constexpr ResourceKind kCpu = 0, kMemory = 1, kGpu = 2;
constexpr int64_t kUnbounded = QueueTree::kUnbounded;

Quota Limit(std::string resource, int64_t limit) {
  return {.resource = std::move(resource), .limit = limit};
}

Quota Guarantee(std::string resource, int64_t guarantee) {
  return {.resource = std::move(resource), .guarantee = guarantee};
}

class QuotaCheckerTest : public testing::Test {
 protected:
  QueueIndex Put(std::string key, std::string parent,
                 std::vector<Quota> quotas = {}) {
    return queues_.Upsert({.key = std::move(key),
                           .parent = std::move(parent),
                           .quotas = std::move(quotas)});
  }
  Resources RoomOf(QueueIndex q, Ledger ledger,
                   const QuotaOverlay* overlay = nullptr) {
    Resources room;
    EXPECT_TRUE(quota_.Room(q, ledger, &room, overlay));
    return room;
  }

  QueueTree queues_{{"cpu", "memory", "gpu"}};
  QuotaChecker quota_{queues_};
};

TEST_F(QuotaCheckerTest, WithoutALimitThereIsRoomForEverything) {
  const QueueIndex q = Put("q", "", {Guarantee("cpu", 5)});
  queues_.Charge(q, {1000, 1000, 1000}, 1);
  Resources room;
  EXPECT_FALSE(quota_.Room(q, Ledger::kBoth, &room));
  EXPECT_EQ(room, Resources({kUnbounded, kUnbounded, kUnbounded}));
  EXPECT_FALSE(quota_.OverLimit(q, {kUnbounded}, Ledger::kBoth));
  EXPECT_FALSE(quota_.NeverWithin(q, {kUnbounded - 1}));
}

TEST_F(QuotaCheckerTest, TheTightestQueueOnThePathBoundsEachKind) {
  Put("all", "", {Limit("cpu", 20), Limit("memory", 5)});
  const QueueIndex a = Put("a", "all", {Limit("cpu", 8)});
  const QueueIndex b = Put("b", "all");
  queues_.Charge(a, {2, 1}, 1);
  queues_.Charge(b, {15, 1}, 1);
  EXPECT_EQ(RoomOf(a, Ledger::kLater), Resources({3, 3, kUnbounded}));
  queues_.Charge(b, {15, 1}, -1);
  EXPECT_EQ(RoomOf(a, Ledger::kLater), Resources({6, 4, kUnbounded}));
  EXPECT_EQ(RoomOf(b, Ledger::kLater), Resources({18, 4, kUnbounded}));
}

TEST_F(QuotaCheckerTest, WhatIsBeingReleasedCountsForBothLedgersAlone) {
  const QueueIndex q = Put("q", "", {Limit("cpu", 10)});
  queues_.Charge(q, {3}, 1);
  queues_.ChargeReleasing(q, {4}, 1);
  EXPECT_EQ(RoomOf(q, Ledger::kBoth)[kCpu], 3);
  EXPECT_EQ(RoomOf(q, Ledger::kLater)[kCpu], 7);
  EXPECT_TRUE(quota_.OverLimit(q, {4}, Ledger::kBoth));
  EXPECT_FALSE(quota_.OverLimit(q, {4}, Ledger::kLater));
}

TEST_F(QuotaCheckerTest, AQueueOverItsLimitHasNoRoomButNoLess) {
  const QueueIndex q = Put("q", "", {Limit("cpu", 10), Limit("gpu", 10)});
  queues_.Charge(q, {12, 0, 4}, 1);
  EXPECT_EQ(RoomOf(q, Ledger::kBoth), Resources({0, kUnbounded, 6}));
  const LimitExcess excess = quota_.OverLimit(q, {1}, Ledger::kBoth);
  EXPECT_EQ(excess.available, -2);
  EXPECT_FALSE(quota_.OverLimit(q, {0, 9, 6}, Ledger::kBoth))
      << "it asks nothing of the kind of which there is too much";
}

TEST_F(QuotaCheckerTest, TheExcessIsOfTheFirstQueueUpThePath) {
  const QueueIndex all = Put("all", "", {Limit("cpu", 10), Limit("gpu", 1)});
  const QueueIndex a = Put("a", "all", {Limit("gpu", 4)});
  queues_.Charge(a, {7}, 1);
  LimitExcess excess = quota_.OverLimit(a, {4, 0, 1}, Ledger::kLater);
  EXPECT_EQ(excess.queue, all);
  EXPECT_EQ(excess.kind, kCpu);
  EXPECT_EQ(excess.needed, 4);
  EXPECT_EQ(excess.available, 3);
  excess = quota_.OverLimit(a, {4, 0, 5}, Ledger::kLater);
  EXPECT_EQ(excess.queue, a);
  EXPECT_EQ(excess.kind, kGpu);
  EXPECT_FALSE(quota_.OverLimit(a, {3, 9, 1}, Ledger::kLater));
}

TEST_F(QuotaCheckerTest, WhatIsHeldIsOverTheLimitIfAllThatIsUsedIs) {
  const QueueIndex q = Put("q", "", {Limit("cpu", 10)});
  queues_.Charge(q, {6}, 1);
  queues_.ChargeReleasing(q, {5}, 1);
  EXPECT_FALSE(quota_.OverLimitNow(q, {6}, Ledger::kLater));
  const LimitExcess excess = quota_.OverLimitNow(q, {6}, Ledger::kBoth);
  ASSERT_TRUE(excess);
  EXPECT_EQ(excess.needed, 6);
  EXPECT_EQ(excess.available, 5);
  EXPECT_FALSE(quota_.OverLimitNow(q, {0, 3}, Ledger::kBoth));
}

TEST_F(QuotaCheckerTest, NeverWithinIsBlindToUse) {
  Put("all", "", {Limit("cpu", 10)});
  const QueueIndex q = Put("q", "all");
  queues_.Charge(q, {9}, 1);
  EXPECT_FALSE(quota_.NeverWithin(q, {10}));
  EXPECT_EQ(quota_.NeverWithin(q, {11}).available, 10);
}

TEST_F(QuotaCheckerTest, ALimitOfNothingRefusesEverything) {
  const QueueIndex q = Put("q", "", {Limit("gpu", 0)});
  EXPECT_TRUE(quota_.NeverWithin(q, {0, 0, 1}));
  EXPECT_FALSE(quota_.NeverWithin(q, {1}));
  EXPECT_EQ(RoomOf(q, Ledger::kBoth)[kGpu], 0);
}

TEST_F(QuotaCheckerTest, AnOverlayChargesTheWholePath) {
  Put("all", "", {Limit("cpu", 10)});
  const QueueIndex a = Put("a", "all"), b = Put("b", "all");
  queues_.Charge(a, {8}, 1);
  QuotaOverlay overlay(queues_);
  overlay.Charge(a, {5}, -1);
  overlay.Charge(b, {1}, 1);
  EXPECT_EQ(overlay.Of(a, kCpu), -5);
  EXPECT_EQ(overlay.Of(queues_.Find("all"), kCpu), -4);
  EXPECT_EQ(RoomOf(b, Ledger::kBoth, &overlay)[kCpu], 6);
  EXPECT_EQ(RoomOf(b, Ledger::kBoth)[kCpu], 2);
}

TEST_F(QuotaCheckerTest, AGuaranteeSpeaksOfItsKindsAlone) {
  const QueueIndex q = Put("q", "", {Guarantee("cpu", 4)});
  const QueueIndex none = Put("none", "", {Limit("cpu", 4)});
  EXPECT_TRUE(quota_.Within(q, {4, 100, 100}));
  EXPECT_FALSE(quota_.Within(q, {5}));
  EXPECT_FALSE(quota_.Within(q, {0, 1})) << "of this nothing is guaranteed";
  EXPECT_FALSE(quota_.Within(none, {1}));
  queues_.Charge(q, {1}, 1);
  EXPECT_FALSE(quota_.Within(q, {4}));
  queues_.ChargeReleasing(q, {3}, 1);
  EXPECT_TRUE(quota_.Within(q, {3})) << "what is going is gone for guarantees";
}

// Whatever other queues are guaranteed, in this tree or in another one.
TEST_F(QuotaCheckerTest, ADemandIsJudgedInTheKindsOfItsOwnQueue) {
  const QueueIndex a = Put("a", "", {Guarantee("memory", 8)});
  const QueueIndex b = Put("b", "", {Guarantee("memory", 8)});
  Put("zoo", "");
  Put("z", "zoo", {Guarantee("cpu", 0)});
  queues_.Charge(a, {4, 16}, 1);
  EXPECT_TRUE(quota_.MayReclaim(b, a, {1, 4}));
  EXPECT_TRUE(quota_.MayLose(a, b, {1, 4}, {1, 4}, {}));
  Put("a", "", {Guarantee("memory", 8), Guarantee("cpu", 8)});
  EXPECT_TRUE(quota_.MayReclaim(b, a, {1, 4}));
  EXPECT_TRUE(quota_.MayLose(a, b, {1, 4}, {1, 4}, {}))
      << "that it is within its cpus is no matter of memory";
}

TEST_F(QuotaCheckerTest, ADemandIsWithinInAllKindsThatItsQueueStates) {
  const QueueIndex a = Put("a", "", {Guarantee("cpu", 4), Guarantee("gpu", 4)});
  const QueueIndex b = Put("b", "", {});
  queues_.Charge(b, {1, 0, 1}, 1);
  EXPECT_TRUE(quota_.MayLose(b, a, {4, 0, 4}, {1, 0, 1}, {}));
  EXPECT_FALSE(quota_.MayLose(b, a, {5, 0, 4}, {1, 0, 1}, {}));
  EXPECT_TRUE(quota_.MayLose(b, a, {0, 0, 4}, {1, 0, 1}, {}));
  EXPECT_TRUE(quota_.MayLose(b, a, {4, 9, 4}, {1, 0, 1}, {}))
      << "of memory it says none";
}

// What is free anybody may use; what is taken must be owed.
TEST_F(QuotaCheckerTest, AKindThatTheVictimDoesNotHoldIsNoMatter) {
  const QueueIndex a = Put("a", "", {Guarantee("cpu", 4), Guarantee("gpu", 4)});
  const QueueIndex b = Put("b", "", {});
  queues_.Charge(a, {4}, 1);
  queues_.Charge(b, {1, 0, 1}, 1);
  EXPECT_TRUE(quota_.MayReclaim(a, b, {1, 0, 1}));
  EXPECT_TRUE(quota_.MayLose(b, a, {1, 0, 1}, {0, 0, 1}, {}));
  EXPECT_FALSE(quota_.MayLose(b, a, {1, 0, 1}, {1, 0, 1}, {}));
  EXPECT_FALSE(quota_.MayLose(b, a, {1, 0, 1}, {1, 0, 0}, {}));
}

// What is above both is nobody's alone.
TEST_F(QuotaCheckerTest, WhatBothShareStatesNothing) {
  Put("root", "", {Guarantee("cpu", 4), Guarantee("gpu", 4)});
  const QueueIndex a = Put("a", "root", {Guarantee("gpu", 2)});
  const QueueIndex b = Put("b", "root");
  queues_.Charge(b, {4, 0, 4}, 1);
  EXPECT_TRUE(quota_.MayLose(b, a, {1, 0, 2}, {4, 0, 4}, {}));
  EXPECT_FALSE(quota_.MayLose(b, a, {1, 0, 3}, {4, 0, 4}, {}));
  EXPECT_FALSE(quota_.MayReclaim(a, b, {1}));
}

TEST_F(QuotaCheckerTest, AQueueTakesBackUpToItsGuarantee) {
  const QueueIndex poor = Put("poor", "", {Guarantee("gpu", 4)});
  const QueueIndex rich = Put("rich", "", {Guarantee("gpu", 2)});
  queues_.Charge(rich, {0, 0, 3}, 1);
  EXPECT_TRUE(quota_.MayReclaim(poor, rich, {0, 0, 4}));
  EXPECT_FALSE(quota_.MayReclaim(poor, rich, {0, 0, 5}));
  EXPECT_FALSE(quota_.MayReclaim(rich, poor, {0, 0, 1}));
  EXPECT_TRUE(quota_.MayReclaimAtAll(poor, {0, 0, 4}));
  EXPECT_FALSE(quota_.MayReclaimAtAll(poor, {0, 0, 5}));
  queues_.Charge(rich, {0, 0, 1}, -1);
  EXPECT_FALSE(quota_.MayReclaim(poor, rich, {0, 0, 1}))
      << "no queue loses what it is guaranteed";
}

// "team" holds more than its share of "site", but "site" is owed.
TEST_F(QuotaCheckerTest, WhatAGroupIsGuaranteedAnyQueueInItMayClaim) {
  const QueueIndex site = Put("site", "", {Guarantee("gpu", 8)});
  const QueueIndex team = Put("team", "site", {Guarantee("gpu", 1)});
  const QueueIndex mate = Put("mate", "site");
  const QueueIndex other = Put("other", "");
  queues_.Charge(team, {0, 0, 2}, 1);
  queues_.Charge(mate, {0, 0, 1}, 1);
  queues_.Charge(other, {0, 0, 1}, 1);
  EXPECT_EQ(queues_.at(site).used[kGpu], 3);
  EXPECT_TRUE(quota_.MayReclaim(team, other, {0, 0, 5}));
  EXPECT_FALSE(quota_.MayReclaim(team, mate, {0, 0, 1}));
  EXPECT_TRUE(quota_.MayReclaimAtAll(team, {0, 0, 5}));
  EXPECT_FALSE(quota_.MayReclaim(team, other, {0, 0, 6}));
}

TEST_F(QuotaCheckerTest, TheGroupOfAVictimProtectsItUpToItsOwn) {
  const QueueIndex poor = Put("poor", "", {Guarantee("gpu", 4)});
  Put("site", "", {Guarantee("gpu", 3)});
  const QueueIndex team = Put("team", "site");
  queues_.Charge(team, {0, 0, 3}, 1);
  EXPECT_FALSE(quota_.MayReclaim(poor, team, {0, 0, 1}));
  EXPECT_FALSE(quota_.MayLose(team, poor, {0, 0, 1}, {0, 0, 1}, {}));
  queues_.Charge(team, {0, 0, 1}, 1);
  EXPECT_TRUE(quota_.MayReclaim(poor, team, {0, 0, 1}));
  EXPECT_TRUE(quota_.MayLose(team, poor, {0, 0, 1}, {0, 0, 1}, {}));
  QuotaOverlay overlay(queues_);
  overlay.Charge(team, {0, 0, 1}, -1);
  EXPECT_FALSE(quota_.MayLose(team, poor, {0, 0, 1}, {0, 0, 1}, {}, &overlay));
}

TEST_F(QuotaCheckerTest, WorkOnDevicesIsSafeWithinTheDevicesOfItsQueue) {
  const QueueIndex poor = Put("poor", "", {Guarantee("cpu", 4)});
  const QueueIndex rich = Put("rich", "", {Guarantee("gpu", 2)});
  queues_.Charge(rich, {9, 0, 2}, 1);
  EXPECT_TRUE(quota_.MayReclaim(poor, rich, {4}));
  EXPECT_TRUE(quota_.MayLose(rich, poor, {4}, {9}, {}));
  EXPECT_FALSE(quota_.MayLose(rich, poor, {4}, {8, 0, 1}, {}));
  queues_.Charge(rich, {0, 0, 1}, 1);
  EXPECT_TRUE(quota_.MayLose(rich, poor, {4}, {8, 0, 1}, {}));
}

TEST_F(QuotaCheckerTest, WhereNoKindDecidesNothingIsTakenBack) {
  const QueueIndex a = Put("a", ""), b = Put("b", "", {Limit("cpu", 1)});
  queues_.Charge(b, {1}, 1);
  EXPECT_FALSE(quota_.MayReclaimAtAll(a, {1}));
  EXPECT_FALSE(quota_.MayReclaim(a, b, {1}));
}

TEST_F(QuotaCheckerTest, TheVersionRisesWithARemovalAndWhenItIsTakenBack) {
  const Queue values = {.key = "q", .quotas = {Limit("cpu", 1)}};
  const QueueIndex q = queues_.Upsert(values);
  const uint64_t before = quota_.version();
  queues_.Remove(q);
  const uint64_t removed = quota_.version();
  EXPECT_GT(removed, before);
  queues_.UndoRemove(values);
  EXPECT_GT(quota_.version(), removed);
  EXPECT_EQ(queues_.Find("q"), q);
}

}  // namespace
}  // namespace muster
