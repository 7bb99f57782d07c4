// What the law of quotas says of small trees.
#include "lib/queue/quota_law.h"

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

class QuotaLawTest : public testing::Test {
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
    EXPECT_TRUE(law_.Room(q, ledger, &room, overlay));
    return room;
  }

  QueueTree queues_{{"cpu", "memory", "gpu"}};
  QuotaLaw law_{queues_, kGpu};
};

TEST_F(QuotaLawTest, WithoutALimitThereIsRoomForEverything) {
  const QueueIndex q = Put("q", "", {Guarantee("cpu", 5)});
  queues_.Charge(q, {1000, 1000, 1000}, 1);
  Resources room;
  EXPECT_FALSE(law_.Room(q, Ledger::kBoth, &room));
  EXPECT_EQ(room, Resources({kUnbounded, kUnbounded, kUnbounded}));
  EXPECT_FALSE(law_.OverLimit(q, {kUnbounded}, Ledger::kBoth));
  EXPECT_FALSE(law_.NeverWithin(q, {kUnbounded - 1}));
}

TEST_F(QuotaLawTest, TheTightestQueueOnThePathBoundsEachKind) {
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

TEST_F(QuotaLawTest, WhatIsBeingReleasedCountsForBothLedgersAlone) {
  const QueueIndex q = Put("q", "", {Limit("cpu", 10)});
  queues_.Charge(q, {3}, 1);
  queues_.ChargeReleasing(q, {4}, 1);
  EXPECT_EQ(RoomOf(q, Ledger::kBoth)[kCpu], 3);
  EXPECT_EQ(RoomOf(q, Ledger::kLater)[kCpu], 7);
  EXPECT_TRUE(law_.OverLimit(q, {4}, Ledger::kBoth));
  EXPECT_FALSE(law_.OverLimit(q, {4}, Ledger::kLater));
}

TEST_F(QuotaLawTest, AQueueOverItsLimitHasNoRoomButNoLess) {
  const QueueIndex q = Put("q", "", {Limit("cpu", 10), Limit("gpu", 10)});
  queues_.Charge(q, {12, 0, 4}, 1);
  EXPECT_EQ(RoomOf(q, Ledger::kBoth), Resources({0, kUnbounded, 6}));
  const LimitExcess excess = law_.OverLimit(q, {1}, Ledger::kBoth);
  EXPECT_EQ(excess.available, -2);
  EXPECT_FALSE(law_.OverLimit(q, {0, 9, 6}, Ledger::kBoth))
      << "it asks nothing of the kind of which there is too much";
}

TEST_F(QuotaLawTest, TheExcessIsOfTheFirstQueueUpThePath) {
  const QueueIndex all = Put("all", "", {Limit("cpu", 10), Limit("gpu", 1)});
  const QueueIndex a = Put("a", "all", {Limit("gpu", 4)});
  queues_.Charge(a, {7}, 1);
  LimitExcess excess = law_.OverLimit(a, {4, 0, 1}, Ledger::kLater);
  EXPECT_EQ(excess.queue, all);
  EXPECT_EQ(excess.kind, kCpu);
  EXPECT_EQ(excess.needed, 4);
  EXPECT_EQ(excess.available, 3);
  excess = law_.OverLimit(a, {4, 0, 5}, Ledger::kLater);
  EXPECT_EQ(excess.queue, a);
  EXPECT_EQ(excess.kind, kGpu);
  EXPECT_FALSE(law_.OverLimit(a, {3, 9, 1}, Ledger::kLater));
}

TEST_F(QuotaLawTest, WhatIsHeldIsOverTheLimitIfAllThatIsUsedIs) {
  const QueueIndex q = Put("q", "", {Limit("cpu", 10)});
  queues_.Charge(q, {6}, 1);
  queues_.ChargeReleasing(q, {5}, 1);
  EXPECT_FALSE(law_.OverLimitNow(q, {6}, Ledger::kLater));
  const LimitExcess excess = law_.OverLimitNow(q, {6}, Ledger::kBoth);
  ASSERT_TRUE(excess);
  EXPECT_EQ(excess.needed, 6);
  EXPECT_EQ(excess.available, 5);
  EXPECT_FALSE(law_.OverLimitNow(q, {0, 3}, Ledger::kBoth));
}

TEST_F(QuotaLawTest, NeverWithinIsBlindToUse) {
  Put("all", "", {Limit("cpu", 10)});
  const QueueIndex q = Put("q", "all");
  queues_.Charge(q, {9}, 1);
  EXPECT_FALSE(law_.NeverWithin(q, {10}));
  EXPECT_EQ(law_.NeverWithin(q, {11}).available, 10);
}

TEST_F(QuotaLawTest, ALimitOfNothingRefusesEverything) {
  const QueueIndex q = Put("q", "", {Limit("gpu", 0)});
  EXPECT_TRUE(law_.NeverWithin(q, {0, 0, 1}));
  EXPECT_FALSE(law_.NeverWithin(q, {1}));
  EXPECT_EQ(RoomOf(q, Ledger::kBoth)[kGpu], 0);
}

TEST_F(QuotaLawTest, AnOverlayChargesTheWholePath) {
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

TEST_F(QuotaLawTest, AGuaranteeSpeaksOfItsKindsAlone) {
  const QueueIndex q = Put("q", "", {Guarantee("cpu", 4)});
  const QueueIndex none = Put("none", "", {Limit("cpu", 4)});
  EXPECT_TRUE(law_.Within(q, {4, 100, 100}));
  EXPECT_FALSE(law_.Within(q, {5}));
  EXPECT_FALSE(law_.Within(q, {0, 1})) << "of this nothing is guaranteed";
  EXPECT_FALSE(law_.Within(none, {1}));
  queues_.Charge(q, {1}, 1);
  EXPECT_FALSE(law_.Within(q, {4}));
  queues_.ChargeReleasing(q, {3}, 1);
  EXPECT_TRUE(law_.Within(q, {3})) << "what is going is gone for guarantees";
}

TEST_F(QuotaLawTest, DevicesDecideThenTheFirstKindThatQueuesCompeteFor) {
  Put("a", "", {Guarantee("memory", 1)});
  EXPECT_EQ(law_.DecidingKind({1, 1}), queues_.kinds()) << "it is alone";
  Put("b", "", {});
  EXPECT_EQ(law_.DecidingKind({1, 1}), kMemory);
  EXPECT_EQ(law_.DecidingKind({1, 0}), queues_.kinds());
  EXPECT_EQ(law_.DecidingKind({1, 1, 1}), kGpu) << "contested or not";
  queues_.Remove(queues_.Find("b"));
  EXPECT_EQ(law_.DecidingKind({1, 1}), queues_.kinds());
}

TEST_F(QuotaLawTest, AQueueTakesBackUpToItsGuarantee) {
  const QueueIndex poor = Put("poor", "", {Guarantee("gpu", 4)});
  const QueueIndex rich = Put("rich", "", {Guarantee("gpu", 2)});
  queues_.Charge(rich, {0, 0, 3}, 1);
  EXPECT_TRUE(law_.MayReclaim(poor, rich, {0, 0, 4}));
  EXPECT_FALSE(law_.MayReclaim(poor, rich, {0, 0, 5}));
  EXPECT_FALSE(law_.MayReclaim(rich, poor, {0, 0, 1}));
  EXPECT_TRUE(law_.MayReclaimAtAll(poor, {0, 0, 4}));
  EXPECT_FALSE(law_.MayReclaimAtAll(poor, {0, 0, 5}));
  queues_.Charge(rich, {0, 0, 1}, -1);
  EXPECT_FALSE(law_.MayReclaim(poor, rich, {0, 0, 1}))
      << "nobody loses what is theirs";
}

// "team" holds more than its share of "site", but "site" is owed.
TEST_F(QuotaLawTest, WhatAGroupIsGuaranteedAnyQueueInItMayClaim) {
  const QueueIndex site = Put("site", "", {Guarantee("gpu", 8)});
  const QueueIndex team = Put("team", "site", {Guarantee("gpu", 1)});
  const QueueIndex mate = Put("mate", "site");
  const QueueIndex other = Put("other", "");
  queues_.Charge(team, {0, 0, 2}, 1);
  queues_.Charge(mate, {0, 0, 1}, 1);
  queues_.Charge(other, {0, 0, 1}, 1);
  EXPECT_EQ(queues_.at(site).used[kGpu], 3);
  EXPECT_TRUE(law_.MayReclaim(team, other, {0, 0, 5}));
  EXPECT_FALSE(law_.MayReclaim(team, mate, {0, 0, 1}));
  EXPECT_TRUE(law_.MayReclaimAtAll(team, {0, 0, 5}));
  EXPECT_FALSE(law_.MayReclaim(team, other, {0, 0, 6}));
}

TEST_F(QuotaLawTest, TheGroupOfAVictimProtectsItUpToItsOwn) {
  const QueueIndex poor = Put("poor", "", {Guarantee("gpu", 4)});
  Put("site", "", {Guarantee("gpu", 3)});
  const QueueIndex team = Put("team", "site");
  queues_.Charge(team, {0, 0, 3}, 1);
  EXPECT_FALSE(law_.MayReclaim(poor, team, {0, 0, 1}));
  EXPECT_FALSE(law_.MayLose(team, poor, {0, 0, 1}, {0, 0, 1}));
  queues_.Charge(team, {0, 0, 1}, 1);
  EXPECT_TRUE(law_.MayReclaim(poor, team, {0, 0, 1}));
  EXPECT_TRUE(law_.MayLose(team, poor, {0, 0, 1}, {0, 0, 1}));
  QuotaOverlay overlay(queues_);
  overlay.Charge(team, {0, 0, 1}, -1);
  EXPECT_FALSE(law_.MayLose(team, poor, {0, 0, 1}, {0, 0, 1}, &overlay));
}

TEST_F(QuotaLawTest, WorkOnDevicesIsSafeWithinTheDevicesOfItsQueue) {
  const QueueIndex poor = Put("poor", "", {Guarantee("cpu", 4)});
  const QueueIndex rich = Put("rich", "", {Guarantee("gpu", 2)});
  queues_.Charge(rich, {9, 0, 2}, 1);
  EXPECT_TRUE(law_.MayReclaim(poor, rich, {4}));
  EXPECT_TRUE(law_.MayLose(rich, poor, {4}, {9}));
  EXPECT_FALSE(law_.MayLose(rich, poor, {4}, {8, 0, 1}));
  queues_.Charge(rich, {0, 0, 1}, 1);
  EXPECT_TRUE(law_.MayLose(rich, poor, {4}, {8, 0, 1}));
}

TEST_F(QuotaLawTest, WhereNoKindDecidesNothingIsTakenBack) {
  const QueueIndex a = Put("a", ""), b = Put("b", "", {Limit("cpu", 1)});
  queues_.Charge(b, {1}, 1);
  EXPECT_FALSE(law_.MayReclaimAtAll(a, {1}));
  EXPECT_FALSE(law_.MayReclaim(a, b, {1}));
}

TEST_F(QuotaLawTest, TheVersionRisesWithARemovalAndWhenItIsTakenBack) {
  const Queue values = {.key = "q", .quotas = {Limit("cpu", 1)}};
  const QueueIndex q = queues_.Upsert(values);
  const uint64_t before = law_.version();
  queues_.Remove(q);
  const uint64_t removed = law_.version();
  EXPECT_GT(removed, before);
  queues_.UndoRemove(values);
  EXPECT_GT(law_.version(), removed);
  EXPECT_EQ(queues_.Find("q"), q);
}

}  // namespace
}  // namespace muster
