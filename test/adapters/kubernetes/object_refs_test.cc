#include "adapters/kubernetes/controller/object_refs.h"

#include "gtest/gtest.h"

namespace muster::kubernetes {
namespace {

TEST(ObjectRefsTest, GroupsAreNamedByTheirObjects) {
  const struct {
    GroupKind kind;
    const char* name;
    api::ObjectReference object;
  } rows[] = {
      {GroupKind::kPodGroup,
       "g",
       {"scheduling.k8s.io/v1beta1", "PodGroup", "ns", "g", "u"}},
      {GroupKind::kCompositeGroup,
       "g",
       {"scheduling.k8s.io/v1alpha3", "CompositePodGroup", "ns", "g", "u"}},
      {GroupKind::kMusterGroup,
       "g",
       {"muster.dev/v1alpha1", "PodGroup", "ns", "g", "u"}},
      {GroupKind::kVolcanoGroup,
       "g",
       {"scheduling.volcano.sh/v1beta1", "PodGroup", "ns", "g", "u"}},
      {GroupKind::kCoschedulingGroup,
       "g",
       {"scheduling.x-k8s.io/v1alpha1", "PodGroup", "ns", "g", "u"}},
      {GroupKind::kOwner,
       "TFJob/t",
       {"kubeflow.org/v1", "TFJob", "ns", "t", "u"}},
      {GroupKind::kOwner,
       "JobSet/s",
       {"jobset.x-k8s.io/v1alpha2", "JobSet", "ns", "s", "u"}},
      {GroupKind::kOwner,
       "LeaderWorkerSet/l/3",
       {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "ns", "l", "u"}},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(GroupObject({row.kind, "ns", row.name}, "u"), row.object)
        << row.object.kind;
  }
}

TEST(ObjectRefsTest, OneOfSeveralGroupsHasTheUidOfTheirObject) {
  EXPECT_EQ(
      GroupObject({GroupKind::kOwner, "ns", "LeaderWorkerSet/l/3"}, "u/3").uid,
      "u");
}

TEST(ObjectRefsTest, PodsAndQueuesAreNamedByTheirTypes) {
  EXPECT_EQ(PodObject({"ns", "p", "u"}),
            (api::ObjectReference{"v1", "Pod", "ns", "p", "u"}));
  EXPECT_EQ(
      QueueObject({.name = "q", .uid = "u"}),
      (api::ObjectReference{"muster.dev/v1alpha1", "Queue", "", "q", "u"}));
}

}  // namespace
}  // namespace muster::kubernetes
