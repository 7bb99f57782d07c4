// What a plan says of the decisions that were written into it.
#include "lib/scheduler/plan_writer.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/scheduler/tables_stage.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

HostCapabilities ToldOfNominations(bool told) {
  HostCapabilities host;
  host.nominate = told;
  return host;
}

class PlanWriterTest : public testing::Test {
 protected:
  explicit PlanWriterTest(bool nominate = true)
      : s_({.host = ToldOfNominations(nominate)}) {
    s_.HasNode(8);
    a_ = s_.Submit(Job("a", 3));
    b_ = s_.Submit(Job("b", 3));
    s_.Run(a_, 3);
    s_.Run(b_, 3);
    writer_.Begin(&plan_);
  }
  void Add(PlanWriter::Draft draft, GangIndex g, uint32_t task) {
    const GangRecord& r = s_.tables.gangs.at(g);
    writer_.AddTask(draft, r, r.tasks[task]);
  }
  PlanWriter::Draft Decide(DecisionKind kind, GangIndex g) {
    return writer_.Decide(kind, {.code = ReasonCode::kFits}, g, kNoGang);
  }
  std::vector<uint32_t> TasksOf(const Decision& d) const {
    std::vector<uint32_t> tasks;
    for (const PlannedTask& t : plan_.TasksOf(d)) tasks.push_back(t.task.index);
    return tasks;
  }

  TablesStage s_;
  GangIndex a_ = kNoGang, b_ = kNoGang;
  PlanWriter writer_{s_.tables};
  Plan plan_;
};

TEST_F(PlanWriterTest, TasksJoinInAnyOrderAndLieSideBySide) {
  const uint64_t next = s_.tables.next_seq;
  const auto grow = Decide(DecisionKind::kGrow, a_);
  const auto shrink = Decide(DecisionKind::kShrink, b_);
  Add(shrink, b_, 2);
  Add(grow, a_, 1);
  Add(shrink, b_, 0);
  Add(grow, a_, 0);
  writer_.Finish(false);
  ASSERT_THAT(plan_.decisions, SizeIs(2));
  EXPECT_EQ(plan_.decisions[0].seq, next);
  EXPECT_EQ(plan_.decisions[1].seq, next + 1);
  EXPECT_EQ(s_.tables.next_seq, next + 2);
  EXPECT_THAT(TasksOf(plan_.decisions[0]), ElementsAre(0, 1)) << "by task";
  EXPECT_THAT(TasksOf(plan_.decisions[1]), ElementsAre(2, 0)) << "as told";
  EXPECT_EQ(plan_.Text(plan_.decisions[1].gang_key), "b");
  EXPECT_EQ(plan_.Text(plan_.tasks[0].node_key), "n1");
}

TEST_F(PlanWriterTest, AStopNamesForWhomAndHasItsGrace) {
  s_.Happens(PriorityClassChanged{{.key = "slow", .grace = 30 * kSecond}});
  s_.Happens(GangReprioritized{.gang = "b", .priority_class = "slow"});
  const auto evict = writer_.Decide(DecisionKind::kEvict,
                                    {.code = ReasonCode::kMadeRoom}, b_, a_);
  EXPECT_EQ(writer_.at(evict).on_behalf_of.index, a_);
  const auto start = Decide(DecisionKind::kStart, b_);
  EXPECT_FALSE(writer_.at(start).on_behalf_of.valid());
  writer_.Finish(false);
  EXPECT_EQ(plan_.Text(plan_.decisions[0].on_behalf_key), "a");
  EXPECT_EQ(plan_.decisions[0].grace, 30 * kSecond);
  EXPECT_EQ(plan_.decisions[1].grace, 0) << "it stops no gang";
}

TEST_F(PlanWriterTest, WithoutAPlanOnlyNumbersAreGivenOut) {
  writer_.Begin(nullptr);
  const uint64_t next = s_.tables.next_seq;
  const auto draft = Decide(DecisionKind::kStart, a_);
  Add(draft, a_, 0);
  EXPECT_EQ(writer_.at(draft).seq, next);
  EXPECT_EQ(writer_.at(draft).kind, DecisionKind::kStart);
  EXPECT_FALSE(writer_.empty());
}

