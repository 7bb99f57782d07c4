// Groups of every kind, their parts, and pods that do not agree.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/resources.h"
#include "test/adapters/kubernetes/fake_api.h"
#include "test/adapters/kubernetes/objects.h"
#include "test/adapters/kubernetes/seen_requests.h"

namespace muster::kubernetes {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr char kVolcanoGroup[] = "scheduling.k8s.io/group-name";
constexpr char kVolcanoTask[] = "volcano.sh/task-spec";
constexpr char kReplicaType[] = "training.kubeflow.org/replica-type";

api::Owner OwnerOf(const std::string& kind, const std::string& name,
                   std::vector<api::OwnerRole> roles) {
  api::Owner owner;
  owner.meta.name = name;
  owner.meta.uid = "uid-of-" + kind + "/" + name;
  owner.kind = kind;
  owner.roles = std::move(roles);
  return owner;
}

api::MusterPodGroup GroupWith(int32_t minimum,
                              std::vector<api::MemberGroup> groups = {}) {
  api::MusterPodGroup group = GroupNamed("g", minimum);
  group.groups = std::move(groups);
  return group;
}

void AddMember(const std::string& name, const std::string& subgroup,
               FakeApi* api) {
  PodSpec pod = MemberOfG(name);
  if (!subgroup.empty()) pod.labels[kSubgroupLabel] = subgroup;
  api->AddPod(pod);
}

size_t Evictions(const FakeApi& api) { return Seen<EvictRequest>(api).size(); }

// --- Owners ------------------------------------------------------------------

// Pods of one GPU each.
void AddPodsOf(const std::string& owner, const std::vector<std::string>& names,
               FakeApi* api, const api::StringMap& labels = {}) {
  for (const std::string& name : names) {
    api->AddPod({.name = name, .gpus = 1, .owner = owner, .labels = labels});
  }
}

// A pod of JobSet "s". `job`: whose it is; "": nobody's.
void AddJobSetPod(const std::string& name, const std::string& role,
                  const std::string& job, FakeApi* api) {
  api->AddPod({.name = name,
               .gpus = 1,
               .job = job,
               .labels = {{"jobset.sigs.k8s.io/jobset-name", "s"},
                          {"jobset.sigs.k8s.io/replicatedjob-name", role}}});
  api->Settle();
}

TEST(GroupKindsTest, PodsOfATrainingJobStartTogether) {
  FakeApi api;
  api.AddNode("n", 4);
  AddPodsOf("PyTorchJob/t", {"m0"}, &api);
  api.Pass(kSecond);
  EXPECT_THAT(ToldTo(api, "m0"), HasSubstr("PyTorchJob 't' is not there"));
  api.Put(OwnerOf("PyTorchJob", "t", {{"Master", 1, {}}, {"Worker", 2, {}}}));
  AddPodsOf("PyTorchJob/t", {"w0"}, &api);
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "");
  EXPECT_THAT(ToldTo(api, "w0"), HasSubstr("2 of 3 pods are there"));
  AddPodsOf("PyTorchJob/t", {"w1"}, &api);
  api.Settle();
  EXPECT_EQ(api.On("n"), "m0 w0 w1");
}

TEST(GroupKindsTest, AnElasticJobNeedsItsMasterAndSomeWorkers) {
  FakeApi api;
  api.AddNode("n", 3);
  api.Put(OwnerOf("PyTorchJob", "t", {{"Master", 1, {}}, {"Worker", 4, 2}}));
  AddPodsOf("PyTorchJob/t", {"w0", "w1", "w2", "w3"}, &api,
            {{kReplicaType, "worker"}});
  api.Settle();
  EXPECT_EQ(api.On("n"), "");  // Four pods, and no master.
  EXPECT_THAT(ToldTo(api, "w0"), HasSubstr("'master': 0 of 1 pods are there"));
  AddPodsOf("PyTorchJob/t", {"m"}, &api, {{kReplicaType, "master"}});
  api.Settle();
  EXPECT_EQ(api.On("n"), "m w0 w1");
  api.AddNode("n2", 2);
  api.Settle();
  EXPECT_EQ(api.On("n2"), "w2 w3");
}

