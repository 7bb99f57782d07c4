// Jobs that can do with something else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Or(const std::string& others) {
  return Manifest(
      {.name = "either",
       .gpus = "2",
       .annotations = absl::StrCat(R"("muster.dev/or":")", others, R"(")")});
}

constexpr char kOthers[] = "nvidia.com/gpu=1,cpu=3;cpu=4,memory=8Gi";

TEST(AlternativesTest, AJobHasTheFirstThatFindsRoom) {
  World world(OneBox(2));
  const uint64_t first = world.Submit(Or(kOthers));
  ASSERT_NE(world.Of(first), nullptr);
  EXPECT_THAT(world.Of(first)->start.devices, SizeIs(2));
  EXPECT_EQ(world.Of(first)->start.cpu_milli, 1'000);
  EXPECT_EQ(world.Env(first, "MUSTER_ALTERNATIVE"), "0");

  const uint64_t second = world.Submit(Or(kOthers));
  ASSERT_NE(world.Of(second), nullptr) << "without GPUs";
  EXPECT_THAT(world.Of(second)->start.devices, IsEmpty());
  EXPECT_EQ(world.Of(second)->start.cpu_milli, 4'000);
  EXPECT_EQ(world.Of(second)->start.memory_bytes, int64_t{8} << 30);
  EXPECT_EQ(world.Env(second, "MUSTER_ALTERNATIVE"), "2");

  world.Exit(first, 0);
  world.Settle();
  const uint64_t one = world.Submit(Manifest({.name = "one", .gpus = "1"}));
  EXPECT_THAT(world.Running(one), SizeIs(1));
  const uint64_t third = world.Submit(Or(kOthers));
  ASSERT_NE(world.Of(third), nullptr) << "with one of two";
  EXPECT_THAT(world.Of(third)->start.devices, SizeIs(1));
  EXPECT_EQ(world.Of(third)->start.cpu_milli, 3'000);
  EXPECT_EQ(world.Env(third, "MUSTER_ALTERNATIVE"), "1");
}

TEST(AlternativesTest, AllTasksHaveTheSame) {
  World world(OneBox(3));
  const uint64_t id =
      world.Submit(Manifest({.name = "gang",
                             .gpus = "2",
                             .tasks = 2,
                             .annotations = R"("muster.dev/min-pods":"2",)"
                                            R"("muster.dev/or":"cpu=2")"}));
  for (const uint32_t i : {0u, 1u}) {
    ASSERT_NE(world.Of(id, 0, i), nullptr);
    EXPECT_THAT(world.Of(id, 0, i)->start.devices, IsEmpty());
    EXPECT_EQ(world.Env(id, "MUSTER_ALTERNATIVE", 0, i), "1");
  }
}

TEST(AlternativesTest, AreTheSameAfterARestart) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Or("muster.dev/gpu-milli=500"));
  ASSERT_NE(world.Of(id), nullptr);
  world.Restart();
  world.Settle();
  ASSERT_THAT(world.Running(id), SizeIs(1));
  EXPECT_EQ(world.Of(id)->start.devices[0].milli, 500);
  // The other half.
  const uint64_t next = world.Submit(Or("muster.dev/gpu-milli=500"));
  ASSERT_NE(world.Of(next), nullptr);
  EXPECT_EQ(world.Of(next)->start.devices[0].milli, 500);
}

TEST(AlternativesTest, APreemptedJobMayGoOnWithSomethingElse) {
  World world(OneBox(2));
  const uint64_t id = world.Submit(Or("cpu=4"), "low");
  EXPECT_EQ(world.Env(id, "MUSTER_ALTERNATIVE"), "0");
  const uint64_t urgent =
      world.Submit(Manifest({.name = "urgent", .gpus = "1"}), "high");
  EXPECT_THAT(world.Running(urgent), SizeIs(1));
  ASSERT_THAT(world.Running(id), SizeIs(1));
  EXPECT_EQ(world.Env(id, "MUSTER_ALTERNATIVE"), "1");
  EXPECT_EQ(world.Of(id)->start.cpu_milli, 4'000);
}

TEST(AlternativesTest, WhatIsNoneIsRefused) {
  World world(OneBox(2));
  const auto says = [&](const std::string& others) {
    const auto submitted =
        world.controller->Submit({.manifest = Or(others)}, world.now);
    return std::string(submitted.status().message());
  };
  EXPECT_THAT(says(""), HasSubstr("muster.dev/or: '': expected RESOURCE"));
  EXPECT_THAT(says("cpu"), HasSubstr("'cpu': expected RESOURCE=AMOUNT"));
  EXPECT_THAT(says("cpu=1;cpu=x"), HasSubstr("'cpu=x': expected an amount"));
  EXPECT_THAT(says("cpu=1,cpu=2"), HasSubstr("'cpu' is there twice"));
  EXPECT_THAT(says("dongle=1"), HasSubstr("'dongle': is not known here"));
  std::string many = "cpu=1";
  for (int i = 2; i <= 65; ++i) absl::StrAppend(&many, ";cpu=", i);
  EXPECT_THAT(says(many), HasSubstr("at most 64"));
}

}  // namespace
}  // namespace muster::local
