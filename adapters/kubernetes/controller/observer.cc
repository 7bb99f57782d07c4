#include "adapters/kubernetes/controller/observer.h"

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "adapters/kubernetes/controller/object_refs.h"
#include "adapters/kubernetes/model/group_objects.h"
#include "adapters/kubernetes/model/namespace_quota.h"
#include "adapters/kubernetes/model/owner_kind.h"
#include "adapters/kubernetes/model/plugin_group.h"
#include "adapters/kubernetes/model/spot_taints.h"
#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/kubernetes/model/unix_time.h"

namespace muster::kubernetes {
namespace {

VolumeUser UserOf(const api::Pod& pod, std::vector<PodClaim> claims,
                  bool runs) {
  return {.uid = pod.meta.uid,
          .namespace_name = pod.meta.namespace_name,
          .name = pod.meta.name,
          .claims = std::move(claims),
          .created = ToTime(pod.meta.creation),
          .runs = runs};
}

void AddKeys(std::span<const PodSpread> spreads, std::set<std::string>* keys) {
  for (const PodSpread& spread : spreads)
    keys->insert(spread.topology.topology);
}

}  // namespace

bool Observer::Manages(const api::Pod& pod) const {
  return std::ranges::find(s_.options.scheduler_names, pod.scheduler_name) !=
         s_.options.scheduler_names.end();
}

void Observer::Observe(const api::Node& node) {
  if (s_.kinds.Learn(node.allocatable)) LearnedKinds();
  s_.topologies.SeeLabels(node.meta.labels);
  auto translated = ToNode(node, s_.kinds, s_.options.model_label);
  if (translated.ok()) {
    s_.nodes.Set(*std::move(translated),
                 SpotNoticeOf(node, s_.options.spot_taints));
  } else {
    // It is not used until it says what it means.
    s_.nodes.Remove(node.meta.name);
  }
}

void Observer::NodeGone(const std::string& name) { s_.nodes.Remove(name); }

void Observer::Observe(const api::Pod& pod) {
  if (s_.kinds.LearnRequested(pod.requests)) LearnedKinds();
  if (s_.kinds.Unknown(pod.requests).empty()) {
    of_no_kind_.erase(pod.meta.uid);
  } else {
    of_no_kind_[pod.meta.uid] = pod;
  }
  if (!Manages(pod)) {
    const bool runs =
        !pod.node_name.empty() && EndOf(pod) == PodRecord::End::kNone;
    s_.nodes.SetUsage(pod.meta.uid, runs ? UsageOf(pod, s_.kinds) : PodUsage());
    std::vector<PodClaim> claims = ClaimsOf(pod);
    if (!claims.empty()) {
      s_.volumes.SetUser(UserOf(pod, std::move(claims), runs));
    }
    return;
  }
  const PodRecord* known = s_.gangs.FindPod(pod.meta.uid);
  PodRecord record = ToRecord(pod, s_.kinds, known, &roles_);
  const std::string parent =
      record.group.kind == GroupKind::kPodGroup
          ? composites_.ParentOf(
                {record.group.namespace_name, record.group.name})
          : "";
  if (!parent.empty()) {
    record.subgroup = std::exchange(record.group.name, parent);
    record.group.kind = GroupKind::kCompositeGroup;
  }
  std::set<std::string> keys;
  if (record.spreads != nullptr) AddKeys(*record.spreads, &keys);
  if (!LearnTopologies(keys)) {
    record.own_role = nullptr;
    record.role = nullptr;
    record.spreads = nullptr;
    record.usage = UsageOf(pod, s_.kinds);
    record.error =
        "spec.topologySpreadConstraints.topologyKey: there are too many "
        "topologies, or this is no label's key";
  }
  NoteStatus(pod, record, known);
  if (known != nullptr) {
    // A binding is for good; what says otherwise is older than its answer.
    if (record.node.empty()) record.node = known->node;
    if (HasPlace(*known)) {
      record.group = known->group;
      record.subgroup = known->subgroup;
      record.group_uid = known->group_uid;
    }
    if (*known == record) return;
    if (known->group != record.group) Leave(record.ref.uid);
  }
  if (!record.claims.empty()) {
    VolumeUser user = UserOf(pod, record.claims, record.runs());
    user.group = record.group;
    user.waits = record.pending() && record.own_role != nullptr;
    s_.volumes.SetUser(std::move(user));
  }
  GangRecord& gang = s_.gangs.SetPod(std::move(record));
  if (!gang.has_object) {
    auto spec = copies_.SpecOf(gang.ref);
    if (spec) SetGroup(gang.ref, *std::move(spec));
  }
  if (!gang.spec) gang.spec = SpecOf(gang.ref, pod);
}

void Observer::PodRead(const api::Pod& pod) {
  PodRecord* known = s_.gangs.FindPod(pod.meta.uid);
  if (known == nullptr || !known->node.empty()) return;
  known->node = pod.node_name;
  s_.gangs.Touch(known->group);
}

void Observer::NoteStatus(const api::Pod& pod, const PodRecord& record,
                          const PodRecord* known) {
  if (!pod.nominated_node_name.empty() && record.waits()) {
    s_.nominations.Found({record.ref, pod.nominated_node_name});
  }
  // Once, when it comes to wait for a node.
  if (record.unused_spreads && record.pending() &&
      (known == nullptr || !known->unused_spreads || !known->pending())) {
    s_.outbox.Ask(EventRequest{.object = PodObject(record.ref),
                               .warning = true,
                               .reason = "NotUsed",
                               .action = "Reading",
                               .note = UnusedSpreadsOf(pod)});
  }
  const std::string& error = record.annotation_error;
  if (error.empty()) return;
  if (known != nullptr && known->annotation_error == error) return;
  s_.outbox.Ask(EventRequest{.object = PodObject(record.ref),
                             .warning = true,
                             .reason = "InvalidAnnotation",
                             .action = "Reading",
                             .note = error});
}

void Observer::ObserveBad(const api::ObjectReference& object,
                          const std::string& why) {
  s_.warnings.Warn(object, "Unreadable", why);
}

void Observer::Readable(const api::ObjectReference& object) {
  s_.warnings.Clear(object, "Unreadable");
}

bool Observer::HasPlace(const PodRecord& pod) const {
  const TaskSlot* slot = s_.gangs.GangOf(pod).SlotOf(pod.ref.uid);
  return slot != nullptr && slot->placed();
}

void Observer::MovePods(const GroupRef& from, const std::string& part,
                        const GroupRef& to) {
  const GangRecord* gang = s_.gangs.Find(from);
  if (gang == nullptr) return;
  std::vector<PodRecord> pods;
  for (const auto& [uid, member] : gang->members()) {
    const PodRecord& pod = *member.pod;
    const bool moves = part.empty() || pod.subgroup == part;
    if (moves && !HasPlace(pod)) pods.push_back(pod);
  }
  for (PodRecord& pod : pods) {
    Leave(pod.ref.uid);
    pod.group = to;
    pod.subgroup = part.empty() ? from.name : "";
    s_.gangs.SetPod(std::move(pod));
  }
}

std::optional<GroupSpec> Observer::SpecOf(const GroupRef& ref,
                                          const api::Pod& pod) const {
  std::optional<GroupSpec> spec = SpecFromPod(ref, pod);
  if (ref.kind == GroupKind::kJob) {
    const auto created = s_.jobs.CreatedAt(ref.namespace_name, ref.name);
    if (created) spec->submitted = *created;
  }
  return spec;
}

void Observer::LearnedKinds() {
  s_.kinds_changed = true;
  std::vector<api::Pod> pods;
  for (const auto& [uid, pod] : of_no_kind_) {
    if (s_.kinds.Unknown(pod.requests).empty()) pods.push_back(pod);
  }
  for (const api::Pod& pod : pods) Observe(pod);
}

void Observer::PodGone(const std::string& uid) {
  of_no_kind_.erase(uid);
  Erase(uid);
}

void Observer::Leave(const std::string& uid) {
  const PodRecord* pod = s_.gangs.FindPod(uid);
  s_.nominations.Leave(s_.gangs.GangOf(*pod).told.key, uid);
  Erase(uid);
}

void Observer::Erase(const std::string& uid) {
  s_.nodes.SetUsage(uid, {});
  s_.volumes.RemoveUser(uid);
  const PodRecord* pod = s_.gangs.FindPod(uid);
  if (pod == nullptr) return;
  s_.nominations.PodGone(s_.gangs.GangOf(*pod).told.key, uid);
  s_.budgets.RemovePod(pod->ref.namespace_name, uid);
  s_.gangs.ErasePod(uid);
}

void Observer::SetGroup(const GroupRef& ref, GroupSpec spec) {
  GangRecord& gang = s_.gangs.Of(ref);
  // Operators write the status of their objects all the time.
  if (gang.has_object && gang.spec == spec) return;
  gang.has_object = true;
  gang.gone = false;
  // One of that name that is another object is another gang.
  if (gang.spec && !gang.spec->by_pods && gang.spec->key != spec.key &&
      !gang.told.key.empty()) {
    s_.link.MustTell(GangFinished{gang.told.key});
    s_.Forget(&gang);
  }
  gang.spec = std::move(spec);
  std::set<std::string> keys = {gang.spec->topology.topology};
  for (const Subgroup& subgroup : gang.spec->subgroups) {
    keys.insert(subgroup.topology.topology);
  }
  if (!LearnTopologies(keys) && gang.spec->error.empty()) {
    gang.spec->error =
        "topology: there are too many, or this is no label's key";
  }
  const api::ObjectReference object = GroupObject(ref, gang.spec->key);
  if (gang.spec->error.empty()) {
    s_.warnings.Clear(object, kRefused);
  } else {
    s_.warnings.Warn(object, kRefused, gang.spec->error);
    gang.spec->topology = {};
    for (Subgroup& subgroup : gang.spec->subgroups) subgroup.topology = {};
  }
  s_.gangs.Touch(&gang);
}

bool Observer::LearnTopologies(const std::set<std::string>& keys) {
  const auto used_keys = [&] {
    std::set<std::string> used = keys;
    for (const auto& [uid, pod] : s_.gangs.pods()) {
      if (pod.spreads != nullptr) AddKeys(*pod.spreads, &used);
    }
    for (const GangRecord* gang : s_.gangs.all()) {
      for (const Role& role : gang->told.roles) {
        used.insert(role.topology.topology);
      }
      if (gang->spec) {
        used.insert(gang->spec->topology.topology);
        for (const Subgroup& subgroup : gang->spec->subgroups) {
          used.insert(subgroup.topology.topology);
        }
      }
      for (const Group& group : gang->told.groups) {
        used.insert(group.topology.topology);
      }
    }
    return used;
  };
  return std::ranges::all_of(keys, [&](const std::string& key) {
    return s_.topologies.Learn(key, used_keys);
  });
}

void Observer::Observe(const api::PodGroup& group) {
  const std::string& ns = group.meta.namespace_name;
  const GroupRef ref{GroupKind::kPodGroup, ns, group.meta.name};
  if (group.parent.empty()) {
    SetGroup(ref, ToSpec(group));
    return;
  }
  composites_.SetPart(group);
  SetComposite({ns, group.parent});
  MovePods(ref, "", {GroupKind::kCompositeGroup, ns, group.parent});
}

void Observer::Observe(const api::CompositePodGroup& group) {
  composites_.Set(group);
  SetComposite({group.meta.namespace_name, group.meta.name});
}

void Observer::SetComposite(const Name& composite) {
  std::optional<GroupSpec> spec = composites_.SpecOf(composite);
  if (!spec) return;
  SetGroup({GroupKind::kCompositeGroup, composite.first, composite.second},
           *std::move(spec));
}

void Observer::Observe(const api::VolcanoPodGroup& group) {
  SetGroup(
      {GroupKind::kVolcanoGroup, group.meta.namespace_name, group.meta.name},
      ToSpec(group));
}

void Observer::Observe(const api::CoschedulingPodGroup& group) {
  SetGroup({GroupKind::kCoschedulingGroup, group.meta.namespace_name,
            group.meta.name},
           ToSpec(group));
}

void Observer::Observe(const api::MusterPodGroup& group) {
  SetGroup(
      {GroupKind::kMusterGroup, group.meta.namespace_name, group.meta.name},
      ToSpec(group, s_.topologies.configured()));
}

void Observer::GroupGone(const GroupRef& ref) {
  const Name name{ref.namespace_name, ref.name};
  if (ref.kind == GroupKind::kCompositeGroup) composites_.Remove(name);
  if (ref.kind == GroupKind::kPodGroup) {
    const std::string parent = composites_.RemovePart(name);
    if (!parent.empty()) {
      SetComposite({ref.namespace_name, parent});
      MovePods({GroupKind::kCompositeGroup, ref.namespace_name, parent},
               ref.name, ref);
    }
  }
  copies_.Remove(ref);
  for (const GroupRef& copy : CopiesOf(ref)) SetGone(copy);
  SetGone(ref);
}

void Observer::SetGone(const GroupRef& ref) {
  GangRecord* gang = s_.gangs.Find(ref);
  if (gang == nullptr) return;
  gang->has_object = false;
  gang->gone = true;
  s_.gangs.Touch(gang);
}

std::vector<GroupRef> Observer::CopiesOf(const GroupRef& owner) const {
  std::vector<GroupRef> copies;
  if (owner.kind != GroupKind::kOwner) return copies;
  GroupRef from = owner;
  from.name += '/';
  const auto gangs = s_.gangs.all();
  const auto ref = [](const GangRecord* gang) -> const GroupRef& {
    return gang->ref;
  };
  for (auto it = std::ranges::lower_bound(gangs, from, {}, ref);
       it != gangs.end(); ++it) {
    if (OwnerOfCopy((*it)->ref) != owner) break;
    copies.push_back((*it)->ref);
  }
  return copies;
}

void Observer::Observe(const api::Owner& owner) {
  for (const OwnerKind& kind : OwnerKinds()) {
    if (owner.kind != kind.kind) continue;
    const GroupRef ref =
        OwnerGroup(kind.kind, owner.meta.namespace_name, owner.meta.name);
    if (kind.copy_label.empty()) return SetGroup(ref, ToSpec(owner));
    copies_.Set(ref, ToSpec(owner));
    for (const GroupRef& copy : CopiesOf(ref)) {
      SetGroup(copy, *copies_.SpecOf(copy));
    }
    return;
  }
  ObserveJob(owner);
}

void Observer::ObserveJob(const api::Owner& job) {
  s_.jobs.Set(job);
  const GroupRef ref{GroupKind::kJob, job.meta.namespace_name, job.meta.uid};
  GangRecord* gang = s_.gangs.Find(ref);
  if (gang == nullptr || !gang->spec) return;
  const Time created = ToTime(job.meta.creation);
  if (std::exchange(gang->spec->submitted, created) != created) {
    s_.gangs.Touch(gang);
  }
}

void Observer::JobGone(const std::string& namespace_name,
                       const std::string& uid) {
  s_.jobs.Remove(namespace_name, uid);
  GroupGone({GroupKind::kJob, namespace_name, uid});
}

void Observer::Observe(const api::Queue& queue) {
  api::ResourceList resources;
  for (const api::QueueQuota& quota : queue.quotas) {
    resources[quota.resource] = 0;
  }
  if (s_.kinds.Learn(resources)) LearnedKinds();
  if (!s_.queues.Set(queue)) return;
  s_.gangs.TouchAllOf(queue.meta.name, "");
  s_.queue_news.Touch(queue.meta.name);
}

void Observer::QueueGone(const std::string& name) {
  s_.queues.Remove(name);
  s_.queue_news.Touch(name);
  s_.gangs.TouchAllOf(name, "");
}

void Observer::Observe(const api::Namespace& ns) {
  if (!s_.queues.SetNamespace(ns.meta.name, ns.meta.labels)) return;
  s_.gangs.TouchAllOf("", ns.meta.name);
}

void Observer::NamespaceGone(const std::string& name) {
  s_.queues.RemoveNamespace(name);
  s_.gangs.TouchAllOf("", name);
}

void Observer::Observe(const api::PodDisruptionBudget& budget) {
  s_.budgets.Set(budget);
}

void Observer::SetQuota(const std::string& namespace_name,
                        const std::string& name, api::ResourceList limits) {
  if (!s_.options.quota_from_namespaces) return;
  if (s_.kinds.Learn(limits)) LearnedKinds();
  if (!s_.queues.SetQuota(namespace_name, name, std::move(limits))) return;
  s_.gangs.TouchAllOf("", namespace_name);
}

void Observer::Observe(const api::ResourceQuota& quota) {
  SetQuota(quota.meta.namespace_name, quota.meta.name, PodLimits(quota));
}

void Observer::QuotaGone(const std::string& namespace_name,
                         const std::string& name) {
  SetQuota(namespace_name, name, {});
}

void Observer::Observe(const api::PersistentVolumeClaim& claim) {
  s_.volumes.Set(claim);
}

void Observer::Observe(const api::PersistentVolume& volume) {
  s_.volumes.Set(volume);
}

void Observer::Observe(const api::StorageClass& storage_class) {
  s_.volumes.Set(storage_class);
}

void Observer::ClaimGone(const std::string& namespace_name,
                         const std::string& name) {
  s_.volumes.RemoveClaim({namespace_name, name});
}

void Observer::VolumeGone(const std::string& name) {
  s_.volumes.RemoveVolume(name);
}

void Observer::StorageClassGone(const std::string& name) {
  s_.volumes.RemoveClass(name);
}

void Observer::BudgetGone(const std::string& namespace_name,
                          const std::string& name) {
  s_.budgets.Remove(namespace_name, name);
}

}  // namespace muster::kubernetes
