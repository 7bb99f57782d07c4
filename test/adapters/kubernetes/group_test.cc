// Tables of which pods are together, and what they ask together.
#include "adapters/kubernetes/model/group.h"

#include <limits>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

using ::testing::HasSubstr;

api::Pod PodOf(api::StringMap labels, api::StringMap annotations = {}) {
  api::Pod pod;
  pod.meta = {.name = "p",
              .namespace_name = "ns",
              .uid = "u",
              .creation = 5'000,
              .labels = std::move(labels),
              .annotations = std::move(annotations)};
  return pod;
}

api::OwnerReference Job() {
  return {"batch/v1", "Job", "job", "job-uid", true};
}

TEST(GroupTest, EachWayOfSayingAGroup) {
  api::Pod pod = PodOf({});
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kPod, "ns", "u"}));
  pod.meta.owners = {Job()};
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kJob, "ns", "job-uid"}));
  // From the weakest to the strongest.
  pod.meta.labels["scheduling.x-k8s.io/pod-group"] = "c";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kCoschedulingGroup, "ns", "c"}));
  pod.meta.annotations["scheduling.k8s.io/group-name"] = "v";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kVolcanoGroup, "ns", "v"}));
  pod.meta.annotations = {{"scheduling.volcano.sh/group-name", "w"}};
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kVolcanoGroup, "ns", "w"}));
  pod.meta.labels["kueue.x-k8s.io/pod-group-name"] = "k";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kKueueGroup, "ns", "k"}));
  pod.meta.labels[kPodGroupLabel] = "m";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kMusterGroup, "ns", "m"}));
  pod.pod_group_name = "g";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kPodGroup, "ns", "g"}));
}

TEST(GroupTest, OwnersThatAreNoJobMakeNoGroup) {
  const api::OwnerReference owners[] = {
      {"batch/v1", "Job", "job", "job-uid", false},  // Does not control it.
      {"apps/v1", "ReplicaSet", "set", "set-uid", true},
      {"example.com/v1", "Job", "job", "job-uid", true}};
  for (const api::OwnerReference& owner : owners) {
    api::Pod pod = PodOf({});
    pod.meta.owners = {owner};
    EXPECT_EQ(GroupOf(pod).kind, GroupKind::kPod) << owner.api_version;
  }
  EXPECT_EQ(GroupOf(PodOf({{kPodGroupLabel, ""}})).kind, GroupKind::kPod);
}

TEST(GroupTest, GroupsOfTwoNamespacesHaveTwoKeys) {
  api::Pod a = PodOf({}), b = PodOf({});
  b.meta.namespace_name = "other";
  a.meta.owners = b.meta.owners = {Job()};
  EXPECT_NE(SpecFromPod(GroupOf(a), a)->key, SpecFromPod(GroupOf(b), b)->key);
  // Nor is what an owner calls itself another group's key.
  b.meta.owners[0].uid = SpecFromPod(GroupOf(a), a)->key;
  EXPECT_NE(SpecFromPod(GroupOf(a), a)->key, SpecFromPod(GroupOf(b), b)->key);
}

TEST(GroupTest, WhatPodsSayOfTheirGroup) {
  api::Pod pod = PodOf({});
  GroupSpec spec = *SpecFromPod(GroupOf(pod), pod);
  EXPECT_EQ(spec.key, "u");
  EXPECT_EQ(spec.display, "ns/p");
  EXPECT_EQ(spec.submitted, 5 * kSecond);
  EXPECT_EQ(spec.min_pods, 1u);
  EXPECT_FALSE(spec.has_controller);

  pod.meta.owners = {Job()};
  spec = *SpecFromPod(GroupOf(pod), pod);
  EXPECT_THAT(spec.key, HasSubstr("job-uid"));
  EXPECT_EQ(spec.display, "ns/job");
  EXPECT_TRUE(spec.has_controller);

  pod = PodOf({{kPodGroupLabel, "m"}}, {{kMinPodsAnnotation, "3"}});
  spec = *SpecFromPod(GroupOf(pod), pod);
  EXPECT_EQ(MinPodsOf(GroupOf(pod), pod), 3u);
  EXPECT_EQ(spec.display, "ns/m");
  EXPECT_FALSE(spec.has_controller);

  pod = PodOf({{"kueue.x-k8s.io/pod-group-name", "k"}},
              {{"kueue.x-k8s.io/pod-group-total-count", "4"}});
  EXPECT_EQ(MinPodsOf(GroupOf(pod), pod), 4u);
  EXPECT_TRUE(SpecFromPod(GroupOf(pod), pod).has_value());
  // What another kind of group is counted by says nothing.
  pod.meta.annotations = {{kMinPodsAnnotation, "3"}};
  EXPECT_EQ(MinPodsOf(GroupOf(pod), pod), std::nullopt);
}

