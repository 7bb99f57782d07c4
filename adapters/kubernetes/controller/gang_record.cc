#include "adapters/kubernetes/controller/gang_record.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/model/translate_pod.h"
#include "adapters/translate/gang_builder.h"
#include "adapters/translate/priorities.h"

namespace muster::kubernetes {
namespace {

// In the order in which pods get tasks: by their number, then by age.
auto Rank(const PodRecord& pod) {
  return std::tie(pod.index, pod.created, pod.ref.name, pod.ref.uid);
}

uint32_t Count(const std::vector<RoleSlots>& roles) {
  size_t count = 0;
  for (const RoleSlots& role : roles) count += role.slots.size();
  return static_cast<uint32_t>(count);
}

}  // namespace

void GangRecord::Detach(const std::string& uid) {
  const auto it = members_.find(uid);
  if (it == members_.end() || !it->second) return;
  SlotOf(*it->second)->pod.clear();
  it->second.reset();
}

void GangRecord::Remove(const std::string& uid) {
  Detach(uid);
  members_.erase(uid);
  reported_to.erase(uid);
}

std::string GangRecord::WhyNot(const Pods& pods) const {
  if (spec && !spec->error.empty()) return spec->error;
  for (const auto& [uid, task] : members_) {
    const auto it = pods.find(uid);
    if (it == pods.end() || it->second.runs()) continue;
    if (!it->second.error.empty()) return it->second.error;
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
  return std::ranges::any_of(
      members_, [](const auto& member) { return member.second.has_value(); });
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
  return it == members_.end() ? std::nullopt : it->second;
}

void GangRecord::TakeSlot(const std::string& uid, const PodRecord& pod) {
  auto role = std::ranges::find_if(
      roles_, [&](const RoleSlots& r) { return *r.model == *pod.role; });
  if (role == roles_.end()) {
    roles_.push_back({.model = pod.role, .slots = {}});
    role = std::prev(roles_.end());
  }
  std::vector<TaskSlot>& slots = role->slots;
  const auto lacks_pod = [](const TaskSlot& slot) {
    return slot.pod.empty() && (slot.stage == TaskStage::kAwaited ||
                                slot.stage == TaskStage::kWaiting);
  };
  auto slot = slots.end();
  if (pod.index && *pod.index < slots.size() && lacks_pod(slots[*pod.index])) {
    slot = slots.begin() + *pod.index;
  } else {
    slot = std::ranges::find_if(slots, lacks_pod);
  }
  if (slot == slots.end()) {
    slots.emplace_back();
    slot = std::prev(slots.end());
  }
  slot->pod = uid;
  members_[uid] = {static_cast<uint32_t>(role - roles_.begin()),
                   static_cast<uint32_t>(slot - slots.begin())};
}

void GangRecord::MakeRoles(const Pods& pods, bool bound_too) {
  if (!placed()) {
    roles_.clear();
    for (auto& [uid, task] : members_) task.reset();
  }
  std::vector<const PodRecord*> fresh;
  for (const auto& [uid, task] : members_) {
    const auto it = pods.find(uid);
    if (task || it == pods.end()) continue;
    const PodRecord& pod = it->second;
    const bool runs = bound_too && pod.runs() && pod.role != nullptr;
    if (pod.waits() || runs) fresh.push_back(&pod);
  }
  std::ranges::sort(fresh, {}, [](const PodRecord* pod) { return Rank(*pod); });
  for (const PodRecord* pod : fresh) TakeSlot(pod->ref.uid, *pod);
}

uint32_t GangRecord::Needed(const Pods& pods) const {
  uint32_t finished = 0;
  for (const auto& [uid, task] : members_) {
    const auto it = pods.find(uid);
    if (it == pods.end() || task) continue;
    const PodRecord& pod = it->second;
    // Another scheduler may have bound it.
    const bool counts = pod.runs() || pod.end == PodRecord::End::kSucceeded;
    if (counts) ++finished;
  }
  // Those that are through already are not needed again.
  return spec->min_pods > finished ? spec->min_pods - finished : 1;
}

void GangRecord::Reassign(const std::string& uid) {
  const std::optional<TaskId> task = TaskOf(uid);
  if (!task) return;
  Detach(uid);
  // What nobody needs any more; those before it keep their numbers.
  std::vector<TaskSlot>& slots = roles_[task->role].slots;
  if (task->index + 1 == slots.size()) slots.pop_back();
}

Gang GangRecord::ToGang(const Pods& pods, PriorityClass* priority_class) const {
  Gang gang;
  if (!spec || roles_.empty()) return gang;
  gang.key = spec->key;
  gang.queue = spec->queue;
  gang.submitted = spec->submitted + arrival;
  gang.display = spec->display;
  gang.user = ref.namespace_name;
  if (!spec->has_controller) gang.on_preempted = OnPreempted::kCancel;
  if (ref.kind != GroupKind::kPod) {
    gang.groups.push_back({.topology = spec->topology});
  }
  const PodRecord* lead = nullptr;
  int64_t priority = std::numeric_limits<int64_t>::max();
  bool may_preempt = true;
  for (const auto& [uid, task] : members_) {
    const auto it = pods.find(uid);
    if (it == pods.end()) continue;
    const PodRecord& pod = it->second;
    if (task) {
      if (lead == nullptr || Rank(pod) < Rank(*lead)) lead = &pod;
      priority = std::min(priority, pod.priority);
      may_preempt &= pod.may_preempt;
    }
    if (gang.held_why.empty()) gang.held_why = pod.error;
  }
  for (size_t r = 0; r < roles_.size(); ++r) {
    Role& role = gang.roles.emplace_back(*roles_[r].model);
    role.name = absl::StrCat("r", r);
    role.desired_tasks = static_cast<uint32_t>(roles_[r].slots.size());
  }
  if (lead == nullptr) {  // Its pods are awaited.
    gang.queue = told.queue;
    gang.priority_class = told.priority_class;
  } else {
    if (gang.queue.empty()) gang.queue = lead->queue;
    const auto made = translate::ToPriorityClass(priority, may_preempt);
    if (made.ok()) *priority_class = *made;
    gang.priority_class = priority_class->key;
  }
  const uint32_t tasks = Count(roles_);
  const uint32_t minimum = Needed(pods);
  if (!placed() && tasks < minimum && gang.held_why.empty()) {
    gang.held_why = absl::StrCat(tasks + spec->min_pods - minimum, " of ",
                                 spec->min_pods, kPodsLack);
  }
  if (!spec->error.empty()) gang.held_why = spec->error;
  gang.held = !gang.held_why.empty();
  std::vector<uint32_t> all(gang.roles.size());
  std::iota(all.begin(), all.end(), 0);
  translate::RequireTasks(all, std::min(minimum, tasks), 0, &gang);
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
