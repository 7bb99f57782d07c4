#include "adapters/translate/selectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::translate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const LabelMap kLabels = {{"cpus", "16"}, {"odd", "16x"}, {"zone", "a"}};

TEST(SelectorsTest, LabelsComeByKey) {
  EXPECT_THAT(ToLabels({{"b", "2"}, {"a", "1"}}),
              ElementsAre(Label{"a", "1"}, Label{"b", "2"}));
}

TEST(SelectorsTest, ARequirementHoldsAsInKubernetes) {
  const struct {
    const char* key;
    const char* op;
    std::vector<std::string> values;
    bool matches;
  } cases[] = {
      {"zone", "In", {"b", "a"}, true},   {"zone", "In", {"b"}, false},
      {"none", "In", {"a"}, false},       {"zone", "NotIn", {"a"}, false},
      {"none", "NotIn", {"a"}, true},     {"zone", "Exists", {}, true},
      {"none", "Exists", {}, false},      {"zone", "DoesNotExist", {}, false},
      {"none", "DoesNotExist", {}, true}, {"cpus", "Gt", {"15"}, true},
      {"cpus", "Gt", {"16"}, false},      {"cpus", "Gt", {"+15"}, true},
      {"cpus", "Lt", {"17"}, true},       {"cpus", "Lt", {"1", "17"}, false},
      {"cpus", "Lt", {"+-17"}, false},    {"odd", "Lt", {"17"}, false},
      {"none", "Lt", {"17"}, false},      {"zone", "Gt", {"-1"}, false}};
  for (const auto& c : cases) {
    const auto requirement = ToRequirement(c.key, c.op, c.values);
    ASSERT_TRUE(requirement.ok()) << requirement.status();
    EXPECT_EQ(Matches(*requirement, kLabels), c.matches)
        << c.key << " " << c.op << " " << testing::PrintToString(c.values);
  }
}

TEST(SelectorsTest, AnUnknownOperatorIsNamed) {
  const auto status = ToRequirement("zone", "in", {"a"}).status();
  EXPECT_EQ(status.message(), "operator: expected a selector operator");
}

TEST(SelectorsTest, EachTermOfAnAffinityHasTheNodeSelectorToo) {
  const std::vector<Requirement> all_of = ToRequirements({{"zone", "a"}});
  const Requirement zone{"zone", SelectorOp::kIn, {"a"}};
  const Requirement big{"cpus", SelectorOp::kGt, {"8"}};
  const Requirement spot{"spot", SelectorOp::kExists, {}};
  EXPECT_THAT(ToNodeSelector({}, {}).any_of, IsEmpty());
  EXPECT_THAT(ToNodeSelector(all_of, {}).any_of,
              ElementsAre(SelectorTerm{{zone}}));
  EXPECT_THAT(ToNodeSelector({}, {{{big}}}).any_of,
              ElementsAre(SelectorTerm{{big}}));
  EXPECT_THAT(
      ToNodeSelector(all_of, {{{big}}, {{spot}}}).any_of,
      ElementsAre(SelectorTerm{{zone, big}}, SelectorTerm{{zone, spot}}));
}

}  // namespace
}  // namespace muster::translate
