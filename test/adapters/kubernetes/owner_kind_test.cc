// Tables of the objects whose pods start together.
#include "adapters/kubernetes/model/owner_kind.h"

#include <limits>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

api::Pod PodOf(const std::string& api_version, const std::string& kind) {
  api::Pod pod;
  pod.meta = {.name = "p", .namespace_name = "ns", .uid = "u"};
  if (!kind.empty()) {
    pod.meta.owners = {{"v1", "Node", "n", "other", false},
                       {api_version, kind, "o", "o-uid", true}};
  }
  return pod;
}

TEST(OwnerKindTest, EachKindByItsOwnerReference) {
  struct Case {
    std::string api_version{};
    std::string kind{};
    bool is_group = true;
  };
  const Case cases[] = {{"kubeflow.org/v1", "TFJob"},
                        {"kubeflow.org/v1", "PyTorchJob"},
                        {"kubeflow.org/v1", "MPIJob"},
                        {"kubeflow.org/v2beta1", "MPIJob"},
                        {"kubeflow.org/v1", "XGBoostJob"},
                        {"kubeflow.org/v1", "JAXJob"},
                        {"ray.io/v1", "RayCluster"},
                        {"jobset.x-k8s.io/v1alpha2", "JobSet"},
                        {"kubeflow.org.evil/v1", "TFJob", false},
                        {"ray.io/v1", "TFJob", false},
                        {"kubeflow.org", "TFJob", false},
                        {"apps/v1", "ReplicaSet", false}};
  for (const Case& c : cases) {
    const GroupRef ref = OwnerGroupOf(PodOf(c.api_version, c.kind));
    EXPECT_EQ(ref, c.is_group ? GroupRef(GroupKind::kOwner, "ns", c.kind + "/o")
                              : GroupRef())
        << c.api_version << " " << c.kind;
    EXPECT_EQ(GroupOf(PodOf(c.api_version, c.kind)).kind,
              c.is_group ? GroupKind::kOwner : GroupKind::kPod);
  }
}

TEST(OwnerKindTest, PodsOfAnOwnersJobsByItsLabels) {
  api::Pod pod = PodOf("batch/v1", "Job");
  pod.meta.labels["jobset.sigs.k8s.io/jobset-name"] = "s";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kOwner, "ns", "JobSet/s"}));
  // Of an MPIJob, if its operator says so.
  pod.meta.labels = {{"training.kubeflow.org/job-name", "m"}};
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kJob, "ns", "o-uid"}));
  pod.meta.labels["training.kubeflow.org/operator-name"] = "mpi-operator";
  EXPECT_EQ(GroupOf(pod), (GroupRef{GroupKind::kOwner, "ns", "MPIJob/m"}));
  pod.meta.labels["training.kubeflow.org/operator-name"] = "tfjob-controller";
  EXPECT_EQ(GroupOf(pod).kind, GroupKind::kJob);
}

TEST(OwnerKindTest, EachReplicaOfALeaderWorkerSetIsAGroup) {
  api::Pod pod = PodOf("apps/v1", "StatefulSet");
  pod.meta.labels = {{"leaderworkerset.sigs.k8s.io/name", "l"}};
  EXPECT_EQ(GroupOf(pod).kind, GroupKind::kPod);
  pod.meta.labels["leaderworkerset.sigs.k8s.io/group-index"] = "12";
  const GroupRef ref = GroupOf(pod);
  EXPECT_EQ(ref, (GroupRef{GroupKind::kOwner, "ns", "LeaderWorkerSet/l/12"}));
  EXPECT_EQ(CopyOf(ref), "12");
  EXPECT_EQ(OwnerOfCopy(ref), OwnerGroup("LeaderWorkerSet", "ns", "l"));
  EXPECT_EQ(Describe(ref), "LeaderWorkerSet 'l/12'");
  const GroupRef other = OwnerGroup("JobSet", "ns", "s");
  EXPECT_EQ(CopyOf(other), "");
  EXPECT_EQ(OwnerOfCopy(other), other);
  // By its labels alone.
  EXPECT_EQ(
      OwnerGroupOf(PodOf("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet")),
      GroupRef());
}

TEST(OwnerKindTest, ASpecOfOneOfSeveralGroupsHasAKeyOfItsOwn) {
  const GroupSpec spec =
      ToSpecOfCopy({.key = "u", .display = "ns/l"},
                   CopyGroup("LeaderWorkerSet", "ns", "l", "3"));
  EXPECT_EQ(spec.key, "u/3");
  EXPECT_EQ(spec.display, "ns/l/3");
}

