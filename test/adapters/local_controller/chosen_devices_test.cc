// Jobs that choose GPUs by number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Chosen(const std::string& ids, const std::string& gpus,
                   const std::string& resource = "nvidia.com/gpu") {
  return Manifest(
      {.name = "chosen",
       .gpus = gpus,
       .resource = resource,
       .annotations = absl::StrCat(R"("muster.dev/gpu-ids":")", ids, R"(")")});
}

std::vector<uint32_t> DevicesOf(const World& world, uint64_t job) {
  std::vector<uint32_t> devices;
  const Process* process = world.Of(job);
  if (process == nullptr) return devices;
  for (const DeviceShare& share : process->start.devices) {
    devices.push_back(share.device);
  }
  return devices;
}

TEST(ChosenDevicesTest, AJobHasThoseAndWaitsForThem) {
  World world(OneBox(4));
  const uint64_t a = world.Submit(Chosen("1,3", "2"));
  EXPECT_THAT(DevicesOf(world, a), ElementsAre(1, 3));
  const uint64_t b = world.Submit(Chosen("2-3", "1"));
  EXPECT_THAT(DevicesOf(world, b), ElementsAre(2)) << "one of them is free";
  const uint64_t c = world.Submit(Chosen("2-3", "1"));
  EXPECT_THAT(DevicesOf(world, c), IsEmpty()) << "the device 0 is not its";
  EXPECT_EQ(world.controller->Explain(c)->text,
            "too few of the GPUs 2, 3, which it chooses, are free");
  const uint64_t any = world.Submit(Manifest({.name = "any", .gpus = "1"}));
  EXPECT_THAT(DevicesOf(world, any), ElementsAre(0));
  world.Exit(a, 0);
  world.Settle();
  EXPECT_THAT(DevicesOf(world, c), ElementsAre(3));
}

TEST(ChosenDevicesTest, APartOfOneOfThem) {
  World world(OneBox(2));
  const std::string half = Chosen("1", "500", "muster.dev/gpu-milli");
  const uint64_t a = world.Submit(half);
  const uint64_t b = world.Submit(half);
  EXPECT_THAT(DevicesOf(world, a), ElementsAre(1));
  EXPECT_THAT(DevicesOf(world, b), ElementsAre(1));
  EXPECT_THAT(DevicesOf(world, world.Submit(half)), IsEmpty());
}

TEST(ChosenDevicesTest, OneThatPreemptsTakesThemOfWhoHasThem) {
  World world(OneBox(2));
  const uint64_t a = world.Submit(Chosen("0", "1"), "low");
  const uint64_t b = world.Submit(Chosen("1", "1"), "low");
  const uint64_t urgent = world.Submit(Chosen("0", "1"), "high");
  EXPECT_THAT(DevicesOf(world, urgent), ElementsAre(0));
  EXPECT_EQ(world.Phase(a), "queued");
  EXPECT_EQ(world.Phase(b), "running");
}

TEST(ChosenDevicesTest, AreTheSameAfterARestart) {
  World world(OneBox(2));
  const uint64_t first = world.Submit(Chosen("1", "1"));
  const uint64_t next = world.Submit(Chosen("1", "1"));
  world.Restart();
  world.Settle();
  EXPECT_THAT(DevicesOf(world, next), IsEmpty());
  world.Exit(first, 0);
  world.Settle();
  EXPECT_THAT(DevicesOf(world, next), ElementsAre(1));
}

TEST(ChosenDevicesTest, WhatCannotBeIsRefused) {
  World world(OneBox(2));
  const auto says = [&](const std::string& manifest) {
    const auto submitted =
        world.controller->Submit({.manifest = manifest}, world.now);
    return std::string(submitted.status().message());
  };
  EXPECT_THAT(says(Chosen("1-2", "1")),
              HasSubstr("2 is none; the node has 2, from 0 on"));
  EXPECT_THAT(says(Chosen("1", "2")), HasSubstr("asks for 2 of 1"));
  EXPECT_THAT(says(Manifest({.name = "none",
                             .annotations = R"("muster.dev/gpu-ids":"0")"})),
              HasSubstr("asks for no GPU"));
  EXPECT_THAT(says(Chosen("1,0", "1")), HasSubstr("no ascending list"));
  EXPECT_THAT(says(Chosen("128", "1")), HasSubstr("from 0 to 127"));
}

}  // namespace
}  // namespace muster::local
