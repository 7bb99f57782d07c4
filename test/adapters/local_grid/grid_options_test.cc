// Grids as people type them.
#include "adapters/local/grid/grid_options.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Refusal(const std::string& text) {
  return std::string(AxisOfFile("points", text).status().message());
}

TEST(GridOptionsTest, AnOptionIsAParameterAndItsValues) {
  const auto axis = AxisOfOption("lr=0.1, 0.01,\"a,b\",x=y");
  ASSERT_TRUE(axis.ok()) << axis.status();
  EXPECT_THAT(axis->names, ElementsAre("lr"));
  EXPECT_THAT(axis->rows, ElementsAre(ElementsAre("0.1"), ElementsAre("0.01"),
                                      ElementsAre("a,b"), ElementsAre("x=y")));
  for (const char* text : {"", "lr", "lr=", "=1", "lr=\"a"}) {
    EXPECT_THAT(std::string(AxisOfOption(text).status().message()),
                HasSubstr("--grid: '"))
        << text;
  }
}

TEST(GridOptionsTest, ALineOfAFileIsAPoint) {
  const auto axis = AxisOfFile("points",
                               "# lr and batch\n\nlr=0.1 bs=32\r\n"
                               "bs=64\t lr=0.2\nlr=0.3 bs=\n");
  ASSERT_TRUE(axis.ok()) << axis.status();
  EXPECT_THAT(axis->names, ElementsAre("lr", "bs"));
  EXPECT_THAT(axis->rows,
              ElementsAre(ElementsAre("0.1", "32"), ElementsAre("0.2", "64"),
                          ElementsAre("0.3", "")));
}

TEST(GridOptionsTest, ATableOfValuesNamesThemInItsFirstLine) {
  const auto axis =
      AxisOfFile("points", "lr,text\n0.1,\"a, \"\"b\"\"\"\n0.2, c=d \n,\n");
  ASSERT_TRUE(axis.ok()) << axis.status();
  EXPECT_THAT(axis->names, ElementsAre("lr", "text"));
  EXPECT_THAT(axis->rows,
              ElementsAre(ElementsAre("0.1", "a, \"b\""),
                          ElementsAre("0.2", "c=d"), ElementsAre("", "")));
}

TEST(GridOptionsTest, AMistakeIsToldWithItsLine) {
  EXPECT_EQ(Refusal("# nothing\n\n"), "points: has no points");
  EXPECT_EQ(Refusal("lr,bs\n"), "points: has no points");
  EXPECT_THAT(Refusal("lr=1\nbs=2\n"),
              HasSubstr("points:2: 'bs': the first point does not have it"));
  EXPECT_THAT(Refusal("lr=1 bs=2\n\nlr=1\n"),
              HasSubstr("points:3: 'bs' is missing"));
  EXPECT_THAT(Refusal("lr=1 bs=2\nlr=1 lr=2\n"),
              HasSubstr("points:2: 'lr' is there twice"));
  EXPECT_THAT(Refusal("lr=1 bs\n"), HasSubstr("points:1: 'bs': expected NAME"));
  EXPECT_THAT(Refusal("lr,bs\n1,2,3\n"),
              HasSubstr("points:2: has 3 values; the first line has 2 names"));
  EXPECT_THAT(Refusal("lr,bs\n1,\"2\n"), HasSubstr("points:2: a value in"));
  EXPECT_THAT(Refusal("lr,bs\n\"1\"x,2\n"), HasSubstr("points:2: a value in"));
}

}  // namespace
}  // namespace muster::local
