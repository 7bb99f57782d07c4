// What a restart of the program leaves as it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "test/adapters/local_controller/world.h"

namespace muster::local {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RestartTest, RunningTasksAreAdoptedAndQueuedJobsKeepTheirPlaces) {
  World world(OneBox(1));
  const uint64_t first = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t second = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  const uint64_t hash = world.controller->scheduler().StateHash();
  world.commands.clear();
  world.Restart();
  EXPECT_EQ(world.controller->scheduler().StateHash(), hash);
  world.Settle();
  EXPECT_THAT(world.Log(), ElementsAre(absl::StrCat("adopt ", first)));
  world.Exit(first, 0);
  world.Settle();
  EXPECT_EQ(world.Phase(first), "succeeded");
  EXPECT_THAT(world.Running(second), ElementsAre("0-0/1"));
  EXPECT_EQ(world.Submit(Manifest({.name = "c"})), second + 1);
}

TEST(RestartTest, WhatEndedMeanwhileHasItsCode) {
  World world(OneBox(1));
  const uint64_t id =
      world.Submit(Manifest({.name = "a", .gpus = "1", .backoff_limit = 0}));
  // It ends while nobody listens.
  const TaskKey key = world.processes.begin()->first;
  world.processes.clear();
  world.exits[key] = 42;
  world.Restart();
  world.Settle();
  EXPECT_EQ(world.Phase(id), "failed");
  EXPECT_EQ(world.Row(id).exit_code, 42);
}

TEST(RestartTest, WhatWasSavedAndNotStartedIsStarted) {
  World world(OneBox(1));
  const auto ids = world.Submit(
      Submission{.manifest = Manifest({.name = "a", .gpus = "1"})});
  Turn turn = world.controller->Step(world.now);
  ASSERT_EQ(turn.commands.size(), 1u);
  EXPECT_TRUE(turn.save.sync);
  // Kept; and killed before it was done.
  for (const JobRow& row : turn.save.jobs) world.jobs[row.id] = row;
  world.life = turn.save.life;
  for (const TaskRow& row : turn.save.tasks) world.tasks[row.key] = row;
  world.journal += turn.save.journal;
  world.Restart();
  world.Settle();
  EXPECT_THAT(world.Running(ids[0]), ElementsAre("0-0/1"));
  ASSERT_EQ(world.commands.size(), 1u);
  EXPECT_EQ(world.commands[0].start.launch.env,
            turn.commands[0].start.launch.env);
}

TEST(RestartTest, ALostTaskStartsAgainAndIsNoFailure) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  world.processes.clear();
  world.Restart();
  world.Settle();
  EXPECT_THAT(world.Running(id), ElementsAre("0-0/2"));
  EXPECT_EQ(world.Row(id).restarts, 0u);
}

TEST(RestartTest, AStopIsAskedForAgain) {
  World world(OneBox(1));
  world.stops_at_once = false;
  const uint64_t low = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t high =
      world.Submit(Manifest({.name = "b", .gpus = "1"}), "high");
  ASSERT_EQ(world.Phase(low), "stopping");
  world.commands.clear();
  world.Restart();
  world.Settle();
  EXPECT_THAT(world.Log(), ElementsAre(absl::StrCat("adopt ", low),
                                       absl::StrCat("stop ", low)));
  world.Exit(low, 143);
  world.Settle();
  EXPECT_EQ(world.Running(high).size(), 1u);
}

TEST(RestartTest, PortsStayWithTheirTasks) {
  World world(OneBox(4));
  const uint64_t a = world.Submit(PyTorchManifest("a", 1));
  const std::string port = world.Env(a, "MASTER_PORT");
  world.Restart();
  world.Settle();
  EXPECT_EQ(world.controller->Count().ports, 2u);
  const uint64_t b = world.Submit(PyTorchManifest("b", 1));
  EXPECT_NE(world.Env(b, "MASTER_PORT"), port);
  EXPECT_EQ(world.controller->Count().ports, 4u);
}

TEST(RestartTest, AnotherConfigurationHoldsFromThenOn) {
  World world(OneBox(1));
  const uint64_t a = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t b = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  world.config.node.devices.push_back(world.config.node.devices[0]);
  world.config.queues = {{.key = "default"}, {.key = "new"}};
  world.Restart();
  world.Settle();
  EXPECT_EQ(world.Running(a).size(), 1u);
  EXPECT_EQ(world.Running(b).size(), 1u);
  EXPECT_EQ(world.controller->Queues().size(), 2u);
}