TEST(OwnerKindTest, WhatIsMadeForASchedulerIsStronger) {
  api::Pod pod = PodOf("kubeflow.org/v1", "TFJob");
  pod.meta.labels["scheduling.x-k8s.io/pod-group"] = "c";
  EXPECT_EQ(GroupOf(pod).kind, GroupKind::kCoschedulingGroup);
}

TEST(OwnerKindTest, RolesByEachOperatorsLabels) {
  const auto role = [](api::StringMap labels) {
    api::Pod pod = PodOf("", "");
    pod.meta.labels = std::move(labels);
    return OwnerRoleOf(pod);
  };
  EXPECT_EQ(role({{"training.kubeflow.org/replica-type", "Master"}}), "master");
  EXPECT_EQ(role({{"training.kubeflow.org/job-role", "launcher"}}), "launcher");
  EXPECT_EQ(role({{"ray.io/node-type", "head"}, {"ray.io/group", "headgroup"}}),
            "head");
  EXPECT_EQ(role({{"ray.io/node-type", "worker"}, {"ray.io/group", "gpu"}}),
            "gpu");
  EXPECT_EQ(role({{"jobset.sigs.k8s.io/replicatedjob-name", "node"}}), "node");
  EXPECT_EQ(role({{"leaderworkerset.sigs.k8s.io/worker-index", "0"}}),
            "leader");
  EXPECT_EQ(role({{"leaderworkerset.sigs.k8s.io/worker-index", "10"}}),
            "worker");
  EXPECT_EQ(role({}), "");
}

api::Owner OwnerOf(std::vector<api::OwnerRole> roles) {
  api::Owner owner;
  owner.meta = {
      .name = "o", .namespace_name = "ns", .uid = "o-uid", .creation = 5'000};
  owner.roles = std::move(roles);
  return owner;
}

TEST(OwnerKindTest, AllPodsOfAllRolesStartTogether) {
  api::Owner owner = OwnerOf({{"Master", 1, {}}, {"Worker", 3, {}}});
  owner.queue = "q";
  owner.priority_class_name = "high";
  EXPECT_EQ(ToSpec(owner), (GroupSpec{.key = "o-uid",
                                      .display = "ns/o",
                                      .min_pods = 4,
                                      .priority_class = "high",
                                      .queue = "q",
                                      .submitted = 5 * kSecond}));
}

TEST(OwnerKindTest, FewerWhereTheOwnerSaysSo) {
  api::Owner owner = OwnerOf({{"Master", 1, {}}, {"Worker", 3, 2}});
  owner.min_available = 3;
  EXPECT_EQ(ToSpec(owner).min_pods, 3u);
  EXPECT_THAT(ToSpec(owner).subgroups, IsEmpty());
}

TEST(OwnerKindTest, RolesThatNeedFewerHaveMinimumsOfTheirOwn) {
  const GroupSpec spec =
      ToSpec(OwnerOf({{"Master", 1, {}}, {"Worker", 8, 2}, {"Off", 0, {}}}));
  EXPECT_EQ(spec.min_pods, 3u);
  EXPECT_THAT(spec.subgroups,
              ElementsAre(Subgroup{.name = "master", .min_pods = 1},
                          Subgroup{.name = "worker", .min_pods = 2}));
}

TEST(OwnerKindTest, RolesThatComeLaterAreNotWaitedFor) {
  const GroupSpec spec =
      ToSpec(OwnerOf({{"data", 1, {}}, {"node", 4, {}, true}}));
  EXPECT_EQ(spec.min_pods, 1u);
  EXPECT_THAT(
      spec.subgroups,
      ElementsAre(Subgroup{.name = "data", .min_pods = 1},
                  Subgroup{.name = "node", .min_pods = 4, .later = true}));
}

TEST(OwnerKindTest, NumbersStayWithinTheLibrarys) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  api::Owner owner = OwnerOf({{"a", kMost * kMost, {}}, {"b", kMost, kMost}});
  EXPECT_EQ(ToSpec(owner).min_pods, Gang::kMaxTasks);
  owner.min_available = kMost;
  EXPECT_EQ(ToSpec(owner).min_pods, Gang::kMaxTasks);
  EXPECT_EQ(ToSpec(OwnerOf({})).min_pods, 1u);
  owner = OwnerOf(std::vector<api::OwnerRole>(Gang::kMaxGroups, {"r", 2, 1}));
  EXPECT_NE(ToSpec(owner).error, "");
}

TEST(OwnerKindTest, KindsHaveNamesOfTheirOwn) {
  std::set<std::string_view> kinds;
  for (const OwnerKind& kind : OwnerKinds()) {
    EXPECT_TRUE(kinds.insert(kind.kind).second) << kind.kind;
    EXPECT_FALSE(kind.versions[0].empty()) << kind.kind;
  }
}

}  // namespace
}  // namespace muster::kubernetes