TEST(GroupKindsTest, PodsThatAreMadeAgainKeepTheirJobsPlace) {
  FakeApi api;
  api.AddNode("n", 2);
  api.Put(OwnerOf("TFJob", "t", {{"Worker", 2, {}}}));
  AddPodsOf("TFJob/t", {"w0", "w1"}, &api);
  api.Pass(10 * kSecond);
  api.AddPod({.name = "later", .gpus = 2});
  api.Pass(10 * kSecond);
  api.AddPod({.name = "high", .gpus = 2, .priority = 5});
  api.Pass(10 * kSecond);
  EXPECT_EQ(api.On("n"), "high");
  api.Finish("high");
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
}

// The pods of the first job are not those of the second one.
TEST(GroupKindsTest, AJobThatIsMadeAgainStartsWithItsOwnPods) {
  FakeApi api;
  api.AddNode("n", 4);
  api.Put(OwnerOf("TFJob", "t", {{"Worker", 2, {}}}));
  AddPodsOf("TFJob/t", {"w0", "w1"}, &api);
  api.Settle();
  api::Owner again = OwnerOf("TFJob", "t", {{"Worker", 2, {}}});
  again.meta.uid = "uid-of-another";
  api.Put(again);
  AddPodsOf("TFJob/t", {"x0"}, &api);
  api.EditPod("x0",
              [](api::Pod& pod) { pod.meta.owners[0].uid = "uid-of-another"; });
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.NodeOf("x0"), "");
  EXPECT_THAT(ToldTo(api, "x0"), HasSubstr("1 of 2 pods are there"));
  EXPECT_EQ(api.On("n"), "w0 w1");  // Their room is theirs.
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

TEST(GroupKindsTest, PodsOfAJobSetsJobsStartTogether) {
  FakeApi api;
  api.AddNode("n", 3);
  api.Put(OwnerOf("JobSet", "s", {{"driver", 1, {}}, {"node", 2, {}}}));
  AddJobSetPod("d", "driver", "d", &api);
  EXPECT_EQ(api.On("n"), "");
  AddJobSetPod("n0", "node", "n0", &api);
  EXPECT_EQ(api.On("n"), "");
  AddJobSetPod("n1", "node", "n1", &api);
  EXPECT_EQ(api.On("n"), "d n0 n1");
}

// As of a TrainJob: what fetches the data is through before the others come.
TEST(GroupKindsTest, JobsThatComeLaterStartTogetherAsWell) {
  FakeApi api;
  api.AddNode("n", 3);
  api.Put(OwnerOf("JobSet", "s", {{"data", 1, {}}, {"node", 3, {}, true}}));
  AddJobSetPod("d", "data", "", &api);
  EXPECT_EQ(api.On("n"), "d");
  api.Finish("d");
  AddJobSetPod("n0", "node", "", &api);
  AddJobSetPod("n1", "node", "", &api);
  EXPECT_EQ(api.On("n"), "");
  AddJobSetPod("n2", "node", "", &api);
  EXPECT_EQ(api.On("n"), "n0 n1 n2");
}

// --- PodGroups of other schedulers -------------------------------------------

TEST(GroupKindsTest, AVolcanoManifestRunsUnchanged) {
  ControllerOptions options;
  options.scheduler_names = {"muster", "volcano"};
  FakeApi api(std::move(options));
  api.AddNode("n", 4);
  api::VolcanoPodGroup group;
  group.meta.name = "v";
  group.min_member = 3;
  group.min_task_member = {{"ps", 1}, {"worker", 2}};
  group.queue = "default";
  group.min_resources = {{"cpu", 300}};
  api.Put(group);
  const auto add = [&](const std::string& name, const std::string& task) {
    api.AddPod({.name = name,
                .gpus = 1,
                .scheduler = "volcano",
                .annotations = {{kVolcanoGroup, "v"}, {kVolcanoTask, task}}});
    api.Settle();
  };
  for (const char* name : {"w0", "w1", "w2"}) add(name, "worker");
  EXPECT_EQ(api.On("n"), "");
  add("p0", "ps");
  EXPECT_EQ(api.On("n"), "p0 w0 w1 w2");
}

TEST(GroupKindsTest, APodGroupOfTheSchedulerPlugins) {
  FakeApi api;
  api.AddNode("n", 4);
  api::CoschedulingPodGroup group;
  group.meta.name = "c";
  group.min_member = 2;
  for (const char* name : {"w0", "w1"}) {
    EXPECT_EQ(api.On("n"), "");
    api.AddPod({.name = name,
                .gpus = 1,
                .labels = {{"scheduling.x-k8s.io/pod-group", "c"}}});
    api.Settle();
  }
  EXPECT_EQ(api.On("n"), "");
  api.Put(group);
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
}

