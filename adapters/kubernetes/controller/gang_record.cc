#include "adapters/kubernetes/controller/gang_record.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "adapters/translate/priorities.h"

namespace muster::kubernetes {
namespace {

// In the order in which pods get tasks: by their number, then by age.
auto Rank(const PodRecord& pod) {
  return std::tie(pod.index, pod.created, pod.ref.name, pod.ref.uid);
}

// Null: none.
bool SameSpreads(const std::vector<PodSpread>* a,
                 const std::vector<PodSpread>* b) {
  return a == b || (a != nullptr && b != nullptr && *a == *b);
}

}  // namespace

void GangRecord::Detach(const std::string& uid) {
  const auto it = members_.find(uid);
  if (it == members_.end() || !it->second.task) return;
  SlotOf(*it->second.task)->pod = nullptr;
  it->second.task.reset();
}

void GangRecord::Remove(const std::string& uid) {
  Detach(uid);
  members_.erase(uid);
  reported_to.erase(uid);
}

std::string GangRecord::WhyNot() const {
  if (spec && !spec->error.empty()) return spec->error;
  for (const auto& [uid, member] : members_) {
    if (member.pod->runs()) continue;
    if (!member.pod->error.empty()) return member.pod->error;
  }
  return "";
}

std::string GangRecord::Refusal() const {
  for (const auto& [uid, member] : members_) {
    if (!member.pod->refused.empty()) return member.pod->refused;
  }
  return "";
}

bool GangRecord::LoseNode(const std::string& node) {
  bool lost = false;
  ForEachSlot([&](TaskSlot& slot) {
    if (!slot.placed() || slot.node != node) return;
    slot.stage = TaskStage::kWaiting;
    lost = true;
  });
  return lost;
}

bool GangRecord::placed() const {
  for (const RoleSlots& role : roles_) {
    for (const TaskSlot& slot : role.slots) {
      if (slot.placed()) return true;
    }
  }
  return false;
}

bool GangRecord::HasPods() const {
  return std::ranges::any_of(members_, [](const auto& member) {
    return member.second.task.has_value();
  });
}

TaskSlot* GangRecord::SlotOf(TaskId task) {
  if (task.role >= roles_.size()) return nullptr;
  std::vector<TaskSlot>& slots = roles_[task.role].slots;
  return task.index < slots.size() ? &slots[task.index] : nullptr;
}

TaskSlot* GangRecord::SlotOf(const std::string& uid) {
  const std::optional<TaskId> task = TaskOf(uid);
  return task ? SlotOf(*task) : nullptr;
}

std::optional<TaskId> GangRecord::TaskOf(const std::string& uid) const {
  const auto it = members_.find(uid);
  return it == members_.end() ? std::nullopt : it->second.task;
}

void GangRecord::TakeSlot(GangMember* member) {
  const PodRecord& pod = *member->pod;
  const bool known =
      spec && FindSubgroup(*spec, pod.subgroup) < spec->subgroups.size();
  const std::string subgroup = known ? pod.subgroup : "";
  auto role = std::ranges::find_if(roles_, [&](const RoleSlots& r) {
    return r.subgroup == subgroup &&
           (r.model == pod.role || *r.model == *pod.role) &&
           SameSpreads(r.spreads.get(), pod.spreads.get());
  });
  if (role == roles_.end()) {
    if (roles_.size() > Gang::kMaxRoles) return;  // The gang is refused.
    roles_.push_back({.model = pod.role,
                      .spreads = pod.spreads,
                      .subgroup = subgroup,
                      .slots = {}});
    role = std::prev(roles_.end());
  }
  std::vector<TaskSlot>& slots = role->slots;
  const auto lacks_pod = [](const TaskSlot& slot) {
    return slot.pod == nullptr && (slot.stage == TaskStage::kAwaited ||
                                   slot.stage == TaskStage::kWaiting);
  };
  auto slot = slots.end();
  if (pod.index && *pod.index < slots.size() && lacks_pod(slots[*pod.index])) {
    slot = slots.begin() + *pod.index;
  } else {
    slot = std::find_if(slots.begin() + role->searched, slots.end(), lacks_pod);
    role->searched = slot - slots.begin();
  }
  if (slot == slots.end()) {
    slots.emplace_back();
    slot = std::prev(slots.end());
  }
  slot->pod = member->pod;
  member->task = {static_cast<uint32_t>(role - roles_.begin()),
                  static_cast<uint32_t>(slot - slots.begin())};
}

void GangRecord::ReadMinimum() {
  if (!spec || !spec->by_pods) return;
  std::optional<uint32_t> most;
  bool any = false, valid = true;
  for (const auto& [uid, member] : members_) {
    const PodRecord& pod = *member.pod;
    if (pod.deleting || pod.end != PodRecord::End::kNone) continue;
    any = true;
    if (!pod.min_pods) continue;
    valid &= *pod.min_pods > 0;
    most = std::max(most.value_or(1), *pod.min_pods);
  }
  if (!any) return;
  spec->min_pods = most.value_or(1);
  spec->error.clear();
  if (!valid) {
    spec->error =
        absl::StrCat("metadata.annotations[", MinPodsAnnotation(ref.kind),
                     "]: expected a number of pods, 1 to ", Gang::kMaxTasks);
  } else if (!most && ref.kind == GroupKind::kMusterGroup) {
    spec->error = absl::StrCat(Describe(ref), " is not there");
  }
}

bool GangRecord::Owns(const PodRecord& pod) const {
  return pod.group_uid.empty() || !spec || pod.group_uid == spec->key;
}

void GangRecord::MakeRoles(bool bound_too) {
  ReadMinimum();
  if (!placed()) {
    roles_.clear();
    for (auto& [uid, member] : members_) member.task.reset();
  }
  std::vector<GangMember*> fresh;
  for (auto& [uid, member] : members_) {
    const PodRecord& pod = *member.pod;
    if (member.task || !Owns(pod)) continue;
    const bool runs = bound_too && pod.runs() && pod.role != nullptr;
    if (pod.waits() || runs) fresh.push_back(&member);
  }
  std::ranges::sort(fresh, {},
                    [](const GangMember* m) { return Rank(*m->pod); });
  for (RoleSlots& role : roles_) role.searched = 0;
  for (GangMember* member : fresh) TakeSlot(member);
}

std::string GangRecord::WhyNotWith(const PodRecord& pod) const {
  if (!pod.error.empty()) return pod.error;
  if (ref.kind == GroupKind::kMusterGroup && !pod.subgroup.empty() &&
      FindSubgroup(*spec, pod.subgroup) == spec->subgroups.size()) {
    return absl::StrCat("metadata.labels[", kSubgroupLabel,
                        "]: ", Describe(ref), " has no group '", pod.subgroup,
                        "'");
  }
  if (spec->priority && *spec->priority != pod.priority) {
    return absl::StrCat("spec.priority: its pods have ", pod.priority, ", and ",
                        Describe(ref), " has ", *spec->priority);
  }
  if (!spec->priority_class.empty() &&
      spec->priority_class != pod.priority_class) {
    return absl::StrCat("spec.priorityClassName: its pods have '",
                        pod.priority_class, "', and ", Describe(ref), " has '",
                        spec->priority_class, "'");
  }
  return "";
}

// What the pods of a gang amount to.
struct GangRecord::Summary {
  GangTally tally{};
  std::vector<size_t> subgroup_of{};  // By role.
  const PodRecord* lead = nullptr;    // The first of those with a task.
  int64_t priority = std::numeric_limits<int64_t>::max();
  bool may_preempt = true;
  std::string held_why{};
};

GangRecord::Summary GangRecord::Summarise() const {
  Summary sum{.may_preempt = spec->may_preempt};
  sum.tally.placed = placed();
  sum.tally.subgroups.resize(spec->subgroups.size() + 1);
  for (const RoleSlots& role : roles_) {
    const size_t s = FindSubgroup(*spec, role.subgroup);
    sum.subgroup_of.push_back(s);
    for (PodTally* tally : {&sum.tally.all, &sum.tally.subgroups[s]}) {
      tally->tasks += static_cast<uint32_t>(role.slots.size());
      for (const TaskSlot& slot : role.slots) {
        const bool stays = slot.placed() && slot.stage != TaskStage::kStopping;
        tally->placed += stays ? 1 : 0;
      }
    }
  }
  for (const auto& [uid, member] : members_) {
    const PodRecord& pod = *member.pod;
    if (!Owns(pod)) continue;
    // Another scheduler may have bound it.
    const bool counts =
        (pod.runs() && !pod.deleting) || pod.end == PodRecord::End::kSucceeded;
    if (counts && !member.task) {
      ++sum.tally.all.finished;
      ++sum.tally.subgroups[FindSubgroup(*spec, pod.subgroup)].finished;
    }
    if (member.task) {
      if (sum.lead == nullptr || Rank(pod) < Rank(*sum.lead)) sum.lead = &pod;
      sum.priority = std::min(sum.priority, pod.priority);
      sum.may_preempt &= pod.may_preempt && pod.refused.empty();
    }
    if (sum.held_why.empty()) sum.held_why = WhyNotWith(pod);
  }
  if (!spec->error.empty()) sum.held_why = spec->error;
  return sum;
}

uint32_t GangRecord::Needed() const {
  if (spec->subgroups.empty()) {
    return PodsNeeded(*spec, Summarise().tally.all);
  }
  // Any of those that have places may be one that its subgroup needs.
  uint32_t with_place = 0;
  for (const RoleSlots& role : roles_) {
    for (const TaskSlot& slot : role.slots) {
      with_place += slot.placed() || slot.stage == TaskStage::kDone ? 1 : 0;
    }
  }
  return with_place;
}

void GangRecord::Reassign(const std::string& uid) {
  const std::optional<TaskId> task = TaskOf(uid);
  if (!task) return;
  Detach(uid);
  // What nobody needs any more; those before it keep their numbers.
  std::vector<TaskSlot>& slots = roles_[task->role].slots;
  if (task->index + 1 == slots.size()) slots.pop_back();
}

Gang GangRecord::ToGang(PriorityClass* priority_class) const {
  Gang gang;
  if (!spec || roles_.empty()) return gang;
  const Summary sum = Summarise();
  // A gang that is known stays the same one when its object comes.
  gang.key = told.key.empty() ? spec->key : told.key;
  gang.queue = spec->queue;
  gang.submitted = spec->submitted + arrival;
  gang.display = spec->display;
  gang.user = ref.namespace_name;
  gang.held_why = sum.held_why;
  if (!spec->has_controller) gang.on_preempted = OnPreempted::kCancel;
  if (ref.kind != GroupKind::kPod) {
    gang.groups.push_back({.topology = spec->topology});
  }
  gang.roles.reserve(roles_.size());
  for (size_t r = 0; r < roles_.size(); ++r) {
    Role& role = gang.roles.emplace_back(*roles_[r].model);
    role.name = absl::StrCat("r", r);
    role.desired_tasks = static_cast<uint32_t>(roles_[r].slots.size());
  }
  if (sum.lead == nullptr) {  // Its pods are awaited.
    gang.queue = told.queue;
    gang.priority_class = told.priority_class;
  } else {
    if (gang.queue.empty()) gang.queue = sum.lead->queue;
    const auto made = translate::ToPriorityClass(sum.priority, sum.may_preempt);
    if (made.ok()) *priority_class = *made;
    gang.priority_class = priority_class->key;
  }
  RequirePods(*spec, sum.tally, sum.subgroup_of, &gang);
  gang.held = !gang.held_why.empty();
  for (Role& role : gang.roles) {
    if (role.desired_tasks > 0) continue;
    // No pod of it is left, and roles behind it have places: they keep theirs,
    // and this one is for no node.
    role.desired_tasks = 1;
    role.shape.selector.any_of = {NoNode()};
  }
  return gang;
}

}  // namespace muster::kubernetes
