#include "adapters/kubernetes/controller/observer.h"

#include <algorithm>
#include <set>

#include "adapters/kubernetes/model/translate_node.h"
#include "adapters/kubernetes/model/unix_time.h"

namespace muster::kubernetes {

bool Observer::Manages(const api::Pod& pod) const {
  return std::ranges::find(s_.options.scheduler_names, pod.scheduler_name) !=
         s_.options.scheduler_names.end();
}

void Observer::Observe(const api::Node& node) {
  s_.kinds_changed |= s_.kinds.Learn(node.allocatable);
  auto translated = ToNode(node, s_.kinds, s_.options.model_label);
  if (translated.ok()) {
    s_.nodes.Set(*std::move(translated));
  } else {
    // It is not used until it says what it means.
    s_.nodes.Remove(node.meta.name);
  }
}

void Observer::NodeGone(const std::string& name) { s_.nodes.Remove(name); }

void Observer::Observe(const api::Pod& pod) {
  s_.kinds_changed |= s_.kinds.LearnRequested(pod.requests);
  if (!Manages(pod)) {
    const bool runs =
        !pod.node_name.empty() && EndOf(pod) == PodRecord::End::kNone;
    s_.nodes.SetUsage(pod.meta.uid, runs ? UsageOf(pod, s_.kinds) : PodUsage());
    return;
  }
  const PodRecord* known = s_.gangs.FindPod(pod.meta.uid);
  PodRecord record = ToRecord(pod, s_.kinds, known, &roles_);
  if (known != nullptr) {
    // A binding is for good; what says otherwise is older than its answer.
    if (record.node.empty()) record.node = known->node;
    if (*known == record) return;
    if (known->group != record.group) PodGone(record.ref.uid);
  }
  GangRecord& gang = s_.gangs.Of(record.group);
  if (!gang.spec) gang.spec = SpecOf(record.group, pod);
  s_.gangs.SetPod(std::move(record));
}

void Observer::PodRead(const api::Pod& pod) {
  PodRecord* known = s_.gangs.FindPod(pod.meta.uid);
  if (known == nullptr || !known->node.empty()) return;
  known->node = pod.node_name;
  s_.gangs.Touch(known->group);
}

std::optional<GroupSpec> Observer::SpecOf(const GroupRef& ref,
                                          const api::Pod& pod) const {
  std::optional<GroupSpec> spec = SpecFromPod(ref, pod);
  if (ref.kind == GroupKind::kJob) {
    const auto job = jobs_.find({ref.namespace_name, ref.name});
    if (job != jobs_.end()) spec->submitted = job->second;
  }
  return spec;
}

void Observer::PodGone(const std::string& uid) {
  s_.nodes.SetUsage(uid, {});
  const PodRecord* pod = s_.gangs.FindPod(uid);
  if (pod == nullptr) return;
  s_.budgets.RemovePod(pod->ref.namespace_name, uid);
  s_.gangs.ErasePod(uid);
}

void Observer::SetGroup(const GroupRef& ref, GroupSpec spec) {
  GangRecord& gang = s_.gangs.Of(ref);
  gang.has_object = true;
  gang.gone = false;
  // One of that name that is another object is another gang.
  if (gang.spec && gang.spec->key != spec.key && !gang.told.key.empty()) {
    s_.link.MustTell(GangFinished{gang.told.key});
    s_.Forget(&gang);
  }
  gang.spec = std::move(spec);
  if (!LearnTopology(gang.spec->topology.topology) &&
      gang.spec->error.empty()) {
    gang.spec->error =
        "topology: there are too many, or this is no label's key";
  }
  if (!gang.spec->error.empty()) gang.spec->topology = {};
  s_.gangs.Touch(ref);
}

bool Observer::LearnTopology(const std::string& key) {
  return s_.topologies.Learn(key, [this] {
    std::set<std::string> used;
    for (const auto& [ref, gang] : s_.gangs.all()) {
      if (gang.spec) used.insert(gang.spec->topology.topology);
      for (const Group& group : gang.told.groups) {
        used.insert(group.topology.topology);
      }
    }
    return used;
  });
}

void Observer::Observe(const api::PodGroup& group) {
  SetGroup({GroupKind::kPodGroup, group.meta.namespace_name, group.meta.name},
           ToSpec(group));
}

void Observer::Observe(const api::MusterPodGroup& group) {
  SetGroup(
      {GroupKind::kMusterGroup, group.meta.namespace_name, group.meta.name},
      ToSpec(group, s_.topologies.configured()));
}

void Observer::GroupGone(const GroupRef& ref) {
  GangRecord* gang = s_.gangs.Find(ref);
  if (gang == nullptr) return;
  gang->has_object = false;
  gang->gone = true;
  s_.gangs.Touch(ref);
}

void Observer::Observe(const api::Owner& job) {
  const Time created = ToTime(job.meta.creation);
  jobs_[{job.meta.namespace_name, job.meta.uid}] = created;
  const GroupRef ref{GroupKind::kJob, job.meta.namespace_name, job.meta.uid};
  GangRecord* gang = s_.gangs.Find(ref);
  if (gang == nullptr || !gang->spec) return;
  if (std::exchange(gang->spec->submitted, created) != created) {
    s_.gangs.Touch(ref);
  }
}

void Observer::JobGone(const std::string& namespace_name,
                       const std::string& uid) {
  jobs_.erase({namespace_name, uid});
  GroupGone({GroupKind::kJob, namespace_name, uid});
}

void Observer::Observe(const api::Queue& queue) {
  api::ResourceList resources;
  for (const api::QueueQuota& quota : queue.quotas) {
    resources[quota.resource] = 0;
  }
  s_.kinds_changed |= s_.kinds.Learn(resources);
  if (!s_.queues.Set(queue)) return;
  s_.gangs.TouchAllOf(queue.meta.name, "");
  s_.tally.Touch(queue.meta.name);
}

void Observer::QueueGone(const std::string& name) {
  s_.queues.Remove(name);
  s_.tally.Touch(name);
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

void Observer::BudgetGone(const std::string& namespace_name,
                          const std::string& name) {
  s_.budgets.Remove(namespace_name, name);
}

}  // namespace muster::kubernetes
