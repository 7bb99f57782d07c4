// Taking back: what was changed meanwhile leaves no trace, in the state or in
// what comes later.
#include "lib/scheduler/undo.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"
#include "test/scheduler/core_stage.h"

namespace muster {
namespace {

TEST(UndoTest, AGangIsGivenBackAsItWasBeforeItsFirstChange) {
  CoreStage s;
  s.HasNode(4);
  const GangIndex g = s.Submit(Job("a", 2));
  ASSERT_TRUE(s.Run(g, 2));
  const GangState before = StateOf(s.core, g);
  s.core.undo.Begin();
  s.Happens(CheckpointTaken{.gang = "a", .at = 0});
  s.Happens(GangYielded{"a"});
  s.Happens(GangHeld{.gang = "a", .held = true});
  EXPECT_EQ(s.core.cluster.free_devices(0, Ledger::kNow), 4u);
  s.core.undo.Rollback();
  EXPECT_EQ(StateOf(s.core, g), before);
  EXPECT_EQ(s.core.cluster.free_devices(0, Ledger::kNow), 2u);
  EXPECT_EQ(s.Check(), "");
}

TEST(UndoTest, WhatIsCommittedStays) {
  CoreStage s;
  s.HasNode(4);
  s.Submit(Job("a"));
  s.core.undo.Begin();
  s.Happens(GangFinished{"a"});
  s.Submit(Job("b"));
  s.core.undo.Commit();
  EXPECT_FALSE(s.core.undo.active());
  EXPECT_EQ(s.core.gangs.Find("a"), kNoGang);
  EXPECT_NE(s.core.gangs.Find("b"), kNoGang);
  EXPECT_EQ(s.Check(), "");
  s.core.undo.Begin();
  s.core.undo.Rollback();
  EXPECT_NE(s.core.gangs.Find("b"), kNoGang) << "the next one begins anew";
}

TEST(UndoTest, AGangThatLeftComesBackUnderItsHandle) {
  CoreStage s;
  s.HasNode(4);
  const GangIndex a = s.Submit(Job("a"));
  const uint32_t generation = s.core.gangs.at(a).generation;
  s.core.undo.Begin();
  s.Happens(GangFinished{"a"});
  EXPECT_EQ(s.Submit(Job("b")), a) << "in its place";
  s.core.undo.Rollback();
  EXPECT_EQ(s.core.gangs.Find("a"), a);
  EXPECT_EQ(s.core.gangs.at(a).generation, generation);
  EXPECT_EQ(s.core.gangs.Find("b"), kNoGang);
  EXPECT_EQ(s.core.gangs.size(), 1u);
}

TEST(UndoTest, ClassesRememberTheirAnswers) {
  CoreStage s;
  s.HasNode(4);
  s.Submit(Job("a"));
  GangClassList& waiting = s.core.lists.waiting();
  const GangClassIndex c = waiting.First(s.core.queues.Find("q"), false);
  waiting.SetQuestions(c, {.effort = 2, .retry_at = 9});
  s.core.undo.Begin();
  s.Happens(NodeChanged{Machine("n2", 8)});
  EXPECT_NE(waiting.questions(c).open, 0) << "there is room";
  s.core.undo.Rollback();
  EXPECT_EQ(waiting.questions(c).open, 0);
  EXPECT_EQ(waiting.questions(c).retry_at, 9);
  EXPECT_TRUE(s.core.opener.empty());
}

TEST(UndoTest, GrowthIsRememberedEvenOfAGangThatLeftMeanwhile) {
  CoreStage s;
  s.HasNode(4);
  ASSERT_TRUE(s.Run(s.Submit(Elastic("a", 1, 3)), 1));
  GangClassList& growing = s.core.lists.growing();
  const QueueIndex q = s.core.queues.Find("q");
  growing.SetQuestions(growing.First(q, false), {.effort = 2});
  ASSERT_EQ(growing.First(q, false), kNoClass);
  s.core.undo.Begin();
  s.Happens(GangFinished{"a"});
  s.core.undo.Rollback();
  EXPECT_EQ(growing.First(q, false), kNoClass);
  EXPECT_EQ(growing.HeadOf(q), s.core.gangs.Find("a"));
  EXPECT_EQ(s.Check(), "");
}

TEST(UndoTest, InversesRunTheLastFirst) {
  CoreStage s;
  std::string order;
  s.core.undo.Changed([&] { order += "never"; });
  s.core.undo.Begin();
  s.core.undo.Changed([&] { order += "a"; });
  s.core.undo.Changed([&] { order += "b"; });
  EXPECT_EQ(order, "");
  s.core.undo.Rollback();
  EXPECT_EQ(order, "ba");
}

}  // namespace
}  // namespace muster