TEST(GroupTest, KindsWithAnObjectAreWaitedFor) {
  api::Pod pod = PodOf({});
  for (const GroupKind kind :
       {GroupKind::kPodGroup, GroupKind::kCompositeGroup,
        GroupKind::kMusterGroup, GroupKind::kVolcanoGroup,
        GroupKind::kCoschedulingGroup, GroupKind::kOwner}) {
    EXPECT_FALSE(SpecFromPod({kind, "ns", "g"}, pod).has_value())
        << static_cast<int>(kind);
  }
}

TEST(GroupTest, ABadNumberOfPodsIsNone) {
  for (const char* bad : {"0", "-1", "x", "4294967297", "1048577", "1.5", "1 2",
                          "99999999999999999999"}) {
    const api::Pod pod =
        PodOf({{kPodGroupLabel, "m"}}, {{kMinPodsAnnotation, bad}});
    EXPECT_EQ(MinPodsOf(GroupOf(pod), pod), 0u) << bad;
  }
  const api::Pod most =
      PodOf({{kPodGroupLabel, "m"}},
            {{kMinPodsAnnotation, std::to_string(Gang::kMaxTasks)}});
  EXPECT_EQ(MinPodsOf(GroupOf(most), most), Gang::kMaxTasks);
}

TEST(GroupTest, EachKindHasItsWordForASubgroup) {
  const api::Pod pod = PodOf(
      {{kSubgroupLabel, "m"}, {"training.kubeflow.org/replica-type", "Worker"}},
      {{"volcano.sh/task-spec", "v"}});
  const auto subgroup = [&](GroupKind kind) {
    return SubgroupOf({kind, "ns", "g"}, pod);
  };
  EXPECT_EQ(subgroup(GroupKind::kMusterGroup), "m");
  EXPECT_EQ(subgroup(GroupKind::kVolcanoGroup), "v");
  EXPECT_EQ(subgroup(GroupKind::kOwner), "worker");
  EXPECT_EQ(subgroup(GroupKind::kPodGroup), "");
  EXPECT_EQ(subgroup(GroupKind::kJob), "");
}

TEST(GroupTest, PeopleAreToldTheObjectsName) {
  EXPECT_EQ(Describe({GroupKind::kVolcanoGroup, "ns", "g"}), "PodGroup 'g'");
  EXPECT_EQ(Describe({GroupKind::kOwner, "ns", "TFJob/t"}), "TFJob 't'");
  EXPECT_EQ(Describe({GroupKind::kCompositeGroup, "ns", "c"}),
            "CompositePodGroup 'c'");
}

TEST(GroupTest, TimesStayWithinTheLibrarys) {
  for (const int64_t creation : {std::numeric_limits<int64_t>::min(),
                                 std::numeric_limits<int64_t>::max()}) {
    api::Pod pod = PodOf({});
    pod.meta.creation = creation;
    const Time submitted = SpecFromPod(GroupOf(pod), pod)->submitted;
    EXPECT_GE(submitted, 0);
    EXPECT_LE(submitted, kMaxTime);
  }
}

}  // namespace
}  // namespace muster::kubernetes