TEST_F(PlanWriterTest, WhoPlacedAGangIsKnownInThisPlanAlone) {
  const GangRecord &a = s_.tables.gangs.at(a_), &b = s_.tables.gangs.at(b_);
  EXPECT_EQ(writer_.PlacedBy(a), PlanWriter::kNone);
  const auto start = Decide(DecisionKind::kStart, a_);
  GangEdit(s_.tables, a_)->placed_seq = writer_.at(start).seq;
  const auto resume = Decide(DecisionKind::kResume, b_);
  GangEdit(s_.tables, b_)->placed_seq = writer_.at(resume).seq;
  EXPECT_EQ(writer_.PlacedBy(a), start);
  EXPECT_EQ(writer_.PlacedBy(b), PlanWriter::kNone) << "nothing joins that";
  writer_.Begin(&plan_);
  EXPECT_EQ(writer_.PlacedBy(a), PlanWriter::kNone);
  EXPECT_TRUE(writer_.empty());
}

TEST_F(PlanWriterTest, AReasonIsToldOnceWhateverItsNumbers) {
  const GangIndex c = s_.Submit(Job("c", 9));
  s_.Submit(Job("d", 9));
  GangClassList& waiting = s_.tables.lists.waiting();
  const GangClassIndex cls = waiting.First(s_.tables.queues.Find("q"), false);
  Questions no = {.reason = {.code = ReasonCode::kInsufficient, .needed = 9}};
  writer_.Answer(waiting, cls, no);
  no.reason.needed = 10;
  writer_.Answer(waiting, cls, no);
  ASSERT_THAT(plan_.waiting, SizeIs(1));
  EXPECT_EQ(plan_.waiting[0].gang.index, c);
  EXPECT_EQ(plan_.waiting[0].count, 2u);
  EXPECT_EQ(plan_.Text(plan_.waiting[0].gang_key), "c");
  no.reason.code = ReasonCode::kNoNodeAdmits;
  writer_.Answer(waiting, cls, no);
  EXPECT_THAT(plan_.waiting, SizeIs(2));
  EXPECT_EQ(waiting.at(cls).reason(), no.reason);
  writer_.Finish(false);
  EXPECT_THAT(plan_.class_results, SizeIs(1)) << "the class is named once";
}

// What is only deactivated needs no word, unless the plan broke off.
TEST_F(PlanWriterTest, OnlyAPlanThatBrokeOffTellsWhatItDeactivated) {
  s_.tables.config.work_budget = 1;
  s_.Submit(Job("c", 9));
  GangClassList& waiting = s_.tables.lists.waiting();
  const GangClassIndex cls = waiting.First(s_.tables.queues.Find("q"), false);
  const Questions no = {.reason = {.code = ReasonCode::kInsufficient}};
  Questions told = waiting.questions(cls);
  told.reason = no.reason;
  waiting.SetQuestions(cls, told);
  for (const bool exhausted : {false, true}) {
    plan_.Clear();
    writer_.Begin(&plan_);
    writer_.Answer(waiting, cls, no);
    writer_.Finish(exhausted);
    EXPECT_THAT(plan_.waiting, IsEmpty());
    EXPECT_THAT(plan_.class_results, SizeIs(exhausted ? 1 : 0));
  }
}

TEST_F(PlanWriterTest, AClassThatRemainsActiveIsNamedWithItsQuestions) {
  s_.Submit(Job("c", 9));
  GangClassList& waiting = s_.tables.lists.waiting();
  const GangClassIndex cls = waiting.First(s_.tables.queues.Find("q"), false);
  waiting.Deactivate(cls, Questions::kRoom);
  writer_.Note(waiting, cls, true);
  writer_.Finish(false);
  ASSERT_THAT(plan_.class_results, SizeIs(1));
  EXPECT_EQ(plan_.Text(plan_.class_results[0].gang_key), "c");
  EXPECT_EQ(plan_.class_results[0].active, Questions::kVictims);
  EXPECT_FALSE(plan_.class_results[0].grows);
}

TEST_F(PlanWriterTest, WhoAsksToBeLookedAtIsNamed) {
  GangEdit(s_.tables, b_)->check_due = true;
  writer_.Finish(false);
  ASSERT_THAT(plan_.check_due, SizeIs(1));
  EXPECT_EQ(plan_.Text(plan_.check_due[0]), "b");
}

class QuietHostTest : public PlanWriterTest {
 protected:
  QuietHostTest() : PlanWriterTest(false) {}
};

TEST_F(QuietHostTest, NominationsAreOnRecordAlone) {
  Decide(DecisionKind::kNominate, a_);
  writer_.Withdraws(Decide(DecisionKind::kEvict, a_));
  Decide(DecisionKind::kEvict, b_);
  writer_.Finish(false);
  ASSERT_THAT(plan_.decisions, SizeIs(1));
  EXPECT_EQ(plan_.Text(plan_.decisions[0].gang_key), "b");
  EXPECT_THAT(plan_.unreported, SizeIs(2));
}

}  // namespace
}  // namespace muster
