#include "adapters/translate/priorities.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::translate {
namespace {

using Policies = std::vector<std::string>;

TEST(PrioritiesTest, APodsOwnPolicyGoesBeforeThatOfItsClass) {
  const struct {
    const char* of_class;
    Policies of_pods;
    bool may;
  } cases[] = {{"", {}, true},
               {"Never", {}, true},
               {"", {"", ""}, true},
               {"Never", {""}, false},
               {"Never", {"PreemptLowerPriority"}, true},
               {"", {"Never", "Never"}, false},
               {"Never", {"", "Never"}, false}};
  for (const auto& c : cases) {
    const auto may = MayPreempt(c.of_class, c.of_pods);
    ASSERT_TRUE(may.ok()) << may.status();
    EXPECT_EQ(*may, c.may) << c.of_class << testing::PrintToString(c.of_pods);
  }
  EXPECT_FALSE(MayPreempt("", Policies{"", "Never"}).ok());
  EXPECT_FALSE(MayPreempt("Never", Policies{"", "PreemptLowerPriority"}).ok());
}

TEST(PrioritiesTest, AClassIsItsValueAndWhetherItPreempts) {
  const auto may = ToPriorityClass(-7, true);
  ASSERT_TRUE(may.ok());
  EXPECT_EQ(*may, (PriorityClass{.key = "-7", .value = -7}));
  const auto may_not = ToPriorityClass(-7, false);
  ASSERT_TRUE(may_not.ok());
  EXPECT_EQ(may_not->key, "-7 (does not preempt)");
  EXPECT_FALSE(may_not->may_preempt);
}

TEST(PrioritiesTest, AValueHas32Bits) {
  const int64_t most = int64_t{1} << 31;
  EXPECT_TRUE(ToPriorityClass(most - 1, true).ok());
  EXPECT_TRUE(ToPriorityClass(-most, true).ok());
  EXPECT_FALSE(ToPriorityClass(most, true).ok());
  EXPECT_FALSE(ToPriorityClass(-most - 1, true).ok());
}

}  // namespace
}  // namespace muster::translate