TEST(GroupKindsTest, AGroupsObjectRaisesNoPriority) {
  FakeApi api;
  api.AddNode("n", 4);
  api::VolcanoPodGroup group;
  group.meta.name = "v";
  group.min_member = 1;
  group.priority_class_name = "high";
  api.Put(group);
  api.AddPod({.name = "w", .gpus = 1, .annotations = {{kVolcanoGroup, "v"}}});
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "");
  EXPECT_THAT(ToldTo(api, "w"), HasSubstr("spec.priorityClassName"));
  api.EditPod("w", [](api::Pod& pod) { pod.priority_class_name = "high"; });
  api.Settle();
  EXPECT_EQ(api.On("n"), "w");
}

// --- scheduling.k8s.io -------------------------------------------------------

TEST(GroupKindsTest, PodsHaveThePriorityOfTheirPodGroup) {
  FakeApi api;
  api.AddNode("n", 4);
  api::PodGroup group;
  group.meta.name = "g";
  group.min_count = 2;
  group.priority = 7;
  api.Put(group);
  api.AddPod({.name = "a", .gpus = 1, .priority = 7, .group = "g"});
  api.AddPod({.name = "b", .gpus = 1, .priority = 9, .group = "g"});
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "");
  EXPECT_THAT(ToldTo(api, "a"), HasSubstr("have 9, and PodGroup 'g' has 7"));
  api.EditPod("b", [](api::Pod& pod) { pod.priority = 7; });
  api.Settle();
  EXPECT_EQ(api.On("n"), "a b");
}

class DisruptionModeTest : public ::testing::Test {
 protected:
  // Three pods run of which two are needed; one with priority needs a GPU.
  void Preempt(const std::string& mode) {
    api.AddNode("n", 3);
    api::PodGroup group;
    group.meta.name = "g";
    group.min_count = 2;
    group.disruption_mode = mode;
    api.Put(group);
    for (const char* name : {"a", "b", "c"}) {
      api.AddPod({.name = name, .gpus = 1, .group = "g", .job = "j"});
    }
    api.Settle();
    ASSERT_EQ(api.On("n"), "a b c");
    api.AddPod({.name = "high", .gpus = 1, .priority = 5});
    api.Settle();
    EXPECT_NE(api.NodeOf("high"), "");
  }

  FakeApi api;
};

TEST_F(DisruptionModeTest, ASinglePodMakesRoom) {
  Preempt("single");
  EXPECT_EQ(Evictions(api), 1u);
}

TEST_F(DisruptionModeTest, OrTheWholeGroup) {
  Preempt("all");
  EXPECT_EQ(Evictions(api), 3u);
  // It starts again with the two that it needs.
  api.Pass(100 * kSecond);
  EXPECT_EQ(api.FreeGpus("n"), 0);
  // One that ends is no reason to stop the other.
  api.Finish("high");
  api.Settle();
  EXPECT_EQ(api.On("n"), "a b c");
  api.Finish("b", false);
  api.Pass(100 * kSecond);
  EXPECT_EQ(api.On("n"), "a c");
  EXPECT_EQ(Evictions(api), 3u);
}

api::PodGroup PartOf(const std::string& name, int32_t minimum) {
  api::PodGroup part;
  part.meta.name = name;
  part.min_count = minimum;
  part.parent = "c";
  return part;
}

class CompositeTest : public ::testing::Test {
 protected:
  void PutComposite(int32_t minimum) {
    api::CompositePodGroup composite;
    composite.meta.name = "c";
    composite.min_group_count = minimum;
    api.Put(composite);
  }
  void AddPods(const std::string& group, int pods) {
    for (int i = 0; i < pods; ++i) {
      api.AddPod({.name = absl::StrCat(group, i), .gpus = 1, .group = group});
    }
    api.Settle();
  }

  FakeApi api;
};

TEST_F(CompositeTest, AllItsPodGroupsStartTogether) {
  api.AddNode("n", 4);
  AddPods("a", 2);
  api.Put(PartOf("a", 2));
  api.Put(PartOf("b", 2));
  api.Pass(2 * kSecond);
  EXPECT_THAT(ToldTo(api, "a0"), HasSubstr("CompositePodGroup 'c' is not"));
  PutComposite(2);
  AddPods("b", 1);
  EXPECT_EQ(api.On("n"), "");
  api.AddPod({.name = "b1", .gpus = 1, .group = "b"});
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1 b0 b1");
}

