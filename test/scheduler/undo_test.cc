// Taking back: what was changed meanwhile leaves no trace, in the state or in
// what comes later.
#include "lib/scheduler/undo.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "test/scheduler/tables_stage.h"

namespace muster {
namespace {

TEST(UndoTest, AGangIsGivenBackAsItWasBeforeItsFirstChange) {
  TablesStage s;
  s.HasNode(4);
  const GangIndex g = s.Submit(Job("a", 2));
  ASSERT_TRUE(s.Run(g, 2));
  const GangState before = StateOf(s.tables, g);
  s.tables.undo.Begin();
  s.Happens(CheckpointTaken{.gang = "a", .at = 0});
  s.Happens(GangYielded{"a"});
  s.Happens(GangHeld{.gang = "a", .held = true});
  EXPECT_EQ(s.tables.cluster.free_devices(0, Ledger::kNow), 4u);
  s.tables.undo.Rollback();
  EXPECT_EQ(StateOf(s.tables, g), before);
  EXPECT_EQ(s.tables.cluster.free_devices(0, Ledger::kNow), 2u);
  EXPECT_EQ(s.Check(), "");
}

TEST(UndoTest, WhatIsCommittedStays) {
  TablesStage s;
  s.HasNode(4);
  s.Submit(Job("a"));
  s.tables.undo.Begin();
  s.Happens(GangFinished{"a"});
  s.Submit(Job("b"));
  s.tables.undo.Commit();
  EXPECT_FALSE(s.tables.undo.active());
  EXPECT_EQ(s.tables.gangs.Find("a"), kNoGang);
  EXPECT_NE(s.tables.gangs.Find("b"), kNoGang);
  EXPECT_EQ(s.Check(), "");
  s.tables.undo.Begin();
  s.tables.undo.Rollback();
  EXPECT_NE(s.tables.gangs.Find("b"), kNoGang) << "the next one begins anew";
}

TEST(UndoTest, AGangThatLeftComesBackUnderItsHandle) {
  TablesStage s;
  s.HasNode(4);
  const GangIndex a = s.Submit(Job("a"));
  const uint32_t generation = s.tables.gangs.at(a).generation;
  s.tables.undo.Begin();
  s.Happens(GangFinished{"a"});
  EXPECT_EQ(s.Submit(Job("b")), a) << "in its place";
  s.tables.undo.Rollback();
  EXPECT_EQ(s.tables.gangs.Find("a"), a);
  EXPECT_EQ(s.tables.gangs.at(a).generation, generation);
  EXPECT_EQ(s.tables.gangs.Find("b"), kNoGang);
  EXPECT_EQ(s.tables.gangs.size(), 1u);
}

TEST(UndoTest, ClassesRememberTheirAnswers) {
  TablesStage s;
  s.HasNode(4);
  s.Submit(Job("a"));
  GangClassList& waiting = s.tables.lists.waiting();
  const GangClassIndex c = waiting.First(s.tables.queues.Find("q"), false);
  waiting.SetQuestions(c, {.effort = 2, .retry_at = 9});
  s.tables.undo.Begin();
  s.Happens(NodeChanged{Machine("n2", 8)});
  EXPECT_NE(waiting.questions(c).active, 0) << "there is room";
  s.tables.undo.Rollback();
  EXPECT_EQ(waiting.questions(c).active, 0);
  EXPECT_EQ(waiting.questions(c).retry_at, 9);
  EXPECT_TRUE(s.tables.activator.empty());
}

TEST(UndoTest, GrowthIsRememberedEvenOfAGangThatLeftMeanwhile) {
  TablesStage s;
  s.HasNode(4);
  ASSERT_TRUE(s.Run(s.Submit(Elastic("a", 1, 3)), 1));
  GangClassList& growing = s.tables.lists.growing();
  const QueueIndex q = s.tables.queues.Find("q");
  growing.SetQuestions(growing.First(q, false), {.effort = 2});
  ASSERT_EQ(growing.First(q, false), kNoClass);
  s.tables.undo.Begin();
  s.Happens(GangFinished{"a"});
  s.tables.undo.Rollback();
  EXPECT_EQ(growing.First(q, false), kNoClass);
  EXPECT_EQ(growing.HeadOf(q), s.tables.gangs.Find("a"));
  EXPECT_EQ(s.Check(), "");
}

TEST(UndoTest, InversesRunTheLastFirst) {
  TablesStage s;
  std::string order;
  s.tables.undo.Changed([&] { order += "never"; });
  s.tables.undo.Begin();
  s.tables.undo.Changed([&] { order += "a"; });
  s.tables.undo.Changed([&] { order += "b"; });
  EXPECT_EQ(order, "");
  s.tables.undo.Rollback();
  EXPECT_EQ(order, "ba");
}

}  // namespace
}  // namespace muster
