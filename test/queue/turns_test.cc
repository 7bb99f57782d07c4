// Whose turn it is, against comparing all queues anew.
#include "lib/queue/turns.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lib/queue/queue_order.h"
#include "lib/queue/quota_checker.h"
#include "test/property/dice.h"

namespace muster {
namespace {

const std::vector<std::string> kKinds = {"cpu", "memory", "gpu"};
constexpr ResourceKind kDevices = 2;

// A gang with this key, whose place among gangs is its `submitted`.
QueuePosition PositionIn(const std::string& key, Time submitted,
                         int32_t priority = 0) {
  return {.priority = priority, .submitted = submitted, .key = key};
}

class QueueOrderTest : public testing::Test {
 protected:
  QueueIndex Put(std::string key, uint32_t weight = 1,
                 std::optional<int64_t> gpus = std::nullopt) {
    Queue queue{.key = std::move(key), .weight = weight};
    if (gpus) queue.quotas = {{.resource = "gpu", .guarantee = gpus}};
    return queues_.Upsert(queue);
  }
  // Whether a's turn with a gang is before that of b.
  bool Before(QueueIndex a, const QueuePosition& first, QueueIndex b,
              const QueuePosition& second) {
    const auto x = order_.TurnOf(a, {first, &demand_});
    const auto y = order_.TurnOf(b, {second, &demand_});
    EXPECT_NE(order_.Before(x, y), order_.Before(y, x)) << "it is total";
    return order_.Before(x, y);
  }

  const Resources capacity_ = {10, 0, 8};
  const Resources demand_ = {1, 0, 2};
  QueueTree queues_{kKinds};
  QuotaChecker quota_{queues_};
  std::vector<QueueOrderKey> keys_{};
  const QueueOrder order_{queues_, quota_, capacity_, keys_};
};

TEST_F(QueueOrderTest, AGuaranteeComesBeforePriority) {
  const QueueIndex owed = Put("owed", 1, 2), other = Put("other");
  EXPECT_TRUE(Before(owed, PositionIn("a", 9), other, PositionIn("b", 1, 100)));
  queues_.Charge(owed, {0, 0, 1}, 1);
  EXPECT_FALSE(Before(owed, PositionIn("a", 9), other, PositionIn("b", 1, 100)))
      << "it would have more than its guarantee";
}

TEST_F(QueueOrderTest, TheShareComesBeforePriorityWhereItIsSaid) {
  keys_ = {QueueOrderKey::kWithin, QueueOrderKey::kShare,
           QueueOrderKey::kPriority};
  const QueueIndex a = Put("a"), b = Put("b");
  EXPECT_TRUE(Before(a, PositionIn("a", 9, 1), b, PositionIn("b", 1)));
  queues_.Charge(a, {5}, 1);
  EXPECT_FALSE(Before(a, PositionIn("a", 9, 1), b, PositionIn("b", 1)));
  EXPECT_FALSE(Before(a, PositionIn("a", 1), b, PositionIn("b", 9)));
}

TEST_F(QueueOrderTest, PriorityComesBeforeTheShare) {
  const QueueIndex a = Put("a"), b = Put("b");
  queues_.Charge(a, {5}, 1);
  EXPECT_TRUE(Before(a, PositionIn("a", 9, 1), b, PositionIn("b", 1)));
  EXPECT_FALSE(Before(a, PositionIn("a", 1), b, PositionIn("b", 9)));
}

TEST_F(QueueOrderTest, ABandComesBeforeTheShareAndBehindTheGuarantee) {
  const QueueIndex a = Put("a"), b = Put("b"), owed = Put("owed", 1, 2);
  queues_.Upsert({.key = "a", .band = 1});
  queues_.Charge(a, {5}, 1);
  EXPECT_TRUE(Before(a, PositionIn("a", 9), b, PositionIn("b", 1, 100)));
  EXPECT_FALSE(Before(a, PositionIn("a", 9), owed, PositionIn("b", 10)));
}

TEST_F(QueueOrderTest, AgeAloneIsFirstComeFirstServed) {
  keys_ = {QueueOrderKey::kAge};
  const QueueIndex a = Put("a"), b = Put("b", 1, 2);
  queues_.Charge(a, {5}, 1);
  EXPECT_TRUE(Before(a, PositionIn("a", 1), b, PositionIn("b", 2, 100)));
}

TEST_F(QueueOrderTest, TheLargestShareCountsByWeight) {
  const QueueIndex a = Put("a", 2), b = Put("b");
  queues_.Charge(a, {1, 1000, 4}, 1);  // Half of the devices, twice the weight.
  queues_.Charge(b, {2}, 1);           // A fifth of the cores.
  EXPECT_FALSE(Before(a, PositionIn("a", 1), b, PositionIn("b", 2)));
  queues_.Charge(b, {1}, 1);
  EXPECT_TRUE(Before(a, PositionIn("a", 2), b, PositionIn("b", 1)))
      << "of memory there is none: it has no share";
}

TEST_F(QueueOrderTest, WhatIsBeingReleasedIsNoShare) {
  const QueueIndex a = Put("a"), b = Put("b");
  queues_.ChargeReleasing(a, {9, 0, 8}, 1);
  queues_.Charge(b, {1}, 1);
  EXPECT_TRUE(Before(a, PositionIn("a", 2), b, PositionIn("b", 1)));
}

TEST_F(QueueOrderTest, AmongEqualsTheOlderGangThenTheKey) {
  const QueueIndex a = Put("a"), b = Put("b");
  EXPECT_TRUE(Before(b, PositionIn("y", 1), a, PositionIn("x", 2)));
  EXPECT_TRUE(Before(b, PositionIn("x", 2), a, PositionIn("y", 2)));
}

TEST(TurnsTest, NobodyHasATurnWithoutAClaim) {
  QueueTree queues(kKinds);
  const QuotaChecker quota(queues);
  const Resources capacity = {10, 10, 10}, demand = {1};
  const std::vector<QueueOrderKey> keys;
  const QueueOrder order(queues, quota, capacity, keys);
  const QueueIndex a = queues.Upsert({.key = "a"});
  Turns turns(queues, order);
  turns.Clear();
  EXPECT_EQ(turns.next(), kNoQueue);
  turns.Set(a, {PositionIn("x", 1), &demand});
  EXPECT_EQ(turns.next(), a);
  turns.Clear();
  EXPECT_EQ(turns.next(), kNoQueue);
  turns.Withdraw(a);
  EXPECT_EQ(turns.next(), kNoQueue);
}

// What is used may have changed with Withdraw, too.
TEST(TurnsTest, ALeafWithoutAClaimTellsOfItsUse) {
  QueueTree queues(kKinds);
  const QuotaChecker quota(queues);
  const Resources capacity = {10, 10, 10}, demand = {1};
  const std::vector<QueueOrderKey> keys;
  const QueueOrder order(queues, quota, capacity, keys);
  queues.Upsert({.key = "site"});
  const QueueIndex a = queues.Upsert({.key = "a", .parent = "site"});
  const QueueIndex mate = queues.Upsert({.key = "mate", .parent = "site"});
  const QueueIndex other = queues.Upsert({.key = "other"});
  Turns turns(queues, order);
  turns.Clear();
  turns.Set(a, {PositionIn("x", 1), &demand});
  turns.Set(other, {PositionIn("y", 2), &demand});
  EXPECT_EQ(turns.next(), a);
  queues.Charge(mate, {5}, 1);
  turns.Withdraw(mate);
  EXPECT_EQ(turns.next(), other);
}

// --- Against a naive tournament ----------------------------------------------

__extension__ typedef __int128 Product;

constexpr uint32_t kMostQueues = 10;
const std::vector<std::string> kNames = {"a", "b", "c", "d", "e",
                                         "f", "g", "h", "i", "j"};

const std::vector<QueueOrderKey> kUsual = {
    QueueOrderKey::kWithin, QueueOrderKey::kBand, QueueOrderKey::kPriority,
    QueueOrderKey::kShare, QueueOrderKey::kAge};

class Stage {
 public:
  explicit Stage(uint64_t seed) : dice_(seed), claims_(kMostQueues) {
    for (int i = 0; i < 3; ++i) Grow();
    turns_.Clear();
  }

