// Grids of parameters: an array whose jobs are its points.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ParameterGrid TwoByTwo() {
  return *ParameterGrid::Make({{.names = {"lr"}, .rows = {{"0.1"}, {"0.2"}}},
                               {.names = {"bs"}, .rows = {{"32"}, {"64"}}}});
}

// A job whose command, output and environment name the parameters.
std::string TrainManifest() {
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"train",
"annotations":{"muster.dev/output":"/out-{lr}-{bs}"}},
"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"m",
"command":["train","--lr={lr}","${bs}","{other}"],
"env":[{"name":"RATE","value":"{lr}"}]}]}}}})";
}

TEST(GridTest, EachPointIsAJobOfItsArray) {
  World world(OneBox(1));
  const auto ids = world.Submit(
      Submission{.manifest = TrainManifest(), .parameters = TwoByTwo()});
  ASSERT_EQ(ids.size(), 4u);
  world.Settle();
  const JobRow& second = world.Row(ids[1]);
  EXPECT_EQ(second.name, "train-1");
  EXPECT_EQ(second.array, ids[0]);
  EXPECT_EQ(second.parameters, R"({"lr":"0.1","bs":"64"})");
  const Process* process = world.Of(ids[1]);
  ASSERT_NE(process, nullptr);
  EXPECT_THAT(process->start.launch.argv,
              ElementsAre("train", "--lr=0.1", "${bs}", "{other}"));
  EXPECT_EQ(process->start.output, "/out-0.1-64");
  EXPECT_EQ(world.Env(ids[1], "RATE"), "0.1");
  EXPECT_EQ(world.Env(ids[2], "MUSTER_PARAM_lr"), "0.2");
  EXPECT_EQ(world.Env(ids[2], "MUSTER_PARAM_bs"), "32");
  EXPECT_EQ(world.Env(ids[2], "MUSTER_ARRAY_INDEX"), "2");
}

TEST(GridTest, AnArrayChoosesPoints) {
  World world(OneBox(1));
  const auto ids = world.Submit(Submission{
      .manifest = TrainManifest(), .array = {3, 1}, .parameters = TwoByTwo()});
  ASSERT_EQ(ids.size(), 2u);
  world.Settle();
  EXPECT_EQ(world.Row(ids[0]).parameters, R"({"lr":"0.1","bs":"64"})");
  EXPECT_EQ(world.Row(ids[1]).parameters, R"({"lr":"0.2","bs":"64"})");
  const auto refused = world.controller->Submit(
      {.manifest = TrainManifest(), .array = {4}, .parameters = TwoByTwo()},
      world.now);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("array: 4: the parameters have 4 points"));
}

TEST(GridTest, ARestartKeepsThePoints) {
  World world(OneBox(1));
  const auto ids = world.Submit(Submission{
      .manifest = TrainManifest(), .held = true, .parameters = TwoByTwo()});
  world.Settle();
  world.Restart();
  ASSERT_TRUE(world.controller->Release(ids[3], world.now).ok());
  world.Settle();
  const Process* process = world.Of(ids[3]);
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(process->start.launch.argv[1], "--lr=0.2");
  EXPECT_EQ(world.Env(ids[3], "MUSTER_PARAM_bs"), "64");
}

TEST(GridTest, AJobSubmittedFromAPointIsNoPoint) {
  World world(OneBox(1));
  const auto ids =
      world.Submit(Submission{.manifest = TrainManifest(),
                              .environment = {"MUSTER_PARAM_lr=9", "OTHER=1"}});
  world.Settle();
  EXPECT_EQ(world.Env(ids[0], "MUSTER_PARAM_lr"), "unset");
  EXPECT_EQ(world.Env(ids[0], "OTHER"), "1");
  EXPECT_EQ(world.Of(ids[0])->start.launch.argv[1], "--lr={lr}");
}

}  // namespace
}  // namespace muster::local
