#include "muster/workload/to_gang.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "muster/scheduler.h"
#include "test/workload/parsed_manifest.h"

namespace muster::workload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

GangForm FormOf(std::string_view manifest) {
  const auto form =
      ToGang(JobOf(manifest), SchedulerConfig{}, {.queue = "q", .user = "me"});
  EXPECT_TRUE(form.ok()) << form.status();
  return form.ok() ? *form : GangForm{};
}

// "name:min-desired", by role.
std::vector<std::string> RolesOf(const Gang& gang) {
  std::vector<std::string> roles;
  for (const auto& r : gang.roles) {
    roles.push_back(r.name + ":" + std::to_string(r.min_tasks) + "-" +
                    std::to_string(r.desired_tasks));
  }
  return roles;
}

TEST(ToGangTest, AFixedJobIsPlacedAsAWhole) {
  const Gang gang = FormOf("pytorch-kubeflow").gang;
  EXPECT_EQ(gang.key, "default/ddp");
  EXPECT_EQ(gang.queue, "team-a");
  EXPECT_EQ(gang.user, "me");
  EXPECT_THAT(RolesOf(gang), ElementsAre("master:1-1", "worker:3-3"));
  EXPECT_EQ(gang.roles[1].shape.devices.count, 2u);
}

TEST(ToGangTest, ElasticRolesHaveTheirBounds) {
  EXPECT_THAT(RolesOf(FormOf("pytorch-elastic").gang),
              ElementsAre("worker:2-4"));
  EXPECT_THAT(RolesOf(FormOf("ray-cluster").gang),
              ElementsAre("head:1-1", "small:1-2"));
  EXPECT_THAT(RolesOf(FormOf("batch").gang), ElementsAre("task:1-3"));
}

TEST(ToGangTest, MinAvailableRaisesTheLeastSize) {
  Job job = JobOf("batch");
  job.scheduling.min_available = 2;
  const auto form = ToGang(job, SchedulerConfig{}, {});
  EXPECT_THAT(RolesOf(form->gang), ElementsAre("task:2-3"));
  // Of a job that needs all of its tasks it lowers nothing: defect 12.
  Job fixed = JobOf("pytorch-kubeflow");
  fixed.scheduling.min_available = 2;
  EXPECT_THAT(RolesOf(ToGang(fixed, SchedulerConfig{}, {})->gang),
              ElementsAre("master:1-1", "worker:3-3"));
}

TEST(ToGangTest, SpotReplicasAreARoleOfTheirOwn) {
  const Job job = JobOf("pytorch-kubedl");
  const auto form = ToGang(
      job, SchedulerConfig{},
      {.spot_tolerations = {{.key = "spot", .op = TolerationOp::kExists}},
       .spot_nodes = {{{"spot", SelectorOp::kExists, {}}}}});
  ASSERT_TRUE(form.ok());
  EXPECT_THAT(RolesOf(form->gang),
              ElementsAre("master:1-1", "worker:1-1", "worker-spot:2-2"));
  EXPECT_EQ(form->gang.roles[2].tolerations.size(), 1u);
  EXPECT_EQ(form->gang.roles[2].preferences.size(), 1u);
  EXPECT_TRUE(form->gang.roles[1].preferences.empty());
  EXPECT_EQ(ToJobTask(*form, {2, 1}), (TaskId{1, 2}));
  for (const TaskId t :
       {TaskId{0, 0}, TaskId{1, 0}, TaskId{1, 1}, TaskId{1, 2}}) {
    EXPECT_EQ(ToJobTask(*form, ToGangTask(*form, t)), t);
  }
}

TEST(ToGangTest, PrioritiesAreClasses) {
  EXPECT_EQ(FormOf("pytorch-kubedl").gang.priority_class, "high");
  Job job = JobOf("pytorch-kubedl");
  job.scheduling.priority_class.clear();
  const auto form = ToGang(job, SchedulerConfig{}, {});
  ASSERT_TRUE(form->priority_class.has_value());
  EXPECT_EQ(form->priority_class->value, 10);
  EXPECT_EQ(form->gang.priority_class, form->priority_class->key);
}

TEST(ToGangTest, PartsOfDevices) {
  const auto devices = [](const char* resource, int64_t amount) {
    Job job = JobOf("jax");
    job.roles[0].task.requests = {{resource, amount}};
    return ToGang(job, SchedulerConfig{}, {});
  };
  EXPECT_EQ(
      devices("muster.dev/gpu-milli", 500)->gang.roles[0].shape.devices.milli,
      500);
  EXPECT_EQ(devices("muster.dev/gpu-memory", 1 << 30)
                ->gang.roles[0]
                .shape.devices.memory_bytes,
            1 << 30);
  EXPECT_EQ(devices("nvidia.com/mig-3g.40gb", 1)
                ->gang.roles[0]
                .shape.devices.partition,
            "3g.40gb");
  EXPECT_THAT(
      std::string(devices("muster.dev/gpu-milli", 1500).status().message()),
      HasSubstr("spec.jaxReplicaSpecs.Worker: resource "
                "'muster.dev/gpu-milli'"));
  EXPECT_THAT(std::string(devices("example.com/foo", 1).status().message()),
              HasSubstr("'example.com/foo': is not known here"));
}

