// QuotaChecker, against a book that adds up a list of charges for every
// question.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/queue/quota_checker.h"
#include "test/queue/quota_world.h"

namespace muster {
namespace {

// Calls f(world) after every change of many small worlds.
template <class F>
void InManyWorlds(F&& f) {
  for (uint64_t seed = 1; seed <= 600; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    World world(seed);
    for (int step = 0; step < 50; ++step) {
      world.Change();
      f(world);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

std::string Named(const World& w, const LimitExcess& excess) {
  if (!excess) return "";
  return w.tree().at(excess.queue).queue.key + " " + kKinds[excess.kind];
}

TEST(QuotaCheckerPropertyTest, TheRoomIsWhatTheChargesLeave) {
  uint32_t bounded = 0, full = 0;
  InManyWorlds([&](World& w) {
    const std::string q = w.SomeQueue();
    for (const Ledger ledger : {Ledger::kLater, Ledger::kBoth}) {
      Resources room;
      const bool any = w.quota().Room(w.At(q), ledger, &room);
      bool expected = false;
      for (uint32_t k = 0; k < kKinds.size(); ++k) {
        const auto left = w.book().Room(q, k, ledger == Ledger::kBoth);
        ASSERT_EQ(room[k], left.value_or(QueueTree::kUnbounded)) << q << k;
        expected |= left.has_value();
        full += left == 0;
      }
      ASSERT_EQ(any, expected);
      bounded += any;
    }
  });
  EXPECT_GT(bounded, 5000u);
  EXPECT_GT(full, 500u);
}

TEST(QuotaCheckerPropertyTest, WhatIsOverALimitIsOverThatOfTheBook) {
  uint32_t over = 0, now = 0, never = 0;
  InManyWorlds([&](World& w) {
    const std::string q = w.SomeQueue();
    const Amounts demand = w.SomeAmounts();
    const Resources asked = ToResources(demand);
    const LimitExcess ever = w.quota().NeverWithin(w.At(q), asked);
    NaiveBook unused = w.book();
    unused.charges.clear();
    ASSERT_EQ(Named(w, ever), unused.OverLimit(q, demand, demand, true));
    never += static_cast<bool>(ever);
    for (const bool both : {false, true}) {
      const Ledger ledger = both ? Ledger::kBoth : Ledger::kLater;
      const auto then = w.quota().OverLimit(w.At(q), asked, ledger);
      ASSERT_EQ(Named(w, then), w.book().OverLimit(q, demand, demand, both));
      over += static_cast<bool>(then);
      const auto held = w.quota().OverLimitNow(w.At(q), asked, ledger);
      ASSERT_EQ(Named(w, held),
                w.book().OverLimit(q, demand, Amounts(kKinds.size()), both));
      now += static_cast<bool>(held);
    }
  });
  EXPECT_GT(over, 1000u);
  EXPECT_GT(now, 300u);
  EXPECT_GT(never, 100u);
}

TEST(QuotaCheckerPropertyTest, GuaranteesAreThoseOfTheBook) {
  uint32_t within = 0, reclaim = 0, lose = 0, at_all = 0;
  InManyWorlds([&](World& w) {
    const std::string preemptor = w.SomeLeaf(), victim = w.SomeLeaf();
    const Amounts demand = w.SomeAmounts(), held = w.SomeAmounts();
    const Resources asked = ToResources(demand), its = ToResources(held);
    const QueueIndex t = w.At(preemptor), v = w.At(victim);
    const NaiveBook& book = w.book();
    ASSERT_EQ(w.quota().Within(t, asked), book.Within(preemptor, demand));
    ASSERT_EQ(w.quota().MayReclaimAtAll(t, asked),
              book.MayReclaimAtAll(preemptor, demand));
    within += book.Within(preemptor, demand);
    at_all += book.MayReclaimAtAll(preemptor, demand);
    if (t == v) return;
    const bool may = w.quota().MayReclaim(t, v, asked);
    ASSERT_EQ(may, book.MayReclaim(preemptor, victim, demand));
    const Priorities priorities = w.SomePriorities();
    const bool loses = w.quota().MayLose(v, t, asked, its, priorities);
    ASSERT_EQ(loses, book.MayLose(victim, preemptor, demand, held, priorities));
    const auto most = w.quota().MostToTake(t, v, asked, priorities.preemptor);
    ASSERT_TRUE(!loses || (most && priorities.victim <= *most));
    ASSERT_TRUE(!most || may);
    ASSERT_TRUE(!may || w.quota().MayReclaimAtAll(t, asked));
    reclaim += may;
    lose += loses;
  });
  EXPECT_GT(within, 500u);
  EXPECT_GT(at_all, 500u);
  EXPECT_GT(reclaim, 200u);
  EXPECT_GT(lose, 100u);
}

TEST(QuotaCheckerPropertyTest, AnOverlayAnswersAsIfItHadBeenCharged) {
  InManyWorlds([](World& w) {
    QuotaOverlay overlay(w.tree());
    NaiveBook book = w.book();
    for (int i = 0; i < 3; ++i) {
      const std::string q = w.SomeQueue();
      const Amounts amount = w.SomeAmounts();
      overlay.Charge(w.At(q), ToResources(amount), 1);
      book.charges.push_back({q, amount, false});
    }
    if (!book.charges.empty() && !book.charges.front().releasing) {
      const NaiveCharge gone = book.charges.front();
      overlay.Charge(w.At(gone.queue), ToResources(gone.amount), -1);
      book.charges.erase(book.charges.begin());
    }
    const std::string q = w.SomeQueue(), other = w.SomeQueue();
    const Amounts demand = w.SomeAmounts(), held = w.SomeAmounts();
    const Resources asked = ToResources(demand);
    Resources room;
    w.quota().Room(w.At(q), Ledger::kBoth, &room, &overlay);
    for (uint32_t k = 0; k < kKinds.size(); ++k) {
      ASSERT_EQ(room[k], book.Room(q, k, true).value_or(QueueTree::kUnbounded));
    }
    ASSERT_EQ(
        Named(w, w.quota().OverLimit(w.At(q), asked, Ledger::kLater, &overlay)),
        book.OverLimit(q, demand, demand, false));
    ASSERT_EQ(w.quota().Within(w.At(q), asked, &overlay),
              book.Within(q, demand));
    const Priorities priorities = w.SomePriorities();
    ASSERT_EQ(w.quota().MayLose(w.At(other), w.At(q), asked, ToResources(held),
                                priorities, &overlay),
              book.MayLose(other, q, demand, held, priorities, &w.book()));
  });
}

// What `v` lost to `t` it cannot take back from the gang that took it, as long
// as no queue has policies of its own.
TEST(QuotaCheckerPropertyTest, NoTwoGangsTakeFromEachOtherInTurn) {
  uint32_t taken = 0;
  InManyWorlds([&](World& w) {
    const std::string preemptor = w.SomeLeaf(), victim = w.SomeLeaf();
    const QueueIndex t = w.At(preemptor), v = w.At(victim);
    if (t == v || w.book().HasPolicies()) return;
    const Amounts demand = w.SomeAmounts();
    const NaiveBook& book = w.book();
    for (size_t i = 0; i < book.charges.size(); ++i) {
      const NaiveCharge& held = book.charges[i];
      if (held.queue != victim || held.releasing ||
          !book.MayReclaim(preemptor, victim, demand) ||
          !book.MayLose(victim, preemptor, demand, held.amount)) {
        continue;
      }
      ++taken;
      NaiveBook after = book;
      after.charges[i] = {preemptor, demand, false};
      ASSERT_FALSE(after.MayReclaim(victim, preemptor, held.amount) &&
                   after.MayLose(preemptor, victim, held.amount, demand));
    }
  });
  EXPECT_GT(taken, 50u);
}

// All answers about one demand.
std::vector<int64_t> AllAnswers(const World& w, const Resources& demand) {
  std::vector<int64_t> all;
  for (const auto& [key, queue] : w.book().queues) {
    const QueueIndex q = w.At(key);
    Resources room;
    w.quota().Room(q, Ledger::kBoth, &room);
    for (uint32_t k = 0; k < kKinds.size(); ++k) all.push_back(room[k]);
    all.push_back(w.quota().Within(q, demand));
    all.push_back(w.quota().MayReclaimAtAll(q, demand));
    for (const auto& [other, values] : w.book().queues) {
      all.push_back(w.quota().MayReclaim(q, w.At(other), demand));
    }
  }
  return all;
}

TEST(QuotaCheckerPropertyTest, TheVersionRisesWhenAnAnswerChanges) {
  uint32_t changed = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    World w(seed);
    for (int step = 0; step < 50; ++step) {
      const Resources demand = ToResources(w.SomeAmounts());
      const uint64_t version = w.quota().version();
      const std::vector<int64_t> before = AllAnswers(w, demand);
      w.Change();
      ASSERT_GE(w.quota().version(), version);
      if (AllAnswers(w, demand) == before) continue;
      ++changed;
      ASSERT_GT(w.quota().version(), version) << "seed " << seed;
    }
  }
  EXPECT_GT(changed, 1000u);
}

}  // namespace
}  // namespace muster