TEST_F(CompositeTest, AsManyAsItSaysAndNoneInPart) {
  api.AddNode("n", 5);
  PutComposite(2);
  for (const char* name : {"a", "b", "c"}) api.Put(PartOf(name, 2));
  AddPods("a", 2);
  AddPods("b", 1);
  AddPods("c", 2);
  EXPECT_EQ(api.On("n"), "a0 a1 c0 c1");  // And b is not complete.
  api.AddPod({.name = "b1", .gpus = 1, .group = "b"});
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1 c0 c1");  // Nor has it room.
  api.AddNode("n2", 1);
  api.Settle();
  EXPECT_EQ(api.On("n2"), "b1");
  EXPECT_EQ(api.NodeOf("b0"), "n");
}

TEST_F(CompositeTest, IsFoundAgainByANewController) {
  api.AddNode("n", 4);
  PutComposite(2);
  for (const char* name : {"a", "b"}) {
    api.Put(PartOf(name, 2));
    AddPods(name, 2);
  }
  EXPECT_EQ(api.FreeGpus("n"), 0);
  api.Restart();
  api.Settle();
  api.RemoveGroup(GroupKind::kPodGroup, "a");
  api.Settle();
  EXPECT_EQ(api.On("n"), "a0 a1 b0 b1");
  EXPECT_EQ(Evictions(api), 0u);
  EXPECT_TRUE(api.Check().ok()) << api.Check();
}

// Its place was promised to others, and is theirs when it is gone.
TEST(PlaceTest, APodThatIsRelabelledWhileItIsStoppedKeepsItsRoomUntilThen) {
  FakeApi api;
  api.grace = 30 * kSecond;
  api.AddNode("n", 2);
  api.Put(GroupWith(2));
  AddMember("w0", "", &api);
  AddMember("w1", "", &api);
  api.Settle();
  api.AddPod({.name = "high", .gpus = 2, .priority = 5});
  api.Settle();
  ASSERT_TRUE(api.PodNamed("w0").meta.deletion.has_value());
  api.EditPod("w0", [](api::Pod& pod) { pod.meta.labels.clear(); });
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
  EXPECT_TRUE(api.Check().ok()) << api.Check();
  api.Pass(30 * kSecond);
  EXPECT_EQ(api.On("n"), "high");
}

// --- Groups of a group of muster.dev -----------------------------------------

TEST(SubgroupsTest, EachHasItsMinimum) {
  FakeApi api;
  api.AddNode("n", 8);
  api.Put(GroupWith(1, {{"ps", 1, {}}, {"worker", 2, {}}}));
  for (const char* name : {"w0", "w1", "w2"}) AddMember(name, "worker", &api);
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "");
  EXPECT_THAT(ToldTo(api, "w0"), HasSubstr("'ps': 0 of 1 pods are there"));
  AddMember("p0", "ps", &api);
  api.Settle();
  EXPECT_EQ(api.On("n"), "p0 w0 w1 w2");
}

TEST(SubgroupsTest, EachMayHaveATopologyOfItsOwn) {
  FakeApi api;
  for (int n = 0; n < 4; ++n) {
    api.AddNode(absl::StrCat("n", n), 2, {{"rack", n < 2 ? "a" : "b"}});
  }
  api::MusterPodGroup group = GroupWith(
      1,
      {{"left", 3, {.required = "rack"}}, {"right", 3, {.required = "rack"}}});
  api.Put(group);
  for (int i = 0; i < 3; ++i) {
    AddMember(absl::StrCat("l", i), "left", &api);
    AddMember(absl::StrCat("r", i), "right", &api);
  }
  api.Settle();
  const auto rack = [&](const std::string& pod) {
    const std::string node = api.NodeOf(pod);
    return node.empty() ? "" : api.nodes().at(node).meta.labels.at("rack");
  };
  EXPECT_NE(rack("l0"), "");
  EXPECT_EQ(rack("l0"), rack("l1"));
  EXPECT_EQ(rack("l0"), rack("l2"));
  EXPECT_NE(rack("r0"), rack("l0"));
  EXPECT_EQ(rack("r0"), rack("r1"));
  EXPECT_EQ(rack("r0"), rack("r2"));
}

