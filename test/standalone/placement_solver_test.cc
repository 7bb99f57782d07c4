// PlacementSolver as a host uses it that has its own queues.
#include "muster/placement_solver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "muster/scheduler.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ResourceKind kCpu = 0;

SchedulerConfig TwoLevels() {
  SchedulerConfig config;
  config.topologies = {{.key = "network", .levels = {"block", "rack"}}};
  return config;
}

Node MakeNode(int number, int racks = 2) {
  const int rack = number / racks;
  Node node;
  node.key = "n" + std::to_string(number);
  node.labels = {{"rack", "r" + std::to_string(rack)},
                 {"block", "b" + std::to_string(rack / 2)}};
  node.capacity = {16, 64, 0};
  node.devices.assign(4, Device{.model = "H100"});
  return node;
}

Gang MakeGang(const std::string& key, uint32_t tasks, uint32_t gpus,
              const std::string& required = "") {
  Role role{.name = "worker", .min_tasks = tasks, .desired_tasks = tasks};
  role.shape.resources = {2, 4, 0};
  role.shape.devices.count = gpus;
  role.topology.required = required;
  Gang gang;
  gang.key = key;
  gang.roles = {role};
  return gang;
}

std::vector<std::string> NodesOf(const std::vector<PlacedTask>& tasks) {
  std::vector<std::string> nodes;
  for (const PlacedTask& task : tasks) nodes.push_back(task.node);
  return nodes;
}

class PlacementSolverTest : public ::testing::Test {
 protected:
  PlacementSolverTest() {
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(solver_.SetNode(MakeNode(i)).ok());
    }
  }
  int64_t FreeCpu(const std::string& node) {
    const ClusterView view = solver_.cluster();
    return view.free(view.Find(node).index, kCpu, Ledger::kBoth);
  }

  PlacementSolver solver_ = *PlacementSolver::Create(TwoLevels());
};

TEST_F(PlacementSolverTest, FindsPlacesInOneRackAndHoldsThem) {
  const auto placed = solver_.Place(MakeGang("a", 4, 2, "rack"));
  ASSERT_TRUE(placed.ok()) << placed.status();
  EXPECT_EQ(placed->fit, Fit::kFits);
  EXPECT_THAT(NodesOf(placed->tasks), ElementsAre("n0", "n0", "n1", "n1"));
  EXPECT_TRUE(placed->certificate.optimal);
  EXPECT_EQ(FreeCpu("n0"), 12);
  EXPECT_EQ(solver_.TasksOf("a"), placed->tasks);
}

TEST_F(PlacementSolverTest, FindChangesNothing) {
  const auto found = solver_.Find(MakeGang("a", 4, 2));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->fit, Fit::kFits);
  EXPECT_EQ(FreeCpu("n0"), 16);
  EXPECT_TRUE(solver_.TasksOf("a").empty());
  EXPECT_EQ(solver_.Place(MakeGang("a", 4, 2))->tasks, found->tasks);
}

TEST_F(PlacementSolverTest, SaysWhyThereIsNoRoom) {
  ASSERT_TRUE(solver_.Place(MakeGang("a", 4, 2, "rack")).ok());
  const auto now = solver_.Place(MakeGang("b", 3, 4, "block"));
  ASSERT_TRUE(now.ok());
  EXPECT_EQ(now->fit, Fit::kNotNow);
  EXPECT_TRUE(now->tasks.empty());
  EXPECT_EQ(now->reason.code, ReasonCode::kInsufficient);
  const auto never = solver_.Place(MakeGang("c", 1, 5));
  EXPECT_EQ(never->fit, Fit::kNever);
  EXPECT_EQ(never->reason.object, "worker");
}

TEST_F(PlacementSolverTest, ReleasesWhatAGangHolds) {
  ASSERT_TRUE(solver_.Place(MakeGang("a", 8, 2)).ok());
  EXPECT_EQ(solver_.Find(MakeGang("b", 1, 1))->fit, Fit::kNotNow);
  const TaskId gone[] = {{0, 7}};
  ASSERT_TRUE(solver_.Release("a", gone).ok());
  EXPECT_EQ(solver_.Find(MakeGang("b", 1, 1))->fit, Fit::kFits);
  EXPECT_EQ(solver_.TasksOf("a").size(), 7u);
  ASSERT_TRUE(solver_.Release("a").ok());
  EXPECT_EQ(solver_.Find(MakeGang("b", 8, 2))->fit, Fit::kFits);
  EXPECT_EQ(solver_.Release("a").code(), absl::StatusCode::kNotFound);
}

