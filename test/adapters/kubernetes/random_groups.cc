#include "test/adapters/kubernetes/random_groups.h"

#include <cstddef>
#include <cstdint>

namespace muster::kubernetes {

void RandomGroups::Act() {
  switch (cluster_->Below(8)) {
    case 0:
      AddVolcanoGang();
      break;
    case 1:
      AddTrainingJob();
      break;
    case 2:
      AddPluginGang();
      break;
    case 3:
      AddSubgroups();
      break;
    case 4:
      AddComposite();
      break;
    case 5:
      AddCounted();
      break;
    case 6:
      if (!objects_.empty()) {
        const auto& [kind, name] = objects_[cluster_->Below(objects_.size())];
        cluster_->api.RemoveGroup(kind, name);
      }
      break;
    default:
      AddWholeGang();
  }
  cluster_->api.Pass(kSecond);
}

void RandomGroups::AddWith(const std::vector<PodSpec>& pods,
                           const std::function<void()>& put) {
  const size_t at = cluster_->Below(pods.size() + 1);
  for (size_t i = 0; i <= pods.size(); ++i) {
    if (i == at) put();
    if (i < pods.size()) cluster_->api.AddPod(pods[i]);
    if (cluster_->OneIn(4)) cluster_->api.Pass(kSecond);
  }
}

void RandomGroups::AddVolcanoGang() {
  api::VolcanoPodGroup group;
  group.meta.name = cluster_->Name("volcano");
  group.min_task_member = {{"ps", 1}, {"worker", 2}};
  group.min_member = 3;
  if (cluster_->OneIn(2)) group.queue = "q";
  std::vector<PodSpec> pods;
  for (const char* task : {"ps", "worker", "worker"}) {
    pods.push_back(
        {.name = cluster_->Name("v"),
         .gpus = 1,
         .annotations = {{"scheduling.k8s.io/group-name", group.meta.name},
                         {"volcano.sh/task-spec", task}}});
  }
  objects_.emplace_back(GroupKind::kVolcanoGroup, group.meta.name);
  AddWith(pods, [&] { cluster_->api.Put(group); });
}

void RandomGroups::AddTrainingJob() {
  api::Owner owner;
  owner.kind = "PyTorchJob";
  owner.meta.name = cluster_->Name("torch");
  const std::string name = "PyTorchJob/" + owner.meta.name;
  owner.meta.uid = "uid-of-" + name;
  owner.roles = {{"Master", 1, {}}, {"Worker", 2, {}}};
  if (cluster_->OneIn(3)) owner.min_available = 2;
  std::vector<PodSpec> pods;
  for (const char* type : {"master", "worker", "worker"}) {
    pods.push_back({.name = cluster_->Name("t"),
                    .gpus = 1,
                    .priority = static_cast<int32_t>(cluster_->Upto(2)),
                    .owner = name,
                    .labels = {{"training.kubeflow.org/replica-type", type},
                               {"app", "careful"}}});
  }
  objects_.emplace_back(GroupKind::kOwner, name);
  AddWith(pods, [&] { cluster_->api.Put(owner); });
}

void RandomGroups::AddPluginGang() {
  api::CoschedulingPodGroup group;
  group.meta.name = cluster_->Name("plugin");
  group.min_member = static_cast<int32_t>(1 + cluster_->Upto(2));
  std::vector<PodSpec> pods;
  for (int i = 0; i < 3; ++i) {
    pods.push_back(
        {.name = cluster_->Name("p"),
         .gpus = 1,
         .labels = {{"scheduling.x-k8s.io/pod-group", group.meta.name}}});
  }
  objects_.emplace_back(GroupKind::kCoschedulingGroup, group.meta.name);
  AddWith(pods, [&] { cluster_->api.Put(group); });
}

void RandomGroups::AddSubgroups() {
  api::MusterPodGroup group;
  group.meta.name = cluster_->Name("parts");
  group.min_member = 4;
  group.groups = {{.name = "a", .min_member = 2, .topology = {}},
                  {.name = "b", .min_member = 2, .topology = {}}};
  if (cluster_->OneIn(2)) group.groups[0].topology.required = "rack";
  std::vector<PodSpec> pods;
  for (int i = 0; i < 4; ++i) {
    const std::string name = cluster_->Name("s");
    pods.push_back({.name = name,
                    .gpus = 1,
                    .job = cluster_->OneIn(2) ? name : "",
                    .labels = {{kPodGroupLabel, group.meta.name},
                               {kSubgroupLabel, i % 2 == 0 ? "a" : "b"}}});
  }
  objects_.emplace_back(GroupKind::kMusterGroup, group.meta.name);
  AddWith(pods, [&] { cluster_->api.Put(group); });
}

void RandomGroups::AddComposite() {
  api::CompositePodGroup composite;
  composite.meta.name = cluster_->Name("composite");
  composite.min_group_count = static_cast<int32_t>(1 + cluster_->Upto(1));
  std::vector<PodSpec> pods;
  std::vector<api::PodGroup> parts(2);
  for (api::PodGroup& part : parts) {
    part.meta.name = cluster_->Name("part");
    part.parent = composite.meta.name;
    part.min_count = 2;
    objects_.emplace_back(GroupKind::kPodGroup, part.meta.name);
    for (int i = 0; i < 2; ++i) {
      pods.push_back(
          {.name = cluster_->Name("c"), .gpus = 1, .group = part.meta.name});
    }
  }
  objects_.emplace_back(GroupKind::kCompositeGroup, composite.meta.name);
  if (cluster_->OneIn(2)) cluster_->api.Put(composite);
  AddWith(pods, [&] {
    for (const api::PodGroup& part : parts) cluster_->api.Put(part);
    cluster_->api.Put(composite);
  });
}

void RandomGroups::AddCounted() {
  api::MusterPodGroup group;
  group.meta.name = cluster_->Name("counted");
  group.min_member = 2;
  std::vector<PodSpec> pods;
  for (int i = 0; i < 3; ++i) {
    pods.push_back(
        {.name = cluster_->Name("m"),
         .gpus = 1,
         .labels = {{kPodGroupLabel, group.meta.name}, {kSubgroupLabel, ""}},
         .annotations = {{kMinPodsAnnotation, "2"}}});
  }
  AddWith(pods, [&] {
    if (cluster_->OneIn(2)) cluster_->api.Put(group);
  });
}

void RandomGroups::AddWholeGang() {
  api::PodGroup group;
  group.meta.name = cluster_->Name("whole");
  group.min_count = static_cast<int32_t>(1 + cluster_->Upto(1));
  group.disruption_mode = "all";
  std::vector<PodSpec> pods;
  for (int i = 0; i < 3; ++i) {
    const std::string name = cluster_->Name("w");
    pods.push_back({.name = name,
                    .gpus = 1,
                    .group = group.meta.name,
                    .job = cluster_->OneIn(2) ? name : ""});
  }
  AddWith(pods, [&] { cluster_->api.Put(group); });
}

}  // namespace muster::kubernetes
