#include "lib/scheduler/answers.h"

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;

// A gang with tasks that owe answers to these decisions.
GangRecord GangThatOwes(const std::vector<uint64_t>& seqs) {
  GangRecord r;
  for (uint32_t i = 0; i < seqs.size(); ++i) {
    r.tasks.push_back({.task = {0, i}, .pending_seq = seqs[i]});
  }
  return r;
}

TEST(AnswersTest, ADecisionIsPendingUntilTheLastTaskHasAnswered) {
  Answers answers;
  GangRecord r = GangThatOwes({7, 7});
  answers.Expect(3, r, 7, DecisionKind::kStart, "");
  answers.Expect(3, r, 7, DecisionKind::kStart, "");
  EXPECT_EQ(answers.OwnerOf(7), 3u);
  EXPECT_EQ(r.pending[0].unanswered, 2u);
  answers.Settle(r, r.tasks[1]);
  EXPECT_THAT(Answers::PendingOf(r, 7).tasks, ElementsAre(TaskId{0, 0}));
  EXPECT_EQ(answers.OwnerOf(7), 3u);
  answers.Settle(r, r.tasks[1]);
  EXPECT_EQ(answers.OwnerOf(7), 3u) << "it has answered already";
  answers.Settle(r, r.tasks[0]);
  EXPECT_EQ(answers.OwnerOf(7), kNoGang);
  EXPECT_TRUE(r.pending.empty());
  EXPECT_EQ(answers.size(), 0u);
}

TEST(AnswersTest, MoreTasksJoinTheSameDecision) {
  Answers answers;
  GangRecord r = GangThatOwes({7, 7, 7});
  answers.Expect(0, r, 7, DecisionKind::kGrow, "");
  answers.Expect(0, r, 7, DecisionKind::kGrow, "");
  answers.Expect(0, r, 7, DecisionKind::kGrow, "");
  ASSERT_EQ(r.pending.size(), 1u);
  EXPECT_EQ(r.pending[0].unanswered, 3u);
}

TEST(AnswersTest, DecisionsOfAGangArePendingSideBySide) {
  Answers answers;
  GangRecord r = GangThatOwes({7, 9, 9});
  answers.Expect(2, r, 7, DecisionKind::kStart, "");
  answers.Expect(2, r, 9, DecisionKind::kShrink, "winner");
  answers.Expect(2, r, 9, DecisionKind::kShrink, "winner");
  EXPECT_EQ(Answers::PendingOf(r, 9).on_behalf_of, "winner");
  EXPECT_EQ(Answers::PendingOf(r, 9).kind, DecisionKind::kShrink);
  EXPECT_THAT(Answers::PendingOf(r, 9).tasks,
              ElementsAre(TaskId{0, 1}, TaskId{0, 2}));
  answers.Settle(r, r.tasks[0]);
  EXPECT_EQ(answers.OwnerOf(7), kNoGang);
  EXPECT_EQ(answers.OwnerOf(9), 2u);
  ASSERT_EQ(r.pending.size(), 1u);
  EXPECT_EQ(r.pending[0].seq, 9u);
}

TEST(AnswersTest, AGangTakesItsDecisionsAlongAndBringsThemBack) {
  Answers answers;
  GangRecord r = GangThatOwes({7, 9}), other = GangThatOwes({8});
  answers.Expect(1, r, 7, DecisionKind::kStart, "");
  answers.Expect(1, r, 9, DecisionKind::kGrow, "");
  answers.Expect(2, other, 8, DecisionKind::kStart, "");
  answers.Forget(r);
  EXPECT_EQ(answers.OwnerOf(7), kNoGang);
  EXPECT_EQ(answers.OwnerOf(9), kNoGang);
  EXPECT_EQ(answers.OwnerOf(8), 2u);
  answers.Know(5, r);
  EXPECT_EQ(answers.OwnerOf(7), 5u);
  EXPECT_EQ(answers.size(), 3u);
}

TEST(AnswersTest, StopsAreWhatEndsTasks) {
  for (const DecisionKind kind :
       {DecisionKind::kEvict, DecisionKind::kShrink, DecisionKind::kSuspend,
        DecisionKind::kCancel}) {
    EXPECT_TRUE(IsStop(kind)) << Name(kind);
  }
  for (const DecisionKind kind :
       {DecisionKind::kStart, DecisionKind::kGrow, DecisionKind::kNominate,
        DecisionKind::kResume}) {
    EXPECT_FALSE(IsStop(kind)) << Name(kind);
  }
}

}  // namespace
}  // namespace muster