TEST_F(PlacementSolverTest, AGangWhoseLastTaskGoesIsForgotten) {
  ASSERT_TRUE(solver_.Place(MakeGang("a", 1, 1)).ok());
  const TaskId gone[] = {{0, 0}};
  ASSERT_TRUE(solver_.Release("a", gone).ok());
  EXPECT_EQ(solver_.Release("a").code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(solver_.Place(MakeGang("a", 1, 1)).ok());
}

TEST_F(PlacementSolverTest, GrowsAsFarAsThereIsRoom) {
  Gang gang = MakeGang("a", 2, 4);
  gang.roles[0].desired_tasks = 6;
  ASSERT_EQ(solver_.Place(gang)->tasks.size(), 2u);
  const auto grown = solver_.Grow("a");
  ASSERT_TRUE(grown.ok());
  EXPECT_EQ(grown->fit, Fit::kFits);
  EXPECT_EQ(grown->tasks.size(), 2u) << "four nodes have room for four";
  EXPECT_EQ(solver_.TasksOf("a").size(), 4u);
  EXPECT_EQ(solver_.Grow("b").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(PlacementSolverTest, HoldsPlacesThatWereDecidedElsewhere) {
  const Gang gang = MakeGang("a", 2, 2);
  const std::vector<PlacedTask> there = {
      {.task = {0, 0}, .node = "n3", .devices = DeviceSet::FirstOf(2)},
      {.task = {0, 1}, .node = "n2", .devices = DeviceSet::FirstOf(2)}};
  ASSERT_TRUE(solver_.Hold(gang, there).ok());
  EXPECT_EQ(solver_.TasksOf("a"), there);
  EXPECT_EQ(FreeCpu("n3"), 14);
  EXPECT_EQ(solver_.Hold(gang, there).code(), absl::StatusCode::kAlreadyExists);
}

TEST_F(PlacementSolverTest, NewValuesOfANodeLeaveWhatIsHeldThere) {
  ASSERT_TRUE(solver_.Place(MakeGang("a", 1, 4)).ok());
  Node node = MakeNode(0);
  node.capacity = {32, 64, 0};
  ASSERT_TRUE(solver_.SetNode(node).ok());
  EXPECT_EQ(FreeCpu("n0"), 30);
  node.devices.resize(2);
  EXPECT_EQ(solver_.SetNode(node).code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(solver_.RemoveNode("n0").code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(solver_.Release("a").ok());
  EXPECT_TRUE(solver_.SetNode(node).ok());
  EXPECT_TRUE(solver_.RemoveNode("n0").ok());
  EXPECT_EQ(solver_.RemoveNode("n0").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(solver_.cluster().nodes().size(), 3u);
}

TEST_F(PlacementSolverTest, NodeSetsBindARole) {
  ASSERT_TRUE(solver_.SetNodeSet({.key = "mine", .nodes = {"n2"}}).ok());
  Gang gang = MakeGang("a", 2, 2);
  gang.roles[0].node_sets = {"mine"};
  EXPECT_THAT(NodesOf(solver_.Place(gang)->tasks), ElementsAre("n2", "n2"));
}

// Each error names its field, and nothing has changed.
TEST_F(PlacementSolverTest, RefusesWhatIsWrong) {
  const auto refused = [&](const Gang& gang, const std::string& why) {
    const auto placed = solver_.Place(gang);
    EXPECT_EQ(placed.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(placed.status().message()), HasSubstr(why));
    EXPECT_FALSE(solver_.Find(gang).ok());
  };
  refused(MakeGang("", 1, 1), "gang.key");
  refused(MakeGang("a", 1, 1, "row"), "required");
  Gang none = MakeGang("a", 1, 1);
  none.roles.clear();
  refused(none, "gang.roles");

  const auto unheld = [&](PlacedTask task, const std::string& why) {
    const absl::Status status = solver_.Hold(MakeGang("a", 1, 1), {&task, 1});
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(std::string(status.message()), HasSubstr(why));
    EXPECT_EQ(FreeCpu("n0"), 16);
  };
  const PlacedTask good = {.node = "n0", .devices = DeviceSet::FirstOf(1)};
  const auto with = [&](auto change) {
    PlacedTask task = good;
    change(task);
    return task;
  };
  unheld(with([](PlacedTask& t) { t.task.role = 1; }), "tasks[0].task.role");
  unheld(with([](PlacedTask& t) { t.task.index = 1; }), "tasks[0].task.index");
  unheld(with([](PlacedTask& t) { t.alternative = 1; }), "alternative");
  unheld(with([](PlacedTask& t) { t.node = "n9"; }), "tasks[0].node");
  unheld(with([](PlacedTask& t) { t.devices = DeviceSet::FirstOf(2); }),
         "tasks[0].devices");
  unheld(with([](PlacedTask& t) {
           t.devices = {};
           t.devices.Insert(4);
         }),
         "tasks[0].devices");
  unheld(with([](PlacedTask& t) { t.first_slice = 1; }),
         "tasks[0].first_slice");
  const std::vector<PlacedTask> twice = {good, good};
  EXPECT_FALSE(solver_.Hold(MakeGang("a", 1, 1), twice).ok());
  EXPECT_FALSE(solver_.Hold(MakeGang("a", 1, 1), {}).ok());
  EXPECT_TRUE(solver_.Hold(MakeGang("a", 1, 1), {&good, 1}).ok());

  Node node = MakeNode(5);
  node.key.clear();
  EXPECT_THAT(std::string(solver_.SetNode(node).message()),
              HasSubstr("node.key"));
  SchedulerConfig config;
  config.device_kind = "tpu";
  EXPECT_FALSE(PlacementSolver::Create(config).ok());
}

TEST_F(PlacementSolverTest, UseAddsUpToNoMoreThanCanBeCounted) {
  Gang huge = MakeGang("a", 512, 0);
  huge.roles[0].shape.resources = {Resources::kMaxQuantity, 0, 0};
  std::vector<PlacedTask> tasks;
  for (uint32_t i = 0; i < 512; ++i) {
    tasks.push_back({.task = {0, i}, .node = "n0"});
  }
  ASSERT_TRUE(solver_.Hold(huge, tasks).ok());
  huge.key = "b";
  EXPECT_EQ(solver_.Hold(huge, tasks).code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(solver_.Release("a").ok());
  EXPECT_TRUE(solver_.Hold(huge, tasks).ok());
}

// A scheduler with one queue, whose gangs come and go one by one, places each
// as the solver does.
TEST(PlacementSolverPropertyTest, PlacesAsASchedulerDoes) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) {
      return static_cast<uint32_t>(random() % n);
    };
    PlacementSolver solver = *PlacementSolver::Create(TwoLevels());
    Scheduler scheduler = *Scheduler::Create(TwoLevels());
    Plan plan;
    for (int i = 0; i < 12; ++i) {
      ASSERT_TRUE(solver.SetNode(MakeNode(i, 3)).ok());
      ASSERT_TRUE(scheduler.Apply({0, NodeChanged{MakeNode(i, 3)}}).ok());
    }
    ASSERT_TRUE(scheduler.Apply({0, QueueChanged{{.key = "q"}}}).ok());
    std::vector<std::string> running;
    for (int step = 0; step < 60; ++step) {
      if (!running.empty() && below(3) == 0) {
        const std::string key =
            running[below(static_cast<uint32_t>(running.size()))];
        std::erase(running, key);
        ASSERT_TRUE(solver.Release(key).ok());
        ASSERT_TRUE(scheduler.Apply({0, GangFinished{key}}).ok());
        continue;
      }
      const char* levels[] = {"", "rack", "block", "host"};
      Gang gang = MakeGang("g" + std::to_string(step), 1 + below(5), below(5),
                           levels[below(4)]);
      gang.queue = "q";
      const auto placed = solver.Place(gang);
      ASSERT_TRUE(placed.ok()) << placed.status();
      ASSERT_TRUE(scheduler.Apply({0, GangSubmitted{gang}}).ok());
      scheduler.Schedule(0, &plan);
      if (placed->fit != Fit::kFits) {
        ASSERT_TRUE(plan.decisions.empty()) << seed << " " << step;
        ASSERT_TRUE(scheduler.Apply({0, GangFinished{gang.key}}).ok());
        continue;
      }
      ASSERT_EQ(plan.decisions.size(), 1u) << seed << " " << step;
      std::vector<PlacedTask> started;
      for (const PlannedTask& task : plan.TasksOf(plan.decisions[0])) {
        started.push_back({.task = task.task,
                           .node = std::string(plan.Text(task.node_key)),
                           .devices = task.devices});
      }
      EXPECT_EQ(placed->tasks, started) << seed << " " << step;
      ASSERT_TRUE(
          scheduler.Apply({0, DecisionApplied{plan.decisions[0].seq}}).ok());
      running.push_back(gang.key);
    }
    for (const std::string& key : running) {
      ASSERT_TRUE(solver.Release(key).ok());
    }
    const ClusterView view = solver.cluster();
    for (const NodeIndex n : view.nodes()) {
      EXPECT_EQ(view.free(n, kCpu, Ledger::kBoth), 16);
      EXPECT_EQ(view.free_devices(n, Ledger::kBoth), 4u);
    }
  }
}

}  // namespace
}  // namespace muster
