#include "lib/scheduler/work_budget.h"

#include <cstdint>

#include "gtest/gtest.h"
#include "lib/base/step_cost.h"

namespace muster {
namespace {

TEST(WorkBudgetTest, AQuarterIsForSubmissionsAndTheRestForQuestions) {
  EXPECT_EQ(WorkBudget::ForSubmissions(1000).left(), 250u);
  EXPECT_EQ(WorkBudget::ForQuestions(1000).left(), 750u);
  EXPECT_EQ(WorkBudget::ForSubmissions(7).left(), 1u);
  EXPECT_EQ(WorkBudget::ForQuestions(7).left(), 6u);
}

TEST(WorkBudgetTest, TheSmallestBudgetLeavesAStepForEach) {
  for (uint64_t all = 1; all < 5; ++all) {
    EXPECT_FALSE(WorkBudget::ForSubmissions(all).exhausted()) << all;
    EXPECT_FALSE(WorkBudget::ForQuestions(all).exhausted()) << all;
  }
}

TEST(WorkBudgetTest, ABudgetOfNothingHasNoEnd) {
  for (WorkBudget budget :
       {WorkBudget::ForQuestions(0), WorkBudget::ForSubmissions(0)}) {
    budget.Spend(uint64_t{1} << 62);
    EXPECT_FALSE(budget.exhausted());
    EXPECT_EQ(budget.spent(), uint64_t{1} << 62);
  }
}

TEST(WorkBudgetTest, TheLastStepMayBeOverspent) {
  WorkBudget budget = WorkBudget::ForQuestions(8);
  budget.Spend(5);
  EXPECT_FALSE(budget.exhausted());
  EXPECT_EQ(budget.left(), 1u);
  budget.Spend(100);
  EXPECT_TRUE(budget.exhausted());
  EXPECT_EQ(budget.left(), 0u);
  EXPECT_EQ(budget.spent(), 105u);
}

TEST(WorkBudgetTest, WorkIsChargedInWholeSteps) {
  WorkBudget budget = WorkBudget::ForQuestions(0);
  budget.Charge(3, kNanosPerStep);
  EXPECT_EQ(budget.spent(), 3u);
  budget.Charge(1, 1);
  EXPECT_EQ(budget.spent(), 4u);
  budget.Charge(0, kNanosPerStep);
  EXPECT_EQ(budget.spent(), 4u);
}

}  // namespace
}  // namespace muster