TEST(ToGangTest, APartOfADevicesTimeAndOfItsMemoryIsOneShare) {
  const auto share = [](std::vector<Amount> requests) {
    Job job = JobOf("jax");
    job.roles[0].task.requests = std::move(requests);
    return ToGang(job, SchedulerConfig{}, {});
  };
  const Amount half{"muster.dev/gpu-milli", 500};
  const Amount memory{"muster.dev/gpu-memory", 1 << 30};
  for (const auto& form : {share({half, memory}), share({memory, half})}) {
    ASSERT_TRUE(form.ok()) << form.status();
    const DeviceRequest& asks = form->gang.roles[0].shape.devices;
    EXPECT_EQ(asks, (DeviceRequest{
                        .count = 1, .milli = 500, .memory_bytes = 1 << 30}));
  }
  const Amount whole{"nvidia.com/gpu", 1}, mig{"nvidia.com/mig-1g.10gb", 1};
  for (const auto& form :
       {share({half, whole}), share({whole, half}), share({memory, whole}),
        share({whole, memory}), share({mig, memory}), share({mig, half})}) {
    EXPECT_THAT(std::string(form.status().message()),
                HasSubstr("beside other devices"));
  }
}

Node MakeNode(const std::string& key, const std::string& rack) {
  Node node;
  node.key = key;
  node.capacity = Resources{64'000, int64_t{1} << 40};
  node.devices.assign(8, Device{});
  node.labels = {{"rack", rack}, {"nvidia.com/gpu.product", "a100"}};
  return node;
}

TEST(ToGangTest, TheSchedulerStartsTheGangsOfAllKinds) {
  SchedulerConfig config;
  config.topologies = {{"tree", {"rack"}}};
  for (const Manifest& m : AllManifests()) {
    SCOPED_TRACE(m.name);
    const auto form = ToGang(JobOf(m.name), config, {.queue = "q"});
    ASSERT_TRUE(form.ok()) << form.status();
    auto scheduler = Scheduler::Create(config);
    ASSERT_TRUE(scheduler.ok());
    for (const char* queue : {"q", "team-a", "short"}) {
      ASSERT_TRUE(scheduler->Apply({0, QueueChanged{{.key = queue}}}).ok());
    }
    for (const char* key : {"high", "spot"}) {
      ASSERT_TRUE(
          scheduler->Apply({0, PriorityClassChanged{{.key = key}}}).ok());
    }
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(
          scheduler
              ->Apply({0, NodeChanged{MakeNode("n" + std::to_string(i), "r")}})
              .ok());
    }
    ASSERT_TRUE(scheduler->Apply({0, GangSubmitted{form->gang}}).ok());
    Plan plan;
    scheduler->Schedule(0, &plan);
    ASSERT_EQ(plan.decisions.size(), 1u);
    EXPECT_EQ(plan.decisions[0].kind, DecisionKind::kStart);
  }
}

TEST(TopologyNumbersTest, NeighboursInRankAreNearAndTheMasterIsFirst) {
  const Topology topology{"tree", {"rack"}};
  const std::vector<Node> nodes = {MakeNode("a", "r1"), MakeNode("b", "r1"),
                                   MakeNode("c", "r2"), MakeNode("d", "r2")};
  Job job = JobOf("pytorch-kubeflow");
  // The master is on c; workers on d, a and b, in no order.
  const std::vector<TaskPlace> places = {{{0, 0}, &nodes[2]},
                                         {{1, 0}, &nodes[1]},
                                         {{1, 1}, &nodes[3]},
                                         {{1, 2}, &nodes[0]}};
  const auto numbers = TopologyNumbers(job, topology, places);
  EXPECT_THAT(numbers[0], ElementsAre(0));
  // c (master), d, then round again: a, b.
  EXPECT_THAT(numbers[1], ElementsAre(2, 0, 1));
}

TEST(TopologyNumbersTest, OnlyTasksWithPlacesChangeNumbers) {
  const Topology topology{"tree", {"rack"}};
  const std::vector<Node> nodes = {MakeNode("a", "r1"), MakeNode("b", "r1")};
  const Job job = JobOf("pytorch-elastic");
  const std::vector<TaskPlace> places = {{{0, 1}, &nodes[1]},
                                         {{0, 3}, &nodes[0]}};
  EXPECT_THAT(TopologyNumbers(job, topology, places)[0],
              ElementsAre(0, 3, 2, 1));
  EXPECT_THAT(TopologyNumbers(JobOf("batch"), topology, {})[0],
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

}  // namespace
}  // namespace muster::workload
