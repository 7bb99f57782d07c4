#include "lib/cluster/selector.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace muster {
namespace {

using enum SelectorOp;

const Labels kLabels = {
    {"empty", ""}, {"gen", "7"}, {"model", "H100"}, {"zone", "z1"}};

TEST(SelectorTest, RequirementsMeanWhatTheyMeanInKubernetes) {
  struct Case {
    Requirement requirement;
    bool matches;
  };
  const std::vector<Case> cases = {
      {{"model", kIn, {"A100", "H100"}}, true},
      {{"model", kIn, {"A100"}}, false},
      {{"model", kIn, {}}, false},
      {{"absent", kIn, {""}}, false},
      {{"empty", kIn, {""}}, true},
      {{"model", kNotIn, {"A100"}}, true},
      {{"model", kNotIn, {"A100", "H100"}}, false},
      {{"absent", kNotIn, {"A100"}}, true},
      {{"model", kExists, {}}, true},
      {{"empty", kExists, {}}, true},
      {{"absent", kExists, {}}, false},
      {{"model", kDoesNotExist, {}}, false},
      {{"absent", kDoesNotExist, {}}, true},
      {{"gen", kGt, {"6"}}, true},
      {{"gen", kGt, {"7"}}, false},
      {{"gen", kLt, {"8"}}, true},
      {{"gen", kLt, {"7"}}, false},
      {{"gen", kGt, {"-1"}}, true},
      {{"gen", kGt, {"+6"}}, true},
      {{"gen", kGt, {"+-6"}}, false},
      {{"gen", kGt, {"6.5"}}, false},
      {{"gen", kGt, {"0x6"}}, false},
      {{"gen", kGt, {" 6"}}, false},
      {{"gen", kGt, {""}}, false},
      {{"gen", kGt, {"1", "2"}}, false},
      {{"gen", kGt, {}}, false},
      {{"gen", kLt, {"9223372036854775807"}}, true},
      {{"gen", kLt, {"9223372036854775808"}}, false},
      {{"model", kGt, {"1"}}, false},
      {{"absent", kLt, {"1"}}, false},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Matches(c.requirement, kLabels), c.matches)
        << c.requirement.key << " " << Name(c.requirement.op) << " "
        << (c.requirement.values.empty() ? "-" : c.requirement.values[0]);
  }
}

TEST(SelectorTest, ATermNeedsAllAndASelectorAny) {
  const Requirement h100{"model", kIn, {"H100"}};
  const Requirement z2{"zone", kIn, {"z2"}};
  EXPECT_TRUE(Matches(SelectorTerm{}, kLabels));
  EXPECT_TRUE(Matches(SelectorTerm{{h100}}, kLabels));
  EXPECT_FALSE(Matches(SelectorTerm{{h100, z2}}, kLabels));
  EXPECT_TRUE(Matches(NodeSelector{}, kLabels));
  EXPECT_TRUE(Matches(NodeSelector{{{{z2}}, {{h100}}}}, kLabels));
  EXPECT_FALSE(Matches(NodeSelector{{{{z2}}, {{h100, z2}}}}, kLabels));
}

TEST(SelectorTest, TolerationsMatchByKeyValueAndEffect) {
  const Taint taint{"team", "blue", TaintEffect::kNoSchedule};
  using enum TolerationOp;
  EXPECT_TRUE(Tolerates(Toleration{"team", kEqual, "blue"}, taint));
  EXPECT_FALSE(Tolerates(Toleration{"team", kEqual, "red"}, taint));
  EXPECT_FALSE(Tolerates(Toleration{"other", kEqual, "blue"}, taint));
  EXPECT_TRUE(Tolerates(Toleration{"team", kExists}, taint));
  EXPECT_TRUE(Tolerates(Toleration{"", kExists}, taint));
  EXPECT_FALSE(Tolerates(
      Toleration{"team", kExists, "", {TaintEffect::kNoExecute}}, taint));
  EXPECT_TRUE(
      Tolerates(Toleration{"team",
                           kExists,
                           "",
                           {TaintEffect::kNoExecute, TaintEffect::kNoSchedule}},
                taint));
  const std::vector<Toleration> several = {{"other", kExists},
                                           {"team", kEqual, "blue"}};
  EXPECT_TRUE(Tolerates(several, taint));
  EXPECT_FALSE(Tolerates(std::vector<Toleration>{}, taint));
}

}  // namespace
}  // namespace muster
