// What was taken back has left nothing, beside a twin that never saw it.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lib/scheduler/pass.h"
#include "lib/scheduler/undo.h"
#include "test/property/dice.h"
#include "test/scheduler/tables_stage.h"

namespace muster {
namespace {

// The later gang got the place of the one that came and went.
TEST(UndoTest, AGangThatCameAndWentMeanwhileIsUnknown) {
  TablesStage s;
  s.HasNode(4);
  s.tables.undo.Begin();
  s.Submit(Job("a"));
  s.Happens(GangFinished{"a"});
  s.Submit(Job("b"));
  s.tables.undo.Rollback();
  EXPECT_EQ(s.tables.gangs.Find("a"), kNoGang);
  EXPECT_EQ(s.tables.gangs.size(), 0u);
  s.Happens(GangSubmitted{Job("a")});
}

TEST(UndoTest, PriorityClassesComeBackToTheirPositions) {
  TablesStage s;
  s.HasNode(4);
  for (const char* cls : {"low", "high"}) {
    s.Happens(PriorityClassChanged{{.key = cls}});
  }
  s.Submit(Job("a", 1, 1, "high"));
  s.tables.undo.Begin();
  s.Happens(GangFinished{"a"});
  s.Happens(PriorityClassRemoved{"low"});
  s.Happens(PriorityClassRemoved{"high"});
  s.tables.undo.Rollback();
  const GangRecord& r = s.tables.gangs.at(s.tables.gangs.Find("a"));
  EXPECT_EQ(s.tables.classes.at(r.priority_class).key, "high");
  EXPECT_EQ(s.tables.classes.Find("low"), 1u);
}

const std::vector<std::string> kNodes = {"n1", "n2", "n3"};
const std::vector<std::string> kQueues = {"q", "r", "s"};
const std::vector<std::string> kClasses = {"low", "high"};
const std::vector<std::string> kGangs = {"a", "b", "c", "d", "e"};

template <class T>
const T& OneOf(Dice& dice, const std::vector<T>& all) {
  return all[dice.Below(static_cast<uint32_t>(all.size()))];
}

Queue SomeQueue(Dice& dice) {
  Queue queue{.key = OneOf(dice, kQueues)};
  if (dice.OneIn(3)) queue.parent = OneOf(dice, kQueues);
  if (dice.OneIn(2)) queue.quotas = {GpuQuota(dice.In(0, 3), dice.In(0, 6))};
  return queue;
}

Gang SomeGang(Dice& dice) {
  const uint32_t min = 1 + dice.Below(2);
  Gang gang = Elastic(OneOf(dice, kGangs), min, min + dice.Below(3));
  gang.queue = OneOf(dice, kQueues);
  if (dice.OneIn(2)) gang.priority_class = OneOf(dice, kClasses);
  if (dice.OneIn(3)) gang.max_runtime = dice.In(1, 3) * kSecond;
  return gang;
}

void NodeEvent(TablesStage& s, Dice& dice) {
  const std::string node = OneOf(dice, kNodes);
  switch (dice.Below(5)) {
    case 0:
      return (void)s.Try(NodeDown{node});
    case 1:
      return (void)s.Try(NodeUp{node});
    case 2:
      return (void)s.Try(NodeRemoved{node});
    case 3:
      return (void)s.Try(NodeDrained{.node = node, .drain = dice.OneIn(2)});
    default:
      return (void)s.Try(NodeChanged{Machine(node, 1 + dice.Below(4))});
  }
}

void TenantEvent(TablesStage& s, Dice& dice) {
  const std::string cls = OneOf(dice, kClasses);
  switch (dice.Below(5)) {
    case 0:
      return (void)s.Try(QueueRemoved{OneOf(dice, kQueues)});
    case 1:
      return (void)s.Try(PriorityClassRemoved{cls});
    case 2:
      return (void)s.Try(PriorityClassChanged{
          {.key = cls, .value = static_cast<int32_t>(dice.Below(3))}});
    case 3:
      return (void)s.Try(DisruptionBudgetChanged{
          {.key = "x", .gangs = {OneOf(dice, kGangs)}, .allowed = 1}});
    default:
      return (void)s.Try(QueueChanged{SomeQueue(dice)});
  }
}

void GangEvent(TablesStage& s, Dice& dice) {
  const std::string gang = OneOf(dice, kGangs);
  switch (dice.Below(12)) {
    case 0:
      return (void)s.Try(GangHeld{.gang = gang, .held = dice.OneIn(2)});
    case 1:
      return (void)s.Try(
          GangMoved{.gang = gang, .queue = OneOf(dice, kQueues)});
    case 2:
      return (void)s.Try(GangReprioritized{
          .gang = gang, .priority_class = OneOf(dice, kClasses)});
    case 3:
      return (void)s.Try(GangCancelled{gang});
    case 4:
      return (void)s.Try(GangYielded{gang});
    case 5:
      return (void)s.Try(GangChanged{SomeGang(dice)});
    case 6:
      return (void)s.Try(GangFinished{gang});
    default:
      return (void)s.Try(GangSubmitted{SomeGang(dice)});
  }
}

// All questions got no for an answer.
void PassEnds(TablesStage& s) {
  for (GangClassList* list :
       {&s.tables.lists.waiting(), &s.tables.lists.growing()}) {
    list->ForEach([&](GangClassIndex c) {
      list->SetQuestions(c, {.effort = 1, .retry_at = s.tables.now + kSecond});
    });
  }
  EndRound(s.tables);
}

// Something happens, as `dice` say. Equal dice, equal events.
void Step(TablesStage& s, Dice& dice) {
  s.tables.now += dice.Below(2) * kSecond;
  ++s.tables.version;
  const uint32_t what = dice.Below(13);
  if (what == 12) return PassEnds(s);
  if (what == 0) return NodeEvent(s, dice);
  if (what == 1) return TenantEvent(s, dice);
  if (what < 8) return GangEvent(s, dice);
  const GangIndex g = s.tables.gangs.Find(OneOf(dice, kGangs));
  if (g == kNoGang) return;
  const GangRecord& r = s.tables.gangs.at(g);
  if (r.phase == GangPhase::kStarting) {
    return (void)s.Try(DecisionApplied{r.placed_seq});
  }
  if (r.phase != GangPhase::kWaiting) return;
  s.Start(g, s.tables.SpecOf(g).gang().roles[0].min_tasks);
}

// What handles everything has, and how many share a description.
std::vector<uint64_t> HandlesOf(const SchedulerTables& tables) {
  std::vector<uint64_t> handles;
  const auto add = [&](uint64_t index, uint64_t generation) {
    handles.push_back(index);
    handles.push_back(generation);
  };
  for (const std::string& node : kNodes) {
    const NodeId id = tables.cluster.Find(node);
    add(id.index, id.generation);
  }
  for (const std::string& queue : kQueues) {
    const QueueIndex q = tables.queues.Find(queue);
    add(q, q == kNoQueue ? 0 : tables.queues.at(q).generation);
  }
  for (const std::string& gang : kGangs) {
    const GangIndex g = tables.gangs.Find(gang);
    add(g, g == kNoGang ? 0 : tables.gangs.at(g).generation);
    add(0, g == kNoGang ? 0 : tables.SpecOf(g).refs);
  }
  for (const std::string& cls : kClasses) add(tables.classes.Find(cls), 0);
  return handles;
}

void ExpectEqual(const TablesStage& a, const TablesStage& b) {
  ASSERT_EQ(StateOf(a.tables), StateOf(b.tables));
  ASSERT_EQ(HandlesOf(a.tables), HandlesOf(b.tables));
  ASSERT_EQ(a.tables.cluster.Hash(), b.tables.cluster.Hash());
  ASSERT_EQ(a.tables.lists.Sizes(), b.tables.lists.Sizes());
  ASSERT_EQ(a.tables.placed, b.tables.placed);
}

void Furnish(TablesStage& s) {
  for (const std::string& q : kQueues) s.Happens(QueueChanged{{.key = q}});
  for (const std::string& node : kNodes)
    s.Happens(NodeChanged{Machine(node, 3)});
  for (const std::string& cls : kClasses) {
    s.Happens(PriorityClassChanged{{.key = cls}});
  }
}

TEST(UndoPropertyTest, NothingIsLeftOfWhatWasTakenBack) {
  uint32_t running = 0, waiting = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Dice dice(seed), dice_of_twin(seed), astray(seed + 1000);
    TablesStage s, twin;
    for (TablesStage* stage : {&s, &twin}) Furnish(*stage);
    for (int round = 0; round < 8; ++round) {
      for (int i = 0; i < 10; ++i) Step(s, dice);
      for (int i = 0; i < 10; ++i) Step(twin, dice_of_twin);
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(s, twin)) << "before " << round;
      s.tables.undo.Begin();
      for (int i = 0; i < 15; ++i) Step(s, astray);
      s.tables.undo.Rollback();
      ASSERT_NO_FATAL_FAILURE(ExpectEqual(s, twin)) << "after " << round;
      ASSERT_EQ(s.Check(), "");
      for (GangIndex g = 0; g < s.tables.gangs.limit(); ++g) {
        if (!s.tables.gangs.at(g).exists) continue;
        ++(IsLive(s.tables.gangs.at(g)) ? running : waiting);
      }
    }
  }
  EXPECT_GT(running, 200u);
  EXPECT_GT(waiting, 200u);
}

}  // namespace
}  // namespace muster
