// Every kind of job runs here, comes back from a preemption, and ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <regex>
#include <string>
#include <vector>

#include "test/adapters/local_controller/world.h"
#include "test/workload/parsed_manifest.h"

namespace muster::workload {

void PrintTo(const Manifest& m, std::ostream* out) { *out << m.name; }

}  // namespace muster::workload

namespace muster::local {
namespace {

class KindsTest : public testing::TestWithParam<workload::Manifest> {
 protected:
  static ControllerConfig BigBox() {
    ControllerConfig config = OneBox(32);
    config.node.capacity = {1'000'000, int64_t{4} << 40};
    config.node.labels = {{"nvidia.com/gpu.product", "a100"}};
    config.images = {.by = "podman", .own_command = true};
    return config;
  }
  // The manifest, whose containers may have no command: without an image they
  // need one.
  // Without its calendar: see cron_test.cc.
  static std::string WithCommands() {
    static const std::regex kBare(R"re(\[\{name: ([a-z]+)(\}|, resources))re");
    static const std::regex kCron(R"re(  cronPolicy: .*\n)re");
    return std::regex_replace(
        std::regex_replace(std::string(GetParam().text), kCron, ""), kBare,
        "[{name: $1, command: [train]$2");
  }
  uint64_t Submit() {
    const auto ids = world_.Submit(Submission{.manifest = WithCommands(),
                                              .directory = "/w",
                                              .queue = "default",
                                              .priority = "low"});
    world_.Settle();
    return ids.empty() ? 0 : ids.front();
  }
  // All that runs of the job ends well, as often as it takes.
  void Finish(uint64_t job) {
    for (int round = 0; round < 50 && world_.Row(job).finished == kForever;
         ++round) {
      std::vector<TaskKey> live;
      for (const auto& [key, process] : world_.processes) {
        if (key.job == job) live.push_back(key);
      }
      for (const TaskKey& key : live) {
        if (world_.processes.contains(key)) {
          world_.Exit(key.job, 0, key.role, key.index);
        }
      }
      world_.Pass(kSecond);
    }
    EXPECT_EQ(world_.Phase(job), "succeeded") << world_.Row(job).reason;
    EXPECT_EQ(world_.Row(job).exit_code, 0);
    EXPECT_TRUE(world_.Running(job).empty());
    EXPECT_TRUE(world_.controller->scheduler().State().gangs.empty());
    EXPECT_EQ(world_.controller->Count().ports, 0u);
  }

  World world_{BigBox()};
};

TEST_P(KindsTest, RunsToItsEnd) {
  const uint64_t id = Submit();
  EXPECT_FALSE(world_.Running(id).empty());
  for (const auto& [key, process] : world_.processes) {
    const TaskStart& start = process.start;
    EXPECT_TRUE(!start.launch.argv.empty() || !start.image.empty());
    EXPECT_EQ(start.directory[0], '/');
    for (const auto& file : start.launch.files) {
      EXPECT_TRUE(file.path.starts_with("/var/lib/muster/jobs/")) << file.path;
    }
  }
  Finish(id);
}

TEST_P(KindsTest, ComesBackFromAPreemptionAndARestart) {
  const uint64_t id = Submit();
  const size_t tasks = world_.Running(id).size();
  const uint64_t high = world_.Submit(
      Manifest({.name = "all", .gpus = "32", .cpu = "1000"}), "high");
  if (world_.Phase(id) == "checkpointing") {
    world_.controller->CheckpointDone(id, 1, world_.now);
    world_.Settle();
  }
  ASSERT_EQ(world_.Running(high).size(), 1u);
  EXPECT_TRUE(world_.Running(id).empty());
  world_.Restart();
  world_.Settle();
  if (world_.Row(id).finished != kForever) {  // It does not requeue.
    EXPECT_EQ(world_.Row(id).reason, "Preempted");
    return;
  }
  EXPECT_EQ(world_.Phase(id), "queued");
  EXPECT_EQ(world_.Row(id).restarts, 0u);
  world_.Exit(high, 0);
  world_.Settle();
  EXPECT_EQ(world_.Running(id).size(), tasks);
  Finish(id);
}

INSTANTIATE_TEST_SUITE_P(All, KindsTest,
                         testing::ValuesIn(workload::AllManifests()),
                         [](const auto& of) {
                           std::string name(of.param.name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace muster::local
