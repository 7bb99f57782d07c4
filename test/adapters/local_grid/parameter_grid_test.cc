// Points of grids: which there are, in which order, and what is refused.
#include "adapters/local/grid/parameter_grid.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ParameterAxis Axis(const std::string& name, std::vector<std::string> values) {
  ParameterAxis axis{.names = {name}};
  for (std::string& value : values) axis.rows.push_back({std::move(value)});
  return axis;
}

ParameterGrid Grid(std::vector<ParameterAxis> axes) {
  auto grid = ParameterGrid::Make(std::move(axes));
  EXPECT_TRUE(grid.ok()) << grid.status();
  return grid.ok() ? *std::move(grid) : ParameterGrid();
}

std::string Refusal(std::vector<ParameterAxis> axes) {
  return std::string(ParameterGrid::Make(std::move(axes)).status().message());
}

TEST(ParameterGridTest, TheLastParameterVariesFastest) {
  const ParameterGrid grid =
      Grid({Axis("lr", {"0.1", "0.01"}), Axis("bs", {"32", "64", "128"})});
  std::vector<std::string> points;
  for (uint32_t i = 0; i < grid.size(); ++i) {
    points.push_back(TextOf(grid.At(i)));
  }
  EXPECT_THAT(points,
              ElementsAre("lr=0.1 bs=32", "lr=0.1 bs=64", "lr=0.1 bs=128",
                          "lr=0.01 bs=32", "lr=0.01 bs=64", "lr=0.01 bs=128"));
}

TEST(ParameterGridTest, AnAxisOfSeveralNamesIsNoProduct) {
  const ParameterGrid grid =
      Grid({Axis("seed", {"1", "2"}),
            {.names = {"lr", "bs"}, .rows = {{"0.1", "32"}, {"0.2", "64"}}}});
  ASSERT_EQ(grid.size(), 4u);
  EXPECT_EQ(TextOf(grid.At(1)), "seed=1 lr=0.2 bs=64");
  EXPECT_EQ(TextOf(grid.At(2)), "seed=2 lr=0.1 bs=32");
}

TEST(ParameterGridTest, WithoutAxesThereIsNone) {
  EXPECT_TRUE(Grid({}).empty());
  EXPECT_EQ(Grid({}).size(), 0u);
}

TEST(ParameterGridTest, JsonKeepsNamesValuesAndTheirOrder) {
  const ParameterGrid grid =
      Grid({Axis("z", {"a,b", "\"", "ü"}),
            {.names = {"y", "x"}, .rows = {{"1", "2"}, {"3", ""}}}});
  const auto read = ParameterGrid::FromJson(grid.ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, grid);
  const ParameterPoint point = grid.At(3);
  const auto again = ParameterPointFromJson(ToJson(point));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(*again, point);
}

TEST(ParameterGridTest, WhatIsNoGridIsRefusedWithItsParameter) {
  EXPECT_THAT(Refusal({Axis("a", {})}), HasSubstr("'a': there are no values"));
  EXPECT_THAT(Refusal({Axis("1a", {"x"})}), HasSubstr("'1a': expected a name"));
  EXPECT_THAT(Refusal({Axis("a b", {"x"})}), HasSubstr("'a b'"));
  EXPECT_THAT(Refusal({Axis("", {"x"})}), HasSubstr("''"));
  EXPECT_THAT(Refusal({Axis(std::string(65, 'a'), {"x"})}), HasSubstr("64"));
  EXPECT_THAT(Refusal({Axis("a", {"x"}), Axis("a", {"y"})}),
              HasSubstr("'a' is there twice"));
  EXPECT_THAT(Refusal({Axis("a", {"x\ny"})}), HasSubstr("control character"));
  EXPECT_THAT(Refusal({{.names = {"a", "b"}, .rows = {{"1"}}}}),
              HasSubstr("has 1 values for 2 names"));
  for (const char* text : {"", "{}", "[1]", R"([{"names":["a"]}])",
                           R"([{"names":["a"],"rows":1}])",
                           R"([{"names":["a"],"rows":[["1"]],"more":1}])",
                           R"([{"names":[1],"rows":[["1"]]}])",
                           R"([{"names":["a"],"rows":[[1]]}])"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParameterGrid::FromJson(text).status()))
        << text;
  }
  for (const char* text : {"[]", "1", R"({"a":1})", "{"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParameterPointFromJson(text).status()))
        << text;
  }
}

TEST(ParameterGridTest, ThereAreNoMorePointsThanMayBe) {
  std::vector<std::string> hundred(100, "x");
  EXPECT_EQ(Grid({Axis("a", hundred), Axis("b", hundred)}).size(), 10'000u);
  EXPECT_THAT(
      Refusal({Axis("a", hundred), Axis("b", hundred), Axis("c", {"1", "2"})}),
      HasSubstr("more than 10000 points"));
  // Products that no integer holds.
  std::vector<ParameterAxis> axes;
  for (int i = 0; i < 40; ++i) {
    axes.push_back(Axis(absl::StrCat("a", i), hundred));
  }
  EXPECT_THAT(Refusal(axes), HasSubstr("more than 10000 points"));
  EXPECT_THAT(Refusal({Axis("a", std::vector<std::string>(10'001, "x"))}),
              HasSubstr("more than 10000 points"));
  EXPECT_THAT(Refusal({Axis("a", {std::string(5'000, 'x')})}),
              HasSubstr("at most 4096"));
}

TEST(ParameterPointTest, NamesInBracesAreReplacedByTheirValues) {
  const ParameterPoint point{{"lr", "0.1"}, {"bs", "{lr}"}};
  EXPECT_EQ(WithParameters("--lr {lr}", point), "--lr 0.1");
  EXPECT_EQ(WithParameters("{lr}{lr}x{bs}", point), "0.10.1x{lr}");
  EXPECT_EQ(WithParameters("${lr} {other} {} { lr }", point),
            "${lr} {other} {} { lr }");
  EXPECT_EQ(WithParameters("{{lr}}", point), "{0.1}");
  EXPECT_EQ(WithParameters("{'a': {lr}", point), "{'a': 0.1");
  EXPECT_EQ(WithParameters("{lr", point), "{lr");
  EXPECT_EQ(WithParameters("", point), "");
  EXPECT_EQ(WithParameters("{lr}", {}), "{lr}");
}

}  // namespace
}  // namespace muster::local
