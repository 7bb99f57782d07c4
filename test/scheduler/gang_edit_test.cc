// Gangs are changed inside edits: when the last one ends, the gang stands in
// the lists of its new record, and in no other.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lib/scheduler/scheduler_tables.h"
#include "test/property/dice.h"
#include "test/scheduler/tables_stage.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class GangEditTest : public testing::Test {
 protected:
  GangEditTest() {
    s_.HasNode(8);
    q_ = s_.tables.queues.Find("q");
  }
  // The gang that is first in line; kNoGang if none waits.
  GangIndex FirstWaiting() {
    GangClassList& waiting = s_.tables.lists.waiting();
    const GangClassIndex c = waiting.First(q_, false);
    return c == kNoClass ? kNoGang : waiting.at(c).first().gang;
  }

  TablesStage s_;
  QueueIndex q_ = kNoQueue;
};

TEST_F(GangEditTest, AGangThatIsHeldWaitsNoMore) {
  const GangIndex g = s_.Submit(Job("a"));
  EXPECT_EQ(FirstWaiting(), g);
  GangEdit(s_.tables, g)->held = true;
  EXPECT_EQ(FirstWaiting(), kNoGang);
  GangEdit(s_.tables, g)->held = false;
  EXPECT_EQ(FirstWaiting(), g);
}

TEST_F(GangEditTest, OnlyTheOutermostEditMovesTheGang) {
  const GangIndex g = s_.Submit(Job("a"));
  {
    GangEdit outer(s_.tables, g);
    {
      GangEdit(s_.tables, g)->held = true;
    }
    EXPECT_EQ(FirstWaiting(), g);
    EXPECT_EQ(s_.tables.gangs.at(g).edits, 1u);
  }
  EXPECT_EQ(FirstWaiting(), kNoGang);
  EXPECT_EQ(s_.tables.gangs.at(g).edits, 0u);
}

TEST_F(GangEditTest, AGangLeavesWhenTheLastEditEnds) {
  const GangIndex g = s_.Submit(Job("a"));
  {
    GangEdit outer(s_.tables, g);
    {
      GangEdit(s_.tables, g).Leave();
    }
    EXPECT_EQ(s_.tables.gangs.Find("a"), g);
  }
  EXPECT_EQ(s_.tables.gangs.Find("a"), kNoGang);
  EXPECT_EQ(s_.tables.gangs.size(), 0u);
  EXPECT_EQ(s_.tables.queues.at(q_).gangs, 0u);
  EXPECT_EQ(FirstWaiting(), kNoGang);
  EXPECT_TRUE(s_.tables.queues.asked().IsZero());
}

TEST_F(GangEditTest, APositionIsUsedAgainUnderANewGeneration) {
  const GangIndex g = s_.Submit(Job("a"));
  const uint32_t generation = s_.tables.gangs.at(g).generation;
  s_.Happens(GangFinished{"a"});
  EXPECT_EQ(s_.Submit(Job("b")), g);
  EXPECT_EQ(s_.tables.gangs.at(g).generation, generation + 1);
  s_.Submit(Job("a"));
  EXPECT_THAT(s_.tables.gangs.Sorted(),
              ElementsAre(s_.tables.gangs.Find("a"), g));
}

TEST_F(GangEditTest, TheLineMovesWithTheTimeOfSubmission) {
  Gang a = Job("a"), b = Job("b");
  a.submitted = 5;
  b.submitted = 7;
  const GangIndex first = s_.Submit(a), second = s_.Submit(b);
  EXPECT_EQ(FirstWaiting(), first);
  GangEdit(s_.tables, first)->submitted = 9;
  EXPECT_EQ(FirstWaiting(), second);
  EXPECT_EQ(s_.tables.lists.waiting().CountAhead(
                q_, s_.tables.lists.PositionOf(first)),
            1u);
}

TEST_F(GangEditTest, AnEditWithoutAChangeKeepsWhatIsRemembered) {
  const GangIndex g = s_.Submit(Job("a"));
  GangClassList& waiting = s_.tables.lists.waiting();
  waiting.Deactivate(waiting.First(q_, false), Questions::kRoom);
  const GangClassIndex c = waiting.First(q_, false);
  GangEdit(s_.tables, g)->user = "somebody";
  EXPECT_EQ(waiting.questions(c).active, Questions::kVictims);
}

TEST_F(GangEditTest, WhoRunsHoldsAndGrowsAndHasAnEnd) {
  Gang a = Elastic("a", 2, 4);
  a.max_runtime = 50;
  a.expected_runtime = 20;
  const GangIndex g = s_.Submit(a);
  ASSERT_TRUE(s_.Run(g, 3));
  const GangLists& lists = s_.tables.lists;
  std::vector<GangIndex> holders;
  lists.holding(q_).at(0).ForEach([&](GangIndex h) { holders.push_back(h); });
  EXPECT_THAT(holders, ElementsAre(g));
  EXPECT_TRUE(lists.holding(q_).at(0).elastic());
  EXPECT_THAT(lists.times().wakes(), ElementsAre(Pair(50, g)));
  EXPECT_THAT(lists.times().ends(), ElementsAre(Pair(20, g)));
  EXPECT_EQ(s_.tables.gangs.at(g).listing.surplus, 1u);
  EXPECT_EQ(s_.tables.lists.growing().HeadOf(q_), g);
  s_.Happens(GangYielded{"a"});
  EXPECT_THAT(lists.holding(q_), IsEmpty());
  EXPECT_THAT(lists.times().wakes(), IsEmpty());
  EXPECT_THAT(lists.times().ends(), IsEmpty());
  EXPECT_EQ(FirstWaiting(), g);
}

