#include "adapters/inprocess/simulator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "adapters/inprocess/timeline.h"

namespace muster::inprocess {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A small cluster that is told what happens, and what came of it.
class World {
 public:
  explicit World(uint32_t nodes, uint32_t devices_each = 4) {
    for (uint32_t n = 0; n < nodes; ++n) {
      Node node{.key = "n" + std::to_string(n), .capacity = {64'000, 1000}};
      node.devices.assign(devices_each, Device{});
      setup.nodes.push_back(std::move(node));
    }
    setup.queues = {{.key = "q"}};
    setup.priority_classes = {{.key = "low", .value = 0},
                              {.key = "high", .value = 10}};
  }

  Job& Add(const std::string& key, Time at, Duration run, uint32_t tasks,
           const std::string& priority = "low") {
    Job job{.work = run * kSecond};
    job.gang.key = key;
    job.gang.queue = "q";
    job.gang.priority_class = priority;
    job.gang.submitted = at * kSecond;
    Role role{.min_tasks = tasks, .desired_tasks = tasks};
    role.shape.resources = {1000, 1};
    role.shape.devices.count = 1;
    job.gang.roles = {role};
    jobs.push_back(std::move(job));
    return jobs.back();
  }
  // One task each, the worker after the server.
  void AddServerThenWorker(const std::string& key, Duration run) {
    Job& j = Add(key, 0, run, 1);
    j.gang.roles[0].name = "server";
    Role worker = j.gang.roles[0];
    worker.name = "worker";
    worker.start_after = {"server"};
    j.gang.roles.push_back(worker);
  }
  void At(Time at, EventBody body) {
    events.push_back({at * kSecond, std::move(body)});
  }

  // Runs everything; the audit must find nothing.
  void Run(Time until = kForever) {
    source = std::make_unique<VectorSource>(jobs);
    auto made = Simulator::Create(
        setup, source.get(), events,
        {.host = host, .observer = &timeline, .validate = true});
    ASSERT_TRUE(made.ok()) << made.status();
    simulator = std::make_unique<Simulator>(*std::move(made));
    const absl::Status run = simulator->Run(until);
    ASSERT_TRUE(run.ok()) << run;
    const absl::Status audit = simulator->Audit();
    ASSERT_TRUE(audit.ok()) << audit;
    EXPECT_EQ(counts().overcommits, 0U);
  }
  const Metrics::Counts& counts() const { return simulator->metrics().counts; }
  std::vector<std::string> Runs(const std::string& gang) const {
    std::vector<std::string> runs;
    if (const GangStory* story = timeline.Find(gang)) {
      for (const Interval& i : story->intervals) runs.push_back(ToText(i));
    }
    return runs;
  }

  Setup setup;
  HostModel host;
  std::vector<Job> jobs;
  std::vector<WorldEvent> events;
  Timeline timeline;
  std::unique_ptr<VectorSource> source;
  std::unique_ptr<Simulator> simulator;
};

TEST(SimulatorTest, AGangWithoutWorkEndsWhereItStarts) {
  World w(1);
  w.Add("empty", 5, 0, 4);
  w.Add("next", 5, 10, 4);
  w.Run();
  EXPECT_THAT(w.Runs("empty"), ElementsAre("5-5"));
  EXPECT_THAT(w.Runs("next"), ElementsAre("5-15"));
}

TEST(SimulatorTest, OnePassPerMomentIsEnoughForPlainWork) {
  World w(2);
  for (int i = 0; i < 8; ++i) {
    w.Add("g" + std::to_string(i), 0, 10, 1);
  }
  w.Run();
  EXPECT_EQ(w.counts().passes, 2U) << "one at 0 s, one at 10 s";
}

TEST(SimulatorTest, AnElasticGangIsAsFastAsItsTasks) {
  World w(1);
  w.Add("first", 0, 50, 2);
  Job& j = w.Add("elastic", 0, 100, 4);
  j.gang.roles[0].min_tasks = 2;
  w.Run();
  // 50 s at half its speed, the rest in full.
  EXPECT_THAT(w.Runs("elastic"), ElementsAre("0-125 (2 tasks, 4 from 50)"));
}

TEST(SimulatorTest, SurplusTasksMakeRoomWithoutAStop) {
  World w(1);
  Job& j = w.Add("elastic", 0, 100, 4);
  j.gang.roles[0].min_tasks = 2;
  w.Add("urgent", 50, 20, 2, "high");
  w.Run();
  EXPECT_THAT(w.Runs("urgent"), ElementsAre("50-70"));
  EXPECT_THAT(w.Runs("elastic"),
              ElementsAre("0-110 (4 tasks, 2 from 50, 4 from 70)"))
      << "20 s at half its speed";
}

TEST(SimulatorTest, RolesStartInTheirOrder) {
  World w(1);
  w.AddServerThenWorker("job", 10);
  w.host.start_time = 3 * kSecond;
  w.Run();
  EXPECT_THAT(w.Runs("job"), ElementsAre("6-16"));
}

// Two jobs of a server and three workers, one GPU each, on four GPUs. With a
// gang for each role, as KubeDL makes them, both servers start and no worker
// ever does, until the servers give up; with one for each job the jobs run one
// after the other.
TEST(SimulatorTest, GangsByRoleWaitForEachOtherAndThoseOfJobsDoNot) {
  constexpr Duration kPatience = 1000;
  World by_role(1);
  for (const std::string job : {"a", "b"}) {
    by_role.Add(job + "-server", 0, kPatience, 1);
  }
  for (const std::string job : {"a", "b"}) {
    by_role.Add(job + "-workers", 1, 60, 3);
  }
  by_role.Run();
  EXPECT_THAT(by_role.Runs("a-server"), ElementsAre("0-1000"));
  EXPECT_THAT(by_role.Runs("b-server"), ElementsAre("0-1000"));
  EXPECT_THAT(by_role.Runs("a-workers"), ElementsAre("1000-1060"));

  World whole(1);
  for (const char* job : {"a", "b"}) {
    whole.AddServerThenWorker(job, 60);
    Role& workers = whole.jobs.back().gang.roles[1];
    workers.min_tasks = workers.desired_tasks = 3;
  }
  whole.Run();
  EXPECT_THAT(whole.Runs("a"), ElementsAre("0-60"));
  EXPECT_THAT(whole.Runs("b"), ElementsAre("60-120"));
}

// A wave waits for the one before, however often that is tried.
TEST(SimulatorTest, ALaterRoleWaitsForWhatFailedAndIsPlacedAgain) {
  World w(1);
  w.AddServerThenWorker("job", 10);
  w.host.start_time = 3 * kSecond;
  w.host.lapses.push_back({.gang = "job", .kind = LapseKind::kFail});
  w.Run();
  // Server fails at 3 s, runs at 6 s; the worker fails at 9 s, runs at 12 s.
  EXPECT_THAT(w.Runs("job"), ElementsAre("12-22"));
}

TEST(SimulatorTest, ARefusedStartIsRefusedWithAllItsWaves) {
  World w(1);
  w.AddServerThenWorker("job", 10);
  w.host.start_time = 3 * kSecond;
  w.host.lapses.push_back({.gang = "job", .kind = LapseKind::kRefuse});
  w.Run();
  // Refused at 3 s, tried again 10 s later.
  EXPECT_THAT(w.Runs("job"), ElementsAre("19-29"));
}

TEST(SimulatorTest, ASuspendedGangLosesNothing) {
  World w(1);
  w.setup.config.host.suspend = true;
  w.setup.priority_classes[0].on_preempted = OnPreempted::kSuspend;
  Job& j = w.Add("patient", 0, 100, 4);
  j.gang.restart_cost = 50 * kSecond;
  w.Add("urgent", 30, 20, 4, "high");
  w.Run();
  EXPECT_THAT(
      w.Runs("patient"),
      ElementsAre("0-30 suspended by urgent with 30 s saved and 0 s lost",
                  "50-120"));
}

TEST(SimulatorTest, AHostMayChooseDevicesItself) {
  World w(2);
  w.setup.config.host.choose_devices = false;
  for (int i = 0; i < 20; ++i) {
    Job& j = w.Add("g" + std::to_string(i), i, 30, 1);
    j.gang.roles[0].shape.devices.milli = i % 2 == 0 ? 400 : 1000;
  }
  w.Run();
  EXPECT_EQ(w.counts().finished, 20U);
}

TEST(SimulatorTest, ACancelledGangIsGoneWhetherItRunsOrWaits) {
  World w(1);
  w.Add("running", 0, 100, 4);
  w.Add("waiting", 0, 100, 4);
  w.Add("third", 0, 10, 4);
  w.At(20, GangCancelled{"waiting"});
  w.At(40, GangCancelled{"running"});
  w.Run();
  EXPECT_EQ(w.counts().cancelled, 2U);
  EXPECT_THAT(w.Runs("third"), ElementsAre("40-50"));
  EXPECT_THAT(w.Runs("waiting"), IsEmpty());
}

TEST(SimulatorTest, ATooLongRunIsCancelled) {
  World w(1);
  w.Add("endless", 0, 1000, 4).gang.max_runtime = 60 * kSecond;
  w.Add("next", 0, 10, 4);
  w.Run();
  EXPECT_EQ(w.counts().cancelled, 1U);
  EXPECT_THAT(w.Runs("next"), ElementsAre("60-70"));
}

TEST(SimulatorTest, AProtectedRunTimeIsWaitedFor) {
  World w(1);
  w.setup.priority_classes[0].min_runtime = 40 * kSecond;
  w.Add("victim", 0, 100, 4);
  w.Add("urgent", 10, 20, 4, "high");
  w.Run();
  EXPECT_THAT(w.Runs("urgent"), ElementsAre("40-60"));
}

TEST(SimulatorTest, AHeldGangWaitsToBeReleased) {
  World w(1);
  w.Add("held", 0, 10, 1).gang.held = true;
  w.At(30, GangHeld{"held", false});
  w.Run();
  EXPECT_THAT(w.Runs("held"), ElementsAre("30-40"));
}

TEST(SimulatorTest, NotBeforeIsAReasonToWakeUp) {
  World w(1);
  w.Add("later", 0, 10, 1).gang.not_before = 77 * kSecond;
  w.Run();
  EXPECT_THAT(w.Runs("later"), ElementsAre("77-87"));
}

TEST(SimulatorTest, ADrainedNodeIsEmptied) {
  World w(2);
  Job& j = w.Add("job", 0, 100, 4);
  j.checkpoint_every = 10 * kSecond;
  w.At(35, NodeDrained{"n0", true});
  w.At(36, NodeDrained{"n1", true});
  w.At(50, NodeDrained{"n1", false});
  w.Run();
  EXPECT_EQ(w.counts().finished, 1U);
  EXPECT_EQ(w.counts().stops[static_cast<size_t>(StopCause::kDrained)], 2U);
}

TEST(SimulatorTest, ATaskThatDiesTakesItsGangWithIt) {
  World w(2);
  Job& j = w.Add("job", 0, 100, 4);
  j.checkpoint_every = 10 * kSecond;
  w.events.push_back(
      {.at = 25 * kSecond, .what = TaskDies{"job", {.role = 0, .index = 2}}});
  w.Run();
  const std::vector<std::string> runs = w.Runs("job");
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0], "0-25 task-failed with 20 s saved and 5 s lost");
}

// Its place is another's as soon as it has gone, and nobody is stopped for it.
TEST(SimulatorTest, ATaskThatSomebodyElseStopsIsLeaving) {
  World w(1);
  w.host.stop_time = 5 * kSecond;
  Job& j = w.Add("elastic", 0, 100, 4);
  j.gang.roles[0].min_tasks = 2;
  w.Add("next", 50, 10, 1);
  w.events.push_back(
      {.at = 50 * kSecond,
       .what = TaskDies{"elastic", {.role = 0, .index = 3}, true}});
  w.Run();
  EXPECT_THAT(w.Runs("next"), ElementsAre("55-65"));
  EXPECT_EQ(w.counts().finished, 2U);
  EXPECT_EQ(w.Runs("elastic").size(), 1U);
}

TEST(SimulatorTest, AnEvictionWaitsForWhatIsLeaving) {
  World w(1);
  w.host.stop_time = 20 * kSecond;
  Job& j = w.Add("elastic", 0, 100, 4);
  j.gang.roles[0].min_tasks = 2;
  w.Add("urgent", 45, 10, 4, "high");
  w.events.push_back(
      {.at = 40 * kSecond,
       .what = TaskDies{"elastic", {.role = 0, .index = 3}, true}});
  w.Run();
  EXPECT_THAT(w.Runs("urgent"), ElementsAre("65-75"));
  EXPECT_EQ(w.counts().finished, 2U);
}

TEST(SimulatorTest, EventsAboutWhatIsNotThereAreTold) {
  World w(1);
  w.Add("job", 0, 10, 1);
  w.At(5, NodeDown{"nowhere"});
  w.At(6, GangCancelled{"nobody"});
  w.Run();
  ASSERT_EQ(w.simulator->refusals().size(), 2U);
  EXPECT_EQ(w.simulator->refusals()[0].what, "node-down nowhere");
  EXPECT_EQ(w.counts().finished, 1U);
}

TEST(SimulatorTest, AGangLargerThanTheClusterSaysWhatIsMissing) {
  World w(2);
  w.Add("giant", 0, 10, 9);
  w.Add("small", 0, 10, 8);
  w.Run();
  EXPECT_THAT(w.simulator->Live(), ElementsAre("giant"));
  const auto why = w.simulator->scheduler().Explain("giant");
  ASSERT_TRUE(why.ok());
  EXPECT_EQ(why->reason.code, ReasonCode::kNeverFits);
  EXPECT_LT(why->reason.available, why->reason.needed);
  EXPECT_THAT(w.Runs("small"), ElementsAre("0-10")) << "nothing else is lost";
}

TEST(SimulatorTest, WorkThatIsLostIsCounted) {
  World w(1);
  Job& j = w.Add("victim", 0, 100, 4);
  j.checkpoint_every = 30 * kSecond;
  j.gang.restart_cost = 7 * kSecond;
  w.Add("urgent", 50, 10, 4, "high");
  w.Run();
  EXPECT_THAT(
      w.Runs("victim"),
      ElementsAre("0-50 preempted by urgent with 30 s saved and 20 s lost",
                  "60-137"));
  // 4 GPUs x (20 s of work + 7 s to start again).
  EXPECT_DOUBLE_EQ(
      w.counts().lost_gpu_s[static_cast<size_t>(StopCause::kPreempted)], 108);
}

TEST(SimulatorTest, ARunCanBeStoppedAndGoesOn) {
  World w(1);
  w.Add("a", 0, 100, 4);
  w.Add("b", 0, 100, 4);
  w.Run(50 * kSecond);
  EXPECT_EQ(w.counts().finished, 0U);
  EXPECT_THAT(w.simulator->Live(), ElementsAre("a", "b"));
  ASSERT_TRUE(w.simulator->Run().ok());
  EXPECT_TRUE(w.simulator->Audit().ok());
  EXPECT_EQ(w.counts().finished, 2U);
}

// A host whose answers get lost tells the whole truth now and then.
TEST(SimulatorTest, ReconciliationHealsLostAnswers) {
  World w(2);
  w.Add("job", 0, 20, 4);
  w.Add("next", 0, 20, 8);
  w.host.lapses = {{.gang = "job", .kind = LapseKind::kNoAnswer}};
  w.events.push_back({.at = 10 * kSecond, .what = HostReconciles{}});
  w.Run();
  EXPECT_EQ(w.counts().finished, 2U);
}

// Invariants of the design, with a host that does everything wrong that hosts
// do: after every pass Validate() holds; at the end no gang is lost and nothing
// is held.
class UnrulyHostTest : public testing::TestWithParam<uint32_t> {};

TEST_P(UnrulyHostTest, NothingLeaks) {
  const uint32_t seed = GetParam();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) {
    return static_cast<uint32_t>(random() % n);
  };
  World w(4);
  w.host.start_time = below(4) * kSecond;
  w.host.stop_time = below(4) * kSecond;
  w.host.answer_delay = below(6) * kSecond;
  w.host.answers = 1 + below(3);
  w.host.answer_gap = below(8) * kSecond;
  w.setup.config.host.choose_devices = below(2) == 0;
  w.setup.config.host.suspend = below(2) == 0;
  if (below(2) == 0) {
    w.setup.priority_classes[0].on_preempted = OnPreempted::kSuspend;
  }
  constexpr LapseKind kLapses[] = {LapseKind::kRefuse, LapseKind::kFail,
                                   LapseKind::kElsewhere,
                                   LapseKind::kOtherDevices, LapseKind::kLate};
  for (uint32_t i = 0; i < 40; ++i) {
    const std::string key = "g" + std::to_string(i);
    Job& j = w.Add(key, below(600), below(120), 1 + below(10),
                   below(3) == 0 ? "high" : "low");
    if (below(3) == 0) j.gang.roles[0].min_tasks = 1;
    j.checkpoint_every = below(30) * kSecond;
    j.gang.restart_cost = below(5) * kSecond;
    if (below(2) == 0) {
      w.host.lapses.push_back({.gang = key,
                               .on_stop = below(3) == 0,
                               .kind = kLapses[below(5)],
                               .node = "n" + std::to_string(below(4)),
                               .delay = below(30) * kSecond,
                               .times = 1 + below(2)});
    }
    if (below(8) == 0) w.At(below(700), GangCancelled{key});
  }
  for (uint32_t i = 0; i < 6; ++i) {
    const std::string node = "n" + std::to_string(below(4));
    const Time at = below(700);
    w.At(at, NodeDown{node});
    w.At(at + below(60), NodeUp{node});
    w.At(below(700), NodeDrained{node, true});
    w.At(800, NodeDrained{node, false});
    w.events.push_back({static_cast<Time>(below(700)) * kSecond,
                        TaskDies{"g" + std::to_string(below(40)), {}}});
  }
  if (below(2) == 0) {
    w.events.push_back({below(700) * kSecond, HostReconciles{}});
  }
  std::ranges::stable_sort(w.jobs, {},
                           [](const Job& j) { return j.gang.submitted; });
  w.source = std::make_unique<VectorSource>(w.jobs);
  auto simulator = Simulator::Create(w.setup, w.source.get(), w.events,
                                     {.host = w.host, .validate = true});
  ASSERT_TRUE(simulator.ok()) << simulator.status();
  const absl::Status run = simulator->Run();
  ASSERT_TRUE(run.ok()) << run;
  const absl::Status audit = simulator->Audit();
  ASSERT_TRUE(audit.ok()) << audit;
  const Metrics::Counts& c = simulator->metrics().counts;
  EXPECT_EQ(c.finished + c.cancelled, 40U) << "every gang came to its end";
  EXPECT_EQ(simulator->real_usage().FirstInUse(), "");
}

INSTANTIATE_TEST_SUITE_P(Seeds, UnrulyHostTest, testing::Range(0U, 200U));

}  // namespace
}  // namespace muster::inprocess
