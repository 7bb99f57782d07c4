#include "adapters/kubernetes/controller/overview.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/object_refs.h"
#include "adapters/kubernetes/controller/reason_message.h"

namespace muster::kubernetes {
namespace {

std::string KindOf(const GroupRef& ref) {
  if (ref.kind == GroupKind::kPod) return std::string(api::kPods.kind);
  if (ref.kind == GroupKind::kJob) return std::string(api::kJobs.kind);
  return GroupObject(ref, "").kind;
}

std::string PhaseOf(const PodRecord& pod, const TaskSlot* slot) {
  if (pod.end == PodRecord::End::kSucceeded) return "succeeded";
  if (pod.end == PodRecord::End::kFailed) return "failed";
  if (pod.deleting) return "stopping";
  if (!pod.node.empty()) return "running";
  if (pod.gated) return "gated";
  if (slot != nullptr && slot->stage == TaskStage::kBinding) return "binding";
  return "pending";
}

}  // namespace

std::string NameOf(const GangRecord& gang) {
  if (!gang.spec) return gang.ref.name;
  const std::string& display = gang.spec->display;
  const size_t slash = display.find('/');
  return slash == std::string::npos ? display : display.substr(slash + 1);
}

std::vector<QueueOverview> Overview::Queues() const {
  std::vector<QueueOverview> queues;
  const std::vector<std::string>& names = s_.kinds.names();
  for (const auto& [name, object] : s_.queues.all()) {
    QueueOverview& queue = queues.emplace_back();
    queue.name = name;
    queue.parent = object.parent;
    queue.closed = object.closed;
    queue.held = object.held;
    queue.refused = s_.queues.WhyRefused(name);
    queue.counts = s_.tally.Of(name);
    queue.quotas = object.quotas;
    const Resources used = s_.link.scheduler().QueueUsage(name);
    for (ResourceKind kind = 0; kind < names.size(); ++kind) {
      if (used[kind] > 0) {
        queue.used[names[kind]] =
            s_.kinds.ToThousandths(names[kind], used[kind]);
      }
    }
  }
  return queues;
}

GangOverview Overview::Describe(const GangRecord& gang) const {
  GangOverview overview{.kind = KindOf(gang.ref),
                        .namespace_name = gang.ref.namespace_name,
                        .name = NameOf(gang),
                        .queue = gang.told.queue,
                        .phase = "unknown",
                        .priority_class = gang.told.priority_class,
                        .counts = gang.counted,
                        .message = gang.why};
  if (gang.spec) {
    overview.min_pods = gang.spec->min_pods;
    overview.submitted = gang.spec->submitted;
    if (overview.queue.empty()) overview.queue = gang.spec->queue;
  }
  if (gang.told.key.empty()) return overview;
  const auto why = s_.link.scheduler().Explain(gang.told.key);
  if (!why.ok()) return overview;
  overview.phase = std::string(Name(why->phase));
  if (why->phase != GangPhase::kWaiting) {
    overview.message.clear();
  } else if (gang.told.held) {
    overview.reason = std::string(Name(ReasonCode::kHeld));
    overview.message = gang.told.held_why;
  } else if (why->reason.code != ReasonCode::kNone) {
    overview.reason = std::string(Name(why->reason.code));
    overview.message = ToMessage(why->reason, s_.kinds);
  }
  return overview;
}

std::vector<GangOverview> Overview::Gangs(const std::string& namespace_name,
                                          size_t* all) const {
  struct Entry {
    bool runs;
    Time submitted;
    const GangRecord* gang;
  };
  std::vector<Entry> entries;
  for (const GangRecord* gang : s_.gangs.all()) {
    if (!namespace_name.empty() && gang->ref.namespace_name != namespace_name) {
      continue;
    }
    if (gang->empty()) continue;
    entries.push_back({gang->counted.running_pods > 0,
                       gang->spec ? gang->spec->submitted : 0, gang});
  }
  std::ranges::sort(entries, {}, [](const Entry& entry) {
    return std::tie(entry.runs, entry.submitted, entry.gang->ref);
  });
  if (all != nullptr) *all = entries.size();
  if (entries.size() > kMostGangs) entries.resize(kMostGangs);
  std::vector<GangOverview> gangs;
  gangs.reserve(entries.size());
  for (const Entry& entry : entries) gangs.push_back(Describe(*entry.gang));
  return gangs;
}

absl::StatusOr<const GangRecord*> Overview::Find(
    const std::string& namespace_name, const std::string& group,
    const std::string& pod) const {
  const GangRecord* found = nullptr;
  for (const GangRecord* gang : s_.gangs.all()) {
    if (gang->ref.namespace_name != namespace_name) continue;
    const bool is_it =
        pod.empty()
            ? NameOf(*gang) == group
            : std::ranges::any_of(gang->members(), [&](const auto& member) {
                return member.second.pod->ref.name == pod;
              });
    if (!is_it) continue;
    // A pod by itself gives way to a group of its name.
    if (found != nullptr && found->ref.kind != GroupKind::kPod) {
      return absl::FailedPreconditionError(
          absl::StrCat("several objects of namespace '", namespace_name,
                       "' are called '", group, "': ask for one of its pods"));
    }
    found = gang;
  }
  if (found == nullptr) {
    return absl::NotFoundError(absl::StrCat(
        pod.empty() ? "group '" : "pod '", pod.empty() ? group : pod,
        "' of namespace '", namespace_name, "' is not known to the scheduler"));
  }
  return found;
}

absl::StatusOr<GangExplanation> Overview::Explain(
    const std::string& namespace_name, const std::string& group,
    const std::string& pod) const {
  const auto gang = Find(namespace_name, group, pod);
  if (!gang.ok()) return gang.status();
  GangExplanation explanation{.gang = Describe(**gang)};
  if (!(*gang)->told.key.empty()) {
    const auto why = s_.link.scheduler().Explain((*gang)->told.key);
    if (why.ok()) explanation.ahead = why->ahead;
  }
  for (const auto& [uid, member] : (*gang)->members()) {
    const PodRecord& record = *member.pod;
    explanation.pods.push_back({record.ref.name, record.node,
                                PhaseOf(record, (*gang)->SlotOf(member))});
  }
  std::ranges::sort(explanation.pods, {}, &PodOverview::name);
  explanation.all_pods = explanation.pods.size();
  if (explanation.pods.size() > kMostPods) explanation.pods.resize(kMostPods);
  return explanation;
}

absl::StatusOr<std::string> Overview::KeyOf(const std::string& namespace_name,
                                            const std::string& group) const {
  const auto gang = Find(namespace_name, group, "");
  if (!gang.ok()) return gang.status();
  if ((*gang)->told.key.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("group '", group, "' is not scheduled: ", (*gang)->why));
  }
  return (*gang)->told.key;
}

}  // namespace muster::kubernetes