TEST_F(GangEditTest, WhoHasLessBeyondItsMinimumGrowsSooner) {
  ASSERT_TRUE(s_.Run(s_.Submit(Elastic("a", 1, 4)), 3));
  ASSERT_TRUE(s_.Run(s_.Submit(Elastic("b", 1, 4)), 2));
  GangClassList& growing = s_.tables.lists.growing();
  const GangIndex a = s_.tables.gangs.Find("a"), b = s_.tables.gangs.Find("b");
  EXPECT_EQ(growing.HeadOf(q_), b);
  {
    GangEdit gang(s_.tables, a);
    s_.life.Drop(gang, {0, 2});
    s_.life.Drop(gang, {0, 1});
  }
  EXPECT_EQ(growing.HeadOf(q_), a);
  EXPECT_EQ(growing.at(growing.First(q_, false)).size(), 2u);
}

// --- Any changes, against lists made anew ------------------------------------

void SomeEdit(SchedulerTables& tables, GangIndex g, Dice& dice) {
  GangEdit gang(tables, g);
  for (int i = 0; i < 2; ++i) {
    switch (dice.Below(8)) {
      case 0:
        gang->held = dice.OneIn(2);
        break;
      case 1:
        gang->submitted = dice.In(0, 3);
        break;
      case 2:
        gang->check_due = dice.OneIn(2);
        break;
      case 3:
        gang->not_before = dice.In(0, 4);
        break;
      case 4:
        gang->backoff_until = dice.In(0, 4);
        break;
      case 5:
        gang->max_runtime = dice.In(0, 9);
        break;
      case 6:
        gang->repair_reason =
            dice.OneIn(2) ? ReasonCode::kTaskFailed : ReasonCode::kNone;
        break;
      default:
        gang->phase = static_cast<GangPhase>(dice.Below(7));
        gang->since = dice.In(0, 4);
        gang->started = dice.In(0, 4);
    }
  }
}

// All lists, from the records.
void CheckLists(const SchedulerTables& tables) {
  const GangLists& lists = tables.lists;
  std::set<std::string> nominated, asking, lacking;
  std::multiset<GangIndex> holders, held;
  std::set<int32_t> elastic;  // Priorities.
  GangTimes::Index wakes, ends;
  size_t waiting = 0, growing = 0;
  for (GangIndex g = 0; g < tables.gangs.limit(); ++g) {
    const GangRecord& r = tables.gangs.at(g);
    if (!r.exists) continue;
    const Listing l = lists.ListingOf(g, r);
    ASSERT_EQ(r.listing, l) << r.key;
    if (l.nominated) nominated.insert(r.key);
    if (l.check_due) asking.insert(r.key);
    if (l.lacks) lacking.insert(r.key);
    if (l.wake_at != kForever) wakes.insert({l.wake_at, g});
    if (l.ends_at != kForever) ends.insert({l.ends_at, g});
    if (l.holds) holders.insert(g);
    if (l.holds && l.elastic && !l.promised) elastic.insert(l.priority);
    waiting += l.waiting.queue != kNoQueue;
    growing += l.growing.queue != kNoQueue;
  }
  const auto keys = [](const GangLists::PositionSet& positions) {
    std::set<std::string> all;
    for (const QueuePosition& position : positions) all.emplace(position.key);
    return all;
  };
  ASSERT_EQ(keys(lists.nominated()), nominated);
  ASSERT_EQ(keys(lists.check_due()), asking);
  ASSERT_EQ(keys(lists.lacking()), lacking);
  ASSERT_EQ(lists.times().wakes(), wakes);
  ASSERT_EQ(lists.times().ends(), ends);
  for (const auto& [priority, all] : lists.holding(tables.queues.Find("q"))) {
    all.ForEach([&](GangIndex g) { held.insert(g); });
    ASSERT_EQ(all.elastic(), elastic.contains(priority));
  }
  ASSERT_EQ(held, holders);
  for (const GangClassList* list : {&lists.waiting(), &lists.growing()}) {
    size_t gangs = 0;
    list->ForEach([&](GangClassIndex c) { gangs += list->at(c).size(); });
    ASSERT_EQ(gangs, list == &lists.waiting() ? waiting : growing);
  }
}

TEST(GangListsPropertyTest, TheListsAreThoseOfTheRecords) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed);
    TablesStage s;
    s.HasNode(8);
    s.tables.now = 2;
    std::vector<GangIndex> gangs;
    for (const char* key : {"a", "b", "c", "d"}) {
      gangs.push_back(s.Submit(Elastic(key, 1, 2)));
      if (dice.OneIn(2)) s.Run(gangs.back(), 1);
    }
    for (int step = 0; step < 60; ++step) {
      SomeEdit(s.tables, gangs[dice.Below(4)], dice);
      ASSERT_NO_FATAL_FAILURE(CheckLists(s.tables));
    }
    // What is left when all are out is nothing.
    for (const GangIndex g : gangs) {
      GangEdit gang(s.tables, g);
      s.life.Stop(gang);
      gang.Leave();
    }
    for (const size_t size : s.tables.lists.Sizes()) ASSERT_EQ(size, 0u);
  }
}

}  // namespace
}  // namespace muster
