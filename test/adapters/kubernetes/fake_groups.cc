#include "test/adapters/kubernetes/fake_groups.h"

#include "absl/strings/str_cat.h"

namespace muster::kubernetes {

template <typename Object>
void FakeGroups::Put(const std::string& name, int64_t minimum,
                     const Object& object, const std::string& parent) {
  groups_[name] = {[object](Controller& c) { c.observer().Observe(object); },
                   minimum, parent};
  tell_("group/" + name, groups_[name].tell);
}

void FakeGroups::Put(const api::PodGroup& group) {
  Put(NameOf(GroupKind::kPodGroup, group.meta.name),
      group.min_count.value_or(1), group,
      group.parent.empty() ? ""
                           : NameOf(GroupKind::kCompositeGroup, group.parent));
}

void FakeGroups::Put(const api::CompositePodGroup& group) {
  Put(NameOf(GroupKind::kCompositeGroup, group.meta.name),
      group.min_group_count.value_or(1), group);
}

void FakeGroups::Put(const api::VolcanoPodGroup& group) {
  Put(NameOf(GroupKind::kVolcanoGroup, group.meta.name), group.min_member,
      group);
}

void FakeGroups::Put(const api::CoschedulingPodGroup& group) {
  Put(NameOf(GroupKind::kCoschedulingGroup, group.meta.name), group.min_member,
      group);
}

void FakeGroups::Put(const api::MusterPodGroup& group) {
  Put(NameOf(GroupKind::kMusterGroup, group.meta.name),
      group.min_member.value_or(1), group);
}

void FakeGroups::Put(const api::Owner& owner) {
  if (owner.roles.empty()) {
    jobs_[owner.meta.name] = owner;
    tell_("job/" + owner.meta.name,
          [owner](Controller& c) { c.observer().Observe(owner); });
    return;
  }
  int64_t minimum = 0;
  for (const api::OwnerRole& role : owner.roles) {
    minimum += role.later ? 0 : role.min_pods.value_or(role.pods);
  }
  Put(absl::StrCat(owner.kind, "/", owner.meta.name),
      owner.min_available.value_or(minimum), owner);
}

void FakeGroups::Remove(GroupKind kind, const std::string& name) {
  groups_.erase(NameOf(kind, name));
  tell_("group/" + NameOf(kind, name), [kind, name](Controller& c) {
    c.observer().GroupGone({kind, "default", name});
  });
}

void FakeGroups::ObserveAll(Controller* controller) const {
  for (const auto& [name, job] : jobs_) controller->observer().Observe(job);
  for (const auto& [name, group] : groups_) group.tell(*controller);
}

std::string FakeGroups::NameOf(GroupKind kind, const std::string& name) {
  if (kind == GroupKind::kCompositeGroup) return "composite/" + name;
  if (kind == GroupKind::kVolcanoGroup) return "volcano/" + name;
  if (kind == GroupKind::kCoschedulingGroup) return "plugin/" + name;
  if (kind == GroupKind::kMusterGroup) return "muster/" + name;
  return name;
}

std::string FakeGroups::NameOf(const api::Pod& pod) {
  if (!pod.pod_group_name.empty()) return pod.pod_group_name;
  const auto value = [](const api::StringMap& map, const char* key) {
    const auto it = map.find(key);
    return it == map.end() ? "" : it->second;
  };
  const std::pair<GroupKind, std::string> named[] = {
      {GroupKind::kMusterGroup, value(pod.meta.labels, kPodGroupLabel)},
      {GroupKind::kVolcanoGroup,
       value(pod.meta.annotations, "scheduling.k8s.io/group-name")},
      {GroupKind::kCoschedulingGroup,
       value(pod.meta.labels, "scheduling.x-k8s.io/pod-group")}};
  for (const auto& [kind, name] : named) {
    if (!name.empty()) return NameOf(kind, name);
  }
  for (const api::OwnerReference& owner : pod.meta.owners) {
    if (owner.api_version == "kubeflow.org/v1") {
      return owner.kind + "/" + owner.name;
    }
  }
  return "";
}

std::optional<int64_t> FakeGroups::MinimumOf(const std::string& group) const {
  const auto it = groups_.find(group);
  if (it == groups_.end()) return std::nullopt;
  return it->second.minimum;
}

bool FakeGroups::ParentIsComplete(
    const std::string& group,
    const std::map<std::string, int64_t>& pods) const {
  const auto it = groups_.find(group);
  if (it == groups_.end() || it->second.parent.empty()) return true;
  const auto parent = groups_.find(it->second.parent);
  if (parent == groups_.end()) return false;
  int64_t complete = 0;
  for (const auto& [name, part] : groups_) {
    const auto there = pods.find(name);
    if (part.parent != parent->first || there == pods.end()) continue;
    complete += there->second >= part.minimum ? 1 : 0;
  }
  return complete >= parent->second.minimum;
}

}  // namespace muster::kubernetes