TEST(RestartTest, TheJournalBeginsAnewWhenItHasGrown) {
  World world(OneBox(1));
  int begun = 0;
  size_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto ids = world.Submit(
        Submission{.manifest = Manifest({.name = "a", .gpus = "1"})});
    const size_t before = world.journal.size();
    world.Settle();
    begun += world.journal.size() < before;
    most = std::max(most, world.journal.size());
    world.Exit(ids[0], 0);
    world.Settle();
    begun += world.journal.size() < before;
  }
  EXPECT_GT(begun, 0);
  EXPECT_LT(most, size_t{3} << 20);
  const uint64_t last = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  world.Restart();
  world.Settle();
  EXPECT_EQ(world.Running(last).size(), 1u);
}

TEST(RestartTest, RowsThatContradictEachOtherAreDamage) {
  World world(OneBox(1));
  const uint64_t a = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  world.Submit(Manifest({.name = "b", .gpus = "1"}));
  const auto error = [&](const std::function<void(StoredState*)>& change) {
    StoredState saved = world.Saved();
    change(&saved);
    const auto made =
        Controller::Restore(world.config, std::move(saved), world.now);
    EXPECT_EQ(made.status().code(), absl::StatusCode::kDataLoss)
        << made.status();
    return std::string(made.status().message());
  };
  EXPECT_THAT(error([](auto* s) { s->jobs.pop_back(); }),
              HasSubstr("has events and is not there"));
  EXPECT_THAT(error([](auto* s) { s->journal.resize(10); }),
              testing::Not(IsEmpty()));
  EXPECT_THAT(error([](auto* s) { s->journal.pop_back(); }),
              HasSubstr("not whole"));
  EXPECT_THAT(error([](auto* s) { s->next_job = 1; }), HasSubstr("id"));
  EXPECT_THAT(error([&](auto* s) { s->jobs[0].manifest = "kind: Pod"; }),
              HasSubstr(absl::StrCat("job ", a)));
  EXPECT_THAT(error([](auto* s) { s->life[1].event = "[]"; }),
              HasSubstr("is no event"));
  EXPECT_THAT(error([](auto* s) { s->tasks[0].key.role = 5; }),
              HasSubstr("task 5-0"));
}

TEST(RestartTest, JobsThatHaveFinishedChangeNothing) {
  World world(OneBox(1));
  const uint64_t id = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const StoredState before = world.Saved();
  world.Exit(id, 0);
  world.Settle();
  StoredState stored = world.Saved();
  stored.jobs.push_back(world.Row(id));
  stored.life = before.life;
  stored.tasks = before.tasks;  // One that is not known to have ended.
  const auto made =
      Controller::Restore(world.config, std::move(stored), world.now);
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT((*made)->Jobs(), IsEmpty());
  EXPECT_THAT((*made)->Step(world.now).commands, IsEmpty());
}

TEST(RestartTest, ManyJobsThatWaitAreReadWhenTheyAreNeeded) {
  World world(OneBox(1));
  std::vector<uint64_t> ids;
  for (int i = 0; i < 600; ++i) {
    const auto id = world.Submit(Submission{
        .manifest = Manifest({.name = absl::StrCat("j", i), .gpus = "1"}),
        .directory = "/data/ann"});
    ids.push_back(id[0]);
    world.Turn();
  }
  world.Restart();
  world.Settle();
  for (const uint64_t id : ids) {
    const auto details = world.controller->Details(id);
    ASSERT_TRUE(details.ok());
    EXPECT_EQ(details->row, world.Row(id));
    EXPECT_EQ(details->conditions.size(), id == ids[0] ? 3u : 2u);
  }
  for (const uint64_t id : ids) {
    world.Exit(id, 0);
    world.Settle();
    EXPECT_EQ(world.Phase(id), "succeeded");
  }
}

TEST(RestartTest, AManifestThatCannotBeReadAnyMoreFailsItsJobAlone) {
  World world(OneBox(1));
  const uint64_t a = world.Submit(Manifest({.name = "a", .gpus = "1"}));
  const uint64_t b = world.Submit(Manifest({.name = "b", .gpus = "1"}));
  const uint64_t c = world.Submit(Manifest({.name = "c", .gpus = "1"}));
  world.jobs[b].manifest = "kind: Pod";  // It waits: it is not read at once.
  world.Restart();
  world.Settle();
  world.Exit(a, 0);
  world.Settle();
  EXPECT_EQ(world.Phase(b), "failed");
  EXPECT_THAT(world.Row(b).reason, HasSubstr("Pod"));
  EXPECT_EQ(world.Row(b).exit_code, 1);
  EXPECT_EQ(world.Running(c).size(), 1u);
}

}  // namespace
}  // namespace muster::local