TEST(SubgroupsTest, APodThatNamesNoneOfThemIsTold) {
  FakeApi api;
  api.AddNode("n", 8);
  api.Put(GroupWith(1, {{"worker", 1, {}}}));
  AddMember("w0", "wroker", &api);
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "");
  EXPECT_THAT(ToldTo(api, "w0"), HasSubstr("has no group 'wroker'"));
  api.EditPod(
      "w0", [](api::Pod& pod) { pod.meta.labels[kSubgroupLabel] = "worker"; });
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0");
}

// --- Pods that tell of their group themselves --------------------------------

void AddCounted(const std::string& name, const std::string& count,
                FakeApi* api) {
  api->AddPod({.name = name,
               .gpus = 1,
               .labels = {{kPodGroupLabel, "g"}},
               .annotations = {{kMinPodsAnnotation, count}}});
}

TEST(MinPodsTest, TheLargestNumberCountsInWhateverOrderTheyCome) {
  for (const char* first : {"1", "3"}) {
    FakeApi api;
    api.AddNode("n", 8);
    AddCounted("w0", first, &api);
    AddCounted("w1", first == std::string("1") ? "3" : "1", &api);
    api.Settle();
    EXPECT_EQ(api.On("n"), "") << first;
    AddCounted("w2", "2", &api);
    api.Settle();
    EXPECT_EQ(api.On("n"), "w0 w1 w2") << first;
  }
}

TEST(MinPodsTest, APodThatIsGoneSaysNothingAnyMore) {
  FakeApi api;
  api.AddNode("n", 8);
  AddCounted("w0", "5", &api);
  AddCounted("w1", "2", &api);
  AddCounted("w2", "2", &api);
  api.Settle();
  EXPECT_EQ(api.On("n"), "");
  api.DeletePod("w0");
  api.Settle();
  EXPECT_EQ(api.On("n"), "w1 w2");
}

TEST(MinPodsTest, ANumberThatIsNoneIsTold) {
  FakeApi api;
  api.AddNode("n", 8);
  AddCounted("w0", "2", &api);
  AddCounted("w1", "two", &api);
  api.Pass(2 * kSecond);
  EXPECT_EQ(api.On("n"), "");
  EXPECT_THAT(ToldTo(api, "w0"), HasSubstr(kMinPodsAnnotation));
  api.EditPod("w1", [](api::Pod& pod) {
    pod.meta.annotations[kMinPodsAnnotation] = "2";
  });
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1");
}

TEST(MinPodsTest, AGroupThatGetsItsObjectGoesOnWithTheSameTasks) {
  FakeApi api;
  api.AddNode("n", 3);
  AddCounted("w0", "2", &api);
  AddCounted("w1", "2", &api);
  api.Settle();
  ASSERT_EQ(api.On("n"), "w0 w1");
  api.Put(GroupWith(3));
  api.Settle();
  EXPECT_EQ(api.controller().scheduler().State().gangs.size(), 1u);
  // The gang runs, and takes more pods: none of it is anybody else's usage.
  AddCounted("w2", "2", &api);
  api.Settle();
  EXPECT_EQ(api.On("n"), "w0 w1 w2");
  EXPECT_EQ(Evictions(api), 0u);
  // Preempted, it goes as one gang.
  api.AddPod({.name = "high", .gpus = 1, .priority = 5});
  api.Settle();
  EXPECT_EQ(Evictions(api), 3u);
  EXPECT_EQ(api.On("n"), "high");
}

// --- Resources that have no kind ---------------------------------------------

TEST(NoKindTest, APodIsLookedAtAgainWhenItsResourceIsThere) {
  FakeApi api;
  api.AddNode("n", 4);
  for (size_t i = 0; i < Resources::kMaxKinds; ++i) {
    api.AddPod({.name = absl::StrCat("odd", i)});
    api.EditPod(absl::StrCat("odd", i), [&](api::Pod& pod) {
      pod.requests[absl::StrCat("example.com/r", i)] = 1'000;
    });
  }
  const std::string last = absl::StrCat("odd", Resources::kMaxKinds - 1);
  api.Pass(2 * kSecond);
  EXPECT_THAT(ToldTo(api, last), HasSubstr("too many kinds"));
  api.EditNode("n", [](api::Node& node) {
    node.allocatable[absl::StrCat("example.com/r", Resources::kMaxKinds - 1)] =
        1'000;
  });
  api.Settle();
  EXPECT_EQ(api.NodeOf(last), "n");
}

}  // namespace
}  // namespace muster::kubernetes
