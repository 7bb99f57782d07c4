// Tables of which pods are together, and what they ask together.
#include "adapters/kubernetes/model/group.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
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
  EXPECT_EQ(spec.min_pods, 3u);
  EXPECT_EQ(spec.display, "ns/m");
  EXPECT_FALSE(spec.has_controller);

  pod = PodOf({{"kueue.x-k8s.io/pod-group-name", "k"}},
              {{"kueue.x-k8s.io/pod-group-total-count", "4"}});
  spec = *SpecFromPod(GroupOf(pod), pod);
  EXPECT_EQ(spec.min_pods, 4u);
  EXPECT_EQ(spec.error, "");
}

TEST(GroupTest, KindsWithAnObjectAreWaitedFor) {
  api::Pod pod = PodOf({});
  for (const GroupKind kind :
       {GroupKind::kPodGroup, GroupKind::kMusterGroup, GroupKind::kVolcanoGroup,
        GroupKind::kCoschedulingGroup}) {
    EXPECT_FALSE(SpecFromPod({kind, "ns", "g"}, pod).has_value())
        << static_cast<int>(kind);
  }
}

TEST(GroupTest, ABadNumberOfPodsIsAnErrorThatNamesIt) {
  for (const char* bad : {"0", "-1", "x", "4294967297", "1048577", "1.5", "1 2",
                          "99999999999999999999"}) {
    const api::Pod pod =
        PodOf({{kPodGroupLabel, "m"}}, {{kMinPodsAnnotation, bad}});
    const GroupSpec spec = *SpecFromPod(GroupOf(pod), pod);
    EXPECT_THAT(spec.error, HasSubstr(kMinPodsAnnotation)) << bad;
    EXPECT_LT(spec.error.size(), 200u);
  }
  const api::Pod most =
      PodOf({{kPodGroupLabel, "m"}},
            {{kMinPodsAnnotation, std::to_string(Gang::kMaxTasks)}});
  EXPECT_EQ(SpecFromPod(GroupOf(most), most)->min_pods, Gang::kMaxTasks);
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

api::PodGroup PodGroupOf() {
  api::PodGroup group;
  group.meta = {.name = "g",
                .namespace_name = "ns",
                .uid = "group-uid",
                .creation = 5'000};
  return group;
}

TEST(GroupTest, APodGroupOfKubernetes) {
  api::PodGroup group = PodGroupOf();
  GroupSpec spec = ToSpec(group);
  EXPECT_EQ(spec, (GroupSpec{.key = "group-uid",
                             .display = "ns/g",
                             .submitted = 5 * kSecond}));
  group.min_count = 8;
  group.topology_keys = {"rack"};
  spec = ToSpec(group);
  EXPECT_EQ(spec.min_pods, 8u);
  EXPECT_EQ(spec.topology.topology, "rack");
  EXPECT_EQ(spec.topology.required, "rack");
  EXPECT_EQ(spec.error, "");
  group.min_count = -3;
  EXPECT_EQ(ToSpec(group).min_pods, 1u);
}

TEST(GroupTest, WhatAPodGroupMayNotSay) {
  api::PodGroup group = PodGroupOf();
  group.topology_keys = {"rack", "zone"};
  EXPECT_THAT(ToSpec(group).error, HasSubstr("topology"));
  group = PodGroupOf();
  group.not_understood = {"spec.resourceClaims"};
  EXPECT_THAT(ToSpec(group).error, HasSubstr("spec.resourceClaims"));
  group = PodGroupOf();
  group.parent = "composite";
  EXPECT_THAT(ToSpec(group).error, HasSubstr("parentCompositePodGroupName"));
}

api::MusterPodGroup MusterGroupOf(api::GroupTopology topology) {
  api::MusterPodGroup group;
  group.meta = {.name = "g",
                .namespace_name = "ns",
                .uid = "group-uid",
                .creation = 5'000};
  group.topology = std::move(topology);
  return group;
}

TEST(GroupTest, APodGroupOfMuster) {
  const std::vector<Topology> topologies = {{"flat", {"zone"}},
                                            {"tree", {"zone", "rack", "host"}}};
  api::MusterPodGroup group = MusterGroupOf({});
  group.queue = "q";
  group.min_member = 4;
  EXPECT_EQ(ToSpec(group, topologies), (GroupSpec{.key = "group-uid",
                                                  .display = "ns/g",
                                                  .min_pods = 4,
                                                  .queue = "q",
                                                  .submitted = 5 * kSecond}));
  struct Case {
    api::GroupTopology asked{};
    std::string topology{};
  };
  const Case cases[] = {
      {{.required = "zone"}, "flat"},
      {{.required = "rack"}, "tree"},
      {{.required = "zone", .preferred = "rack"}, "tree"},
      {{.preferred = "zone"}, "flat"},
      {{.required = "zone", .slices = {{"rack", 4}, {"host", 2}}}, "tree"},
      {{.required = "own-label"}, "own-label"},
  };
  for (const Case& c : cases) {
    const GroupSpec spec = ToSpec(MusterGroupOf(c.asked), topologies);
    EXPECT_EQ(spec.error, "");
    EXPECT_EQ(spec.topology.topology, c.topology);
    EXPECT_EQ(spec.topology.required, c.asked.required);
    EXPECT_EQ(spec.topology.preferred, c.asked.preferred);
    EXPECT_EQ(spec.topology.slices.size(), c.asked.slices.size());
  }
  const GroupSpec sliced = ToSpec(MusterGroupOf(cases[4].asked), topologies);
  EXPECT_THAT(sliced.topology.slices,
              ElementsAre(Slice{"rack", 4}, Slice{"host", 2}));
}

TEST(GroupTest, WhatAMusterGroupMayNotSay) {
  const std::vector<Topology> topologies = {{"flat", {"zone"}}};
  const auto error = [&](const api::MusterPodGroup& group) {
    return ToSpec(group, topologies).error;
  };
  EXPECT_THAT(error(MusterGroupOf({.required = "zone", .preferred = "rack"})),
              HasSubstr("spec.topology"));
  EXPECT_THAT(error(MusterGroupOf({.slices = {{"rack", 2}}})),
              HasSubstr("spec.topology"));
  api::MusterPodGroup group = MusterGroupOf({});
  group.not_understood = {"spec.new"};
  EXPECT_THAT(error(group), HasSubstr("spec.new"));
  group = MusterGroupOf({});
  group.groups.push_back({.name = "workers"});
  EXPECT_THAT(error(group), HasSubstr("spec.groups"));
  group = MusterGroupOf({});
  group.priority_class_name = "high";
  EXPECT_THAT(error(group), HasSubstr("spec.priorityClassName"));
  group = MusterGroupOf({});
  group.min_member = -1;
  EXPECT_EQ(ToSpec(group, topologies).min_pods, 1u);
}

// The library counts slices in 32 bits.
TEST(GroupTest, ASliceLargerThanAnyGroupIsNoSmallOne) {
  const std::vector<Topology> topologies = {{"flat", {"zone"}}};
  const GroupSpec spec =
      ToSpec(MusterGroupOf({.slices = {{"zone", (int64_t{1} << 32) + 1}}}),
             topologies);
  EXPECT_NE(spec.error, "");
}

}  // namespace
}  // namespace muster::kubernetes
