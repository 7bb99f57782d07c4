// Tables of what objects say of groups.
#include "adapters/kubernetes/model/group_objects.h"

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/kubernetes/model/plugin_group.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

api::PodGroup PodGroupOf() {
  api::PodGroup group;
  group.meta = {.name = "g",
                .namespace_name = "ns",
                .uid = "group-uid",
                .creation = 5'000};
  return group;
}

TEST(GroupObjectsTest, APodGroupOfKubernetes) {
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

TEST(GroupObjectsTest, WhatAPodGroupMayNotSay) {
  api::PodGroup group = PodGroupOf();
  group.topology_keys = {"rack", "zone"};
  EXPECT_THAT(ToSpec(group).error, HasSubstr("topology"));
  group = PodGroupOf();
  group.not_understood = {"spec.resourceClaims"};
  EXPECT_THAT(ToSpec(group).error, HasSubstr("spec.resourceClaims"));
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

TEST(GroupObjectsTest, APodGroupOfMuster) {
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
      {{.preferred = "own-label"}, "own-label"},
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

TEST(GroupObjectsTest, WhatAMusterGroupMayNotSay) {
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
  group.groups = {
      {.name = "a"},
      {.name = "b", .topology = {.required = "zone", .preferred = "rack"}}};
  EXPECT_THAT(error(group), HasSubstr("spec.groups[1].topology"));
  group.groups.assign(Gang::kMaxGroups, {});
  EXPECT_THAT(error(group), HasSubstr("spec.groups: expected at most"));
  group = MusterGroupOf({});
  group.min_member = -1;
  EXPECT_EQ(ToSpec(group, topologies).min_pods, 1u);
}

// The library counts slices in 32 bits.
TEST(GroupObjectsTest, ASliceLargerThanAnyGroupIsNoSmallOne) {
  const std::vector<Topology> topologies = {{"flat", {"zone"}}};
  const GroupSpec spec =
      ToSpec(MusterGroupOf({.slices = {{"zone", (int64_t{1} << 32) + 1}}}),
             topologies);
  EXPECT_NE(spec.error, "");
}

TEST(GroupObjectsTest, GroupsOfAMusterGroupHaveMinimumsAndTopologies) {
  const std::vector<Topology> topologies = {{"tree", {"zone", "rack"}}};
  api::MusterPodGroup group = MusterGroupOf({.required = "zone"});
  group.priority_class_name = "high";
  group.groups = {
      {.name = "ps"},
      {.name = "worker", .min_member = 8, .topology = {.required = "rack"}}};
  const GroupSpec spec = ToSpec(group, topologies);
  EXPECT_EQ(spec.error, "");
  EXPECT_EQ(spec.priority_class, "high");
  EXPECT_THAT(spec.subgroups,
              ElementsAre(Subgroup{.name = "ps"},
                          Subgroup{.name = "worker",
                                   .min_pods = 8,
                                   .topology = {.topology = "tree",
                                                .required = "rack"}}));
}

TEST(GroupObjectsTest, HowAPodGroupOfKubernetesIsStoppedAndWhatItIsWorth) {
  api::PodGroup group = PodGroupOf();
  EXPECT_FALSE(ToSpec(group).whole);
  EXPECT_EQ(ToSpec(group).priority, std::nullopt);
  EXPECT_TRUE(ToSpec(group).may_preempt);
  group.disruption_mode = "all";
  group.priority = 7;
  group.preemption_policy = "Never";
  EXPECT_TRUE(ToSpec(group).whole);
  EXPECT_EQ(ToSpec(group).priority, 7);
  EXPECT_FALSE(ToSpec(group).may_preempt);
}

api::CompositePodGroup CompositeOf(int32_t minimum) {
  api::CompositePodGroup composite;
  composite.meta = {.name = "c", .namespace_name = "ns", .uid = "c-uid"};
  composite.min_group_count = minimum;
  return composite;
}

TEST(GroupObjectsTest, ACompositeGroupHasItsPodGroupsAsSubgroups) {
  api::CompositePodGroup composite = CompositeOf(2);
  composite.topology_keys = {"block"};
  GroupSpec spec = ToSpec(composite);
  api::PodGroup part = PodGroupOf();
  part.parent = "c";
  part.min_count = 4;
  part.topology_keys = {"rack"};
  AddSubgroup(part, &spec);
  EXPECT_EQ(spec.error, "");
  EXPECT_EQ(spec.key, "c-uid");
  EXPECT_EQ(spec.min_subgroups, 2u);
  EXPECT_EQ(spec.topology.required, "block");
  EXPECT_THAT(spec.subgroups,
              ElementsAre(Subgroup{
                  .name = "g",
                  .min_pods = 4,
                  .topology = {.topology = "rack", .required = "rack"}}));
}

TEST(GroupObjectsTest, WhatACompositeGroupMayNotSay) {
  api::CompositePodGroup composite = CompositeOf(2);
  composite.parent = "outer";
  EXPECT_THAT(ToSpec(composite).error,
              HasSubstr("spec.parentCompositePodGroupName"));
  composite = CompositeOf(2);
  composite.min_group_count.reset();
  EXPECT_THAT(ToSpec(composite).error, HasSubstr("spec.schedulingPolicy"));
  GroupSpec spec = ToSpec(CompositeOf(2));
  api::PodGroup part = PodGroupOf();
  part.not_understood = {"spec.resourceClaims"};
  AddSubgroup(part, &spec);
  EXPECT_THAT(spec.error, HasSubstr("PodGroup 'g': spec.resourceClaims"));
}

TEST(GroupObjectsTest, APodGroupOfVolcano) {
  api::VolcanoPodGroup group;
  group.meta = {
      .name = "g", .namespace_name = "ns", .uid = "u", .creation = 5'000};
  group.min_member = 5;
  group.min_task_member = {{"ps", 1}, {"worker", 4}, {"odd", -1}};
  group.queue = "q";
  group.priority_class_name = "high";
  group.min_resources = {{"cpu", 8'000}};
  EXPECT_EQ(ToSpec(group),
            (GroupSpec{.key = "u",
                       .display = "ns/g",
                       .min_pods = 5,
                       .subgroups = {{.name = "odd", .min_pods = 0},
                                     {.name = "ps", .min_pods = 1},
                                     {.name = "worker", .min_pods = 4}},
                       .priority_class = "high",
                       .queue = "q",
                       .submitted = 5 * kSecond}));
  group.not_understood = {"spec.networkTopology"};
  EXPECT_THAT(ToSpec(group).error, HasSubstr("spec.networkTopology"));
}

TEST(GroupObjectsTest, APodGroupOfTheSchedulerPlugins) {
  api::CoschedulingPodGroup group;
  group.meta = {.name = "g", .namespace_name = "ns", .uid = "u"};
  group.min_member = 3;
  group.schedule_timeout_seconds = 10;
  EXPECT_EQ(ToSpec(group),
            (GroupSpec{.key = "u", .display = "ns/g", .min_pods = 3}));
  group.min_member = -1;
  EXPECT_EQ(ToSpec(group).min_pods, 1u);
}

}  // namespace
}  // namespace muster::kubernetes