  // Something happens, and the tournament is told of it.
  void Step() {
    const QueueIndex leaf = SomeLeaf();
    switch (dice_.Below(12)) {
      case 0:
        Restart();
        break;
      case 1:
      case 2:
        Use(leaf);
        turns_.UsageChanged(leaf);
        break;
      case 3:
      case 4:
      case 5:
        if (!claims_[leaf]) break;
        if (dice_.OneIn(2)) Use(leaf);
        claims_[leaf].reset();
        turns_.Withdraw(leaf);
        break;
      default:
        if (dice_.OneIn(2)) Use(leaf);
        claims_[leaf] = SomeClaim(leaf);
        turns_.Set(leaf, *claims_[leaf]);
    }
  }

  void Check() {
    QueueIndex best = kNoQueue;
    uint32_t active = 0;
    for (QueueIndex q = 0; q < queues_.limit(); ++q) {
      active += claims_[q].has_value();
      if (queues_.at(q).parent == kNoQueue) best = Better(best, q);
    }
    ASSERT_EQ(turns_.next(), best == kNoQueue ? kNoQueue : LeafOf(best));
    contests_ += active > 2;
  }
  uint32_t contests() const { return contests_; }

 private:
  // A new queue below a random one.
  void Grow() {
    if (queues_.limit() == kMostQueues) return;
    Queue queue{.key = kNames[queues_.limit()]};
    const uint32_t above = dice_.Below(queues_.limit() + 1);
    if (above < queues_.limit()) queue.parent = queues_.at(above).queue.key;
    queue.weight = 1 + dice_.Below(3);
    queue.band = static_cast<int32_t>(dice_.Below(2));
    for (const std::string& kind : kKinds) {
      if (dice_.OneIn(2)) continue;
      queue.quotas.push_back({.resource = kind, .guarantee = dice_.In(0, 9)});
    }
    queues_.Upsert(queue);
  }
  void Restart() {
    Grow();
    claims_.assign(kMostQueues, std::nullopt);
    turns_.Clear();
  }
  QueueIndex SomeLeaf() {
    while (true) {
      const QueueIndex q = dice_.Below(queues_.limit());
      if (queues_.IsLeaf(q)) return q;
    }
  }
  // The leaf uses more of a kind, or less.
  void Use(QueueIndex leaf) {
    const ResourceKind kind = dice_.Below(3);
    const int64_t used = queues_.at(leaf).used[kind];
    Resources change;
    change.Set(kind, dice_.In(-used, 4));
    queues_.Charge(leaf, change, 1);
  }
  // The usual ones, or some in any order.
  std::vector<QueueOrderKey> SomeKeys() {
    std::vector<QueueOrderKey> keys;
    if (dice_.OneIn(3)) return keys;
    keys = kUsual;
    for (size_t i = keys.size() - 1; i > 0; --i) {
      std::swap(keys[i], keys[dice_.Below(static_cast<uint32_t>(i) + 1)]);
    }
    keys.resize(1 + dice_.Below(5));
    return keys;
  }
  Claim SomeClaim(QueueIndex leaf) {
    return {.position = PositionIn(kNames[leaf], dice_.In(1, 2),
                                   static_cast<int32_t>(dice_.Below(2))),
            .demand = &demands_[dice_.Below(3)]};
  }

