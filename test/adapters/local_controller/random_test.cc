// Random histories: with and without restarts, they come to the same.
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

ControllerConfig RandomBox() {
  ControllerConfig config = OneBox(4);
  config.scheduler.host.suspend = true;
  config.scheduler.host.suspended_keeps = {"memory"};
  config.classes.push_back(
      {.key = "patient", .value = -20, .on_preempted = OnPreempted::kSuspend});
  config.classes.push_back(
      {.key = "scrap", .value = -5, .on_preempted = OnPreempted::kCancel});
  for (uint32_t i = 0; i < 16; ++i) {
    config.cpus.cores.push_back({static_cast<int32_t>(i / 8), {i, i + 16}});
  }
  return config;
}

// Equal seeds do equal things to equal worlds.
class Player {
 public:
  explicit Player(uint32_t seed) : random_(seed) {}

  void Move(World* world) {
    switch (Below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Submit(world);
      case 4:
      case 5:
      case 6:
      case 7:
        return End(world, Below(3) == 0 ? static_cast<int>(Below(256)) : 0);
      case 8:
        world->now += Below(120) * kSecond;
        return;
      case 9:
        world->now -= Below(30) * kSecond;  // The clock was set.
        return;
      case 10:
      case 11:
        return EndStops(world);
      case 12:
        return Others(world);
      default:
        return Ask(world);
    }
  }
  // All that is left ends.
  void Finish(World* world) {
    for (const auto& [id, row] : world->jobs) {
      world->controller->Release(id, world->now).IgnoreError();
      world->controller->Cancel(id, world->now).IgnoreError();
    }
    for (int i = 0; i < 20; ++i) {
      world->Pass(1000 * kSecond);
      EndStops(world);
      world->Settle();
    }
  }
  uint32_t Below(uint32_t n) {
    return std::uniform_int_distribution<uint32_t>(0, n - 1)(random_);
  }

 private:
  void Submit(World* world) {
    static constexpr const char* kPriorities[] = {"",        "low", "high",
                                                  "patient", "4",   "scrap"};
    Submission s{.manifest = RandomManifest(), .directory = "/w"};
    if (const char* p = kPriorities[Below(6)]; *p != 0) s.priority = p;
    s.held = Below(8) == 0;
    if (Below(10) == 0) s.array = {1, 2, 3};
    EXPECT_TRUE(world->controller->Submit(s, world->now).ok());
  }
  std::string RandomManifest() {
    const std::string checkpoint =
        Below(3) == 0 ? R"("muster.dev/checkpoint":"true")" : "";
    switch (Below(8)) {
      case 0:
        return PyTorchManifest("ddp", 1 + static_cast<int>(Below(3)));
      case 1:
        return PyTorchManifest("elastic", 2, 1, 4);
      case 2:
        return Manifest({.name = "half",
                         .gpus = "500",
                         .resource = "muster.dev/gpu-milli"});
      case 6:
        return Manifest({.name = "chosen",
                         .gpus = "1",
                         .annotations = absl::StrCat(
                             R"("muster.dev/gpu-ids":")", Below(4), R"(")")});
      case 7:
        return Manifest(
            {.name = "either",
             .gpus = "2",
             .tasks = 1 + static_cast<int>(Below(2)),
             .annotations =
                 R"("muster.dev/or":"muster.dev/gpu-milli=500,cpu=3;cpu=2")"});
      case 3:
        return "#!/bin/sh\n#SBATCH --gpus=1 --time=1\nrun\n";
      default:
        return Manifest({.name = "job",
                         .gpus = absl::StrCat(1 + Below(2)),
                         .tasks = 1 + static_cast<int>(Below(3)),
                         .backoff_limit = static_cast<int>(Below(3)),
                         .annotations = checkpoint});
    }
  }
  void End(World* world, int code) {
    if (world->processes.empty()) return;
    auto it = world->processes.begin();
    std::advance(it, Below(static_cast<uint32_t>(world->processes.size())));
    const TaskKey key = it->first;
    if (!it->second.suspended) world->Exit(key.job, code, key.role, key.index);
  }
  static void EndStops(World* world) {
    std::vector<TaskKey> stopping;
    for (const auto& [key, process] : world->processes) {
      if (process.stopping) stopping.push_back(key);
    }
    for (const TaskKey& key : stopping) {
      if (world->processes.contains(key)) {
        world->Exit(key.job, 143, key.role, key.index);
      }
    }
  }
  void Others(World* world) {
    ExternalUsage usage;
    if (Below(2) == 0) {
      usage.devices = {{.device = Below(4), .milli = kWholeDevice}};
    }
    EXPECT_TRUE(world->controller->OthersUse(usage, world->now).ok());
  }
  void Ask(World* world) {
    const auto rows = world->controller->Jobs();
    if (rows.empty()) return;
    const uint64_t id = rows[Below(static_cast<uint32_t>(rows.size()))]->id;
    Controller& c = *world->controller;
    switch (Below(12)) {
      case 0:
        return c.Cancel(id, world->now).IgnoreError();
      case 1:
        return c.Hold(id, world->now).IgnoreError();
      case 2:
      case 3:
        return c.Release(id, world->now).IgnoreError();
      case 4:
        return c.Suspend(id, world->now).IgnoreError();
      case 5:
      case 6:
        return c.Resume(id, world->now).IgnoreError();
      case 7:
        return c.Resize(id, "", 1 + Below(4), world->now).IgnoreError();
      case 8:
        return c.Edit(id, RandomChange(), world->now).IgnoreError();
      case 9:
      case 10: {
        const uint64_t other =
            rows[Below(static_cast<uint32_t>(rows.size()))]->id;
        const auto place = static_cast<MoveTo>(Below(4));
        return c.Reorder(id, place, other, world->now).IgnoreError();
      }
      default:
        return c.Reprioritize(id, Below(2) == 0 ? "low" : "high", world->now)
            .IgnoreError();
    }
  }

