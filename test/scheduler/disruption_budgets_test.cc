#include "lib/scheduler/disruption_budgets.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "test/property/dice.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

TEST(DisruptionBudgetsTest, AGangNeedsRoomInEachOfItsBudgets) {
  DisruptionBudgets budgets;
  budgets.Put({.key = "y", .gangs = {"a", "b"}, .allowed = 1});
  budgets.Put({.key = "x", .gangs = {"a"}, .allowed = 2});
  EXPECT_THAT(budgets.Of("a"), ElementsAre("x", "y"));
  EXPECT_TRUE(budgets.Allows("a"));
  budgets.Count("b", -1);
  EXPECT_FALSE(budgets.Allows("a"));
  EXPECT_FALSE(budgets.Allows("b"));
  EXPECT_EQ(budgets.Find("x")->allowed, 2);
  budgets.Count("b", 1);
  EXPECT_TRUE(budgets.Allows("a"));
}

TEST(DisruptionBudgetsTest, WhoIsInNoBudgetIsFree) {
  DisruptionBudgets budgets;
  budgets.Put({.key = "x", .gangs = {"a"}, .allowed = 0});
  budgets.Count("b", -1);
  EXPECT_TRUE(budgets.Allows("b"));
  EXPECT_THAT(budgets.Of("b"), IsEmpty());
  EXPECT_FALSE(budgets.Allows("a"));
  EXPECT_EQ(budgets.Find("x")->allowed, 0);
  EXPECT_EQ(budgets.Find("y"), nullptr);
}

TEST(DisruptionBudgetsTest, DecisionsMayTakeMoreThanTheHostAllowsLater) {
  DisruptionBudgets budgets;
  budgets.Put({.key = "x", .gangs = {"a"}, .allowed = 0});
  budgets.Count("a", -1);
  EXPECT_FALSE(budgets.Allows("a"));
  budgets.Count("a", 1);
  EXPECT_FALSE(budgets.Allows("a"));
}

TEST(DisruptionBudgetsTest, TheHostsNewWordReplacesTheOld) {
  DisruptionBudgets budgets;
  budgets.Put({.key = "x", .gangs = {"a", "b"}, .allowed = 3});
  budgets.Count("a", -1);
  budgets.Put({.key = "x", .gangs = {"b", "c"}, .allowed = 5});
  EXPECT_THAT(budgets.Of("a"), IsEmpty());
  EXPECT_THAT(budgets.Of("c"), ElementsAre("x"));
  EXPECT_EQ(budgets.Find("x")->allowed, 5);
  budgets.Put({.key = "x"});
  EXPECT_EQ(budgets.Find("x"), nullptr);
  EXPECT_THAT(budgets.all(), IsEmpty());
  EXPECT_THAT(budgets.Of("b"), IsEmpty());
}

TEST(DisruptionBudgetsTest, TellsWhatSearchingAllBudgetsTells) {
  const std::vector<std::string> gangs = {"a", "b", "c", "d"};
  const std::vector<std::string> keys = {"x", "y", "z"};
  Dice dice(1);
  DisruptionBudgets budgets;
  std::map<std::string, DisruptionBudget> all;
  for (int step = 0; step < 2000; ++step) {
    if (dice.OneIn(3)) {
      DisruptionBudget budget = {.key = keys[dice.Below(3)],
                                 .allowed = dice.In(0, 2)};
      for (const std::string& gang : gangs) {
        if (dice.OneIn(3)) budget.gangs.push_back(gang);
      }
      budgets.Put(budget);
      all.erase(budget.key);
      if (!budget.gangs.empty()) all[budget.key] = budget;
    } else {
      const std::string& gang = gangs[dice.Below(4)];
      const int64_t sign = dice.OneIn(2) ? 1 : -1;
      budgets.Count(gang, sign);
      for (auto& [key, budget] : all) {
        budget.allowed += sign * std::ranges::count(budget.gangs, gang);
      }
    }
    for (const std::string& gang : gangs) {
      std::vector<std::string> of;
      bool allows = true;
      for (const auto& [key, budget] : all) {
        if (std::ranges::count(budget.gangs, gang) == 0) continue;
        of.push_back(key);
        allows &= budget.allowed > 0;
      }
      ASSERT_THAT(budgets.Of(gang), ElementsAreArray(of));
      ASSERT_EQ(budgets.Allows(gang), allows);
    }
    ASSERT_THAT(budgets.all(), ElementsAreArray(all));
  }
}

}  // namespace
}  // namespace muster