  // The leaf that stands for q, by asking all below it; or kNoQueue.
  QueueIndex LeafOf(QueueIndex q) const {
    if (queues_.IsLeaf(q)) return claims_[q] ? q : kNoQueue;
    QueueIndex best = kNoQueue;
    for (const QueueIndex child : queues_.at(q).children) {
      best = Better(best, child);
    }
    return best == kNoQueue ? kNoQueue : LeafOf(best);
  }
  // Of two siblings the one whose turn it is.
  QueueIndex Better(QueueIndex a, QueueIndex b) const {
    if (LeafOf(b) == kNoQueue) return a;
    if (a == kNoQueue) return b;
    const Claim &x = *claims_[LeafOf(a)], &y = *claims_[LeafOf(b)];
    for (const QueueOrderKey key : keys_.empty() ? kUsual : keys_) {
      const Product first = Value(key, a, x), second = Value(key, b, y);
      if (first != second) return first < second ? a : b;
    }
    const QueuePosition &p = x.position, &q = y.position;
    if (p.priority != q.priority) return p.priority > q.priority ? a : b;
    if (p.submitted != q.submitted) return p.submitted < q.submitted ? a : b;
    return p.key < q.key ? a : b;
  }
  // The less, the sooner.
  Product Value(QueueOrderKey key, QueueIndex q, const Claim& claim) const {
    switch (key) {
      case QueueOrderKey::kWithin:
        return IsWithin(q, *claim.demand) ? 0 : 1;
      case QueueOrderKey::kBand:
        return -queues_.at(q).queue.band;
      case QueueOrderKey::kShare:
        return Share(q);
      case QueueOrderKey::kPriority:
        return -claim.position.priority;
      default:
        return claim.position.submitted;
    }
  }
  // In parts of what all capacities and weights divide.
  Product Share(QueueIndex q) const {
    const Product all = Product{10} * 8 * 6;
    Product most = 0;
    for (ResourceKind kind = 0; kind < 3; ++kind) {
      const Product share = all / capacity_[kind] * queues_.at(q).used[kind];
      if (share > most) most = share;
    }
    return most * (6 / queues_.at(q).queue.weight);
  }
  bool IsWithin(QueueIndex q, const Resources& demand) const {
    bool says = false;
    for (const Quota& quota : queues_.at(q).queue.quotas) {
      const ResourceKind kind = quota.resource == "cpu"      ? 0
                                : quota.resource == "memory" ? 1
                                                             : 2;
      if (demand[kind] == 0) continue;
      says = true;
      if (queues_.at(q).used[kind] + demand[kind] > *quota.guarantee) {
        return false;
      }
    }
    return says;
  }

  Dice dice_;
  const Resources capacity_ = {10, 8, 6};
  const std::vector<Resources> demands_ = {{1}, {2, 3}, {1, 0, 4}};
  QueueTree queues_{kKinds};
  const QuotaChecker quota_{queues_};
  const std::vector<QueueOrderKey> keys_ = SomeKeys();
  const QueueOrder order_{queues_, quota_, capacity_, keys_};
  std::vector<std::optional<Claim>> claims_;  // By queue.
  Turns turns_{queues_, order_};
  uint32_t contests_ = 0;
};

TEST(TurnsPropertyTest, TheNextIsTheBestOfAll) {
  uint32_t contests = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Stage stage(seed);
    for (int step = 0; step < 100; ++step) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << step);
      stage.Step();
      ASSERT_NO_FATAL_FAILURE(stage.Check());
    }
    contests += stage.contests();
  }
  EXPECT_GT(contests, 2000u);
}

}  // namespace
}  // namespace muster