  JobChange RandomChange() {
    JobChange change{.may_all = Below(2) == 0};
    if (Below(3) == 0) change.name = absl::StrCat("n", Below(3));
    if (Below(3) == 0) change.priority = Below(2) == 0 ? "low" : "high";
    if (Below(2) == 0) change.edits.limit = Below(200) * kSecond;
    if (Below(2) == 0) {
      change.edits.roles[""].requests = {
          {"nvidia.com/gpu", absl::StrCat(Below(3))}};
    }
    return change;
  }

  std::mt19937 random_;
};

void ExpectEqual(const World& a, const World& b) {
  ASSERT_EQ(a.jobs, b.jobs);
  ASSERT_EQ(a.tasks, b.tasks);
  SchedulerState state = b.controller->scheduler().State();
  // The first turn after a restart decides, though there may be nothing new.
  state.now = a.controller->scheduler().State().now;
  ASSERT_TRUE(a.controller->scheduler().State() == state);
  ASSERT_EQ(a.processes.size(), b.processes.size());
  for (const auto& [key, process] : a.processes) {
    const auto other = b.processes.find(key);
    ASSERT_NE(other, b.processes.end());
    ASSERT_EQ(process.start.launch.env, other->second.start.launch.env);
    ASSERT_EQ(process.start.devices, other->second.start.devices);
    ASSERT_EQ(process.start.cpus, other->second.start.cpus);
    ASSERT_EQ(process.stopping, other->second.stopping);
    ASSERT_EQ(process.suspended, other->second.suspended);
  }
}

void ExpectOver(const World& world) {
  EXPECT_TRUE(world.processes.empty());
  EXPECT_EQ(world.controller->ViewNode().free_cpus.size(), 32u);
  for (const auto& [id, row] : world.jobs) {
    EXPECT_TRUE(row.exit_code.has_value()) << id << " " << row.phase;
    EXPECT_NE(row.finished, kForever) << id << " " << row.phase;
  }
  EXPECT_TRUE(world.controller->Jobs().empty());
  EXPECT_TRUE(world.controller->scheduler().State().gangs.empty());
  EXPECT_EQ(world.controller->Count().ports, 0u);
  for (const auto& [key, row] : world.tasks) EXPECT_EQ(row.state, "ended");
}

TEST(RandomTest, ARestartAfterEveryTurnChangesNothing) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    World steady(RandomBox()), restarted(RandomBox());
    steady.stops_at_once = restarted.stops_at_once = seed % 2 == 0;
    Player a(seed), b(seed);
    for (int i = 0; i < 60 && !testing::Test::HasFailure(); ++i) {
      a.Move(&steady);
      steady.Settle();
      b.Move(&restarted);
      restarted.Settle();
      restarted.Restart();
      restarted.Settle();
      ExpectEqual(steady, restarted);
    }
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

TEST(RandomTest, NothingIsLostOrDoneTwiceWhateverHappens) {
  for (uint32_t seed = 1000; seed < 1120; ++seed) {
    SCOPED_TRACE(seed);
    World world(RandomBox());
    world.stops_at_once = seed % 3 == 0;
    Player player(seed);
    for (int i = 0; i < 80 && !testing::Test::HasFailure(); ++i) {
      player.Move(&world);
      if (player.Below(6) == 0) {
        world.Crash(player.Below(2) == 0, player.Below(4));
      } else if (player.Below(3) == 0) {
        world.Turn();
      } else {
        world.Settle();
      }
      const absl::Status valid = world.controller->scheduler().Validate();
      ASSERT_TRUE(valid.ok()) << valid;
    }
    player.Finish(&world);
    ExpectOver(world);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
}

}  // namespace
}  // namespace muster::local
