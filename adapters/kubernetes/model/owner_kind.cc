#include "adapters/kubernetes/model/owner_kind.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/unix_time.h"
#include "muster/gang.h"

namespace muster::kubernetes {
namespace {

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr std::string_view kKubeflowName = "training.kubeflow.org/job-name";
constexpr std::string_view kKubeflowOperator =
    "training.kubeflow.org/operator-name";

constexpr OwnerKind kOwnerKinds[] = {
    {.kind = "JAXJob",
     .group = kKubeflow,
     .versions = {"v1"},
     .plural = "jaxjobs"},
    {.kind = "JobSet",
     .group = "jobset.x-k8s.io",
     .versions = {"v1alpha2"},
     .plural = "jobsets",
     .name_label = "jobset.sigs.k8s.io/jobset-name"},
    // StatefulSets own its pods.
    {.kind = "LeaderWorkerSet",
     .group = "leaderworkerset.x-k8s.io",
     .versions = {"v1"},
     .plural = "leaderworkersets",
     .name_label = "leaderworkerset.sigs.k8s.io/name",
     .copy_label = "leaderworkerset.sigs.k8s.io/group-index"},
    // A Job owns its launcher.
    {.kind = "MPIJob",
     .group = kKubeflow,
     .versions = {"v2beta1", "v1"},
     .plural = "mpijobs",
     .name_label = kKubeflowName,
     .only_with_label = kKubeflowOperator,
     .only_with_value = "mpi-operator"},
    {.kind = "PyTorchJob",
     .group = kKubeflow,
     .versions = {"v1"},
     .plural = "pytorchjobs"},
    {.kind = "RayCluster",
     .group = "ray.io",
     .versions = {"v1"},
     .plural = "rayclusters"},
    {.kind = "TFJob",
     .group = kKubeflow,
     .versions = {"v1"},
     .plural = "tfjobs"},
    {.kind = "XGBoostJob",
     .group = kKubeflow,
     .versions = {"v1"},
     .plural = "xgboostjobs"},
};

// "" if there is no such label.
std::string_view Label(const api::Pod& pod, std::string_view key) {
  if (key.empty()) return {};
  const auto it = pod.meta.labels.find(key);
  return it == pod.meta.labels.end() ? std::string_view() : it->second;
}

uint32_t ToCount(int64_t pods) {
  return static_cast<uint32_t>(std::clamp<int64_t>(pods, 0, Gang::kMaxTasks));
}

int64_t MinimumOf(const api::OwnerRole& role) {
  const int64_t pods = std::min<int64_t>(role.pods, Gang::kMaxTasks);
  return std::min(role.min_pods.value_or(pods), pods);
}

}  // namespace

std::span<const OwnerKind> OwnerKinds() { return kOwnerKinds; }

GroupRef OwnerGroup(std::string_view kind, const std::string& namespace_name,
                    std::string_view name) {
  std::string both(kind);
  both.append("/").append(name);
  return {GroupKind::kOwner, namespace_name, std::move(both)};
}

GroupRef CopyGroup(std::string_view kind, const std::string& namespace_name,
                   std::string_view name, std::string_view copy) {
  GroupRef ref = OwnerGroup(kind, namespace_name, name);
  ref.name.append("/").append(copy);
  return ref;
}

std::string_view CopyOf(const GroupRef& ref) {
  // Names of objects have no slash.
  const size_t first = ref.name.find('/'), last = ref.name.rfind('/');
  const bool is_copy = ref.kind == GroupKind::kOwner && first != last;
  return is_copy ? std::string_view(ref.name).substr(last + 1)
                 : std::string_view();
}

GroupRef OwnerOfCopy(const GroupRef& ref) {
  GroupRef owner = ref;
  const size_t copy = CopyOf(ref).size();
  if (copy > 0) owner.name.resize(ref.name.size() - copy - 1);
  return owner;
}

GroupRef OwnerGroupOf(const api::Pod& pod) {
  const std::string& ns = pod.meta.namespace_name;
  for (const api::OwnerReference& owner : pod.meta.owners) {
    if (!owner.controller) continue;
    for (const OwnerKind& kind : kOwnerKinds) {
      if (owner.kind == kind.kind && kind.copy_label.empty() &&
          owner.api_version.starts_with(kind.group) &&
          owner.api_version.substr(kind.group.size()).starts_with('/')) {
        return OwnerGroup(kind.kind, ns, owner.name);
      }
    }
  }
  for (const OwnerKind& kind : kOwnerKinds) {
    const std::string_view name = Label(pod, kind.name_label);
    if (name.empty() ||
        Label(pod, kind.only_with_label) != kind.only_with_value) {
      continue;
    }
    if (kind.copy_label.empty()) return OwnerGroup(kind.kind, ns, name);
    const std::string_view copy = Label(pod, kind.copy_label);
    if (!copy.empty()) return CopyGroup(kind.kind, ns, name, copy);
  }
  return {};
}

std::string OwnerRoleOf(const api::Pod& pod) {
  if (Label(pod, "ray.io/node-type") == "head") return "head";
  for (const std::string_view key :
       {"training.kubeflow.org/replica-type", "training.kubeflow.org/job-role",
        "ray.io/group", "jobset.sigs.k8s.io/replicatedjob-name"}) {
    const std::string_view role = Label(pod, key);
    if (!role.empty()) return absl::AsciiStrToLower(std::string(role));
  }
  const std::string_view worker =
      Label(pod, "leaderworkerset.sigs.k8s.io/worker-index");
  if (!worker.empty()) return worker == "0" ? "leader" : "worker";
  return "";
}

GroupSpec ToSpec(const api::Owner& owner) {
  GroupSpec spec;
  spec.key = owner.meta.uid;
  spec.display = absl::StrCat(owner.meta.namespace_name, "/", owner.meta.name);
  spec.submitted = ToTime(owner.meta.creation);
  spec.queue = owner.queue;
  spec.priority_class = owner.priority_class_name;
  int64_t all = 0;
  bool unlike = false;
  for (const api::OwnerRole& role : owner.roles) {
    all += role.later ? 0 : MinimumOf(role);
    unlike |= role.later || MinimumOf(role) < role.pods;
  }
  spec.min_pods = std::max(ToCount(owner.min_available.value_or(all)), 1u);
  if (owner.min_available || !unlike) return spec;
  if (owner.roles.size() >= Gang::kMaxGroups) {
    spec.error = absl::StrCat("spec: more than ", Gang::kMaxGroups - 1,
                              " kinds of pods are not supported");
    return spec;
  }
  for (const api::OwnerRole& role : owner.roles) {
    if (role.pods == 0) continue;
    spec.subgroups.push_back({.name = absl::AsciiStrToLower(role.name),
                              .min_pods = ToCount(MinimumOf(role)),
                              .later = role.later});
  }
  return spec;
}

GroupSpec ToSpecOfCopy(GroupSpec spec, const GroupRef& ref) {
  for (std::string* text : {&spec.key, &spec.display}) {
    text->append("/").append(CopyOf(ref));
  }
  return spec;
}

}  // namespace muster::kubernetes
