// A gang as its pods make it: which task is which pod.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/kubernetes/controller/gang_minimum.h"
#include "adapters/kubernetes/controller/pod_record.h"
#include "adapters/kubernetes/controller/queue_tally.h"
#include "adapters/kubernetes/model/group.h"
#include "muster/gang.h"
#include "muster/priority_class.h"

namespace muster::kubernetes {

// What has been said about a task to the scheduler, or by it.
enum class TaskStage : uint8_t {
  kWaiting,   // It has no place.
  kAwaited,   // It has a place; a pod is awaited that is to be bound there.
  kClaiming,  // It has a place; volumes are awaited before the pod is bound.
  kBinding,   // It has a place; the pod is being bound.
  kRunning,   // The scheduler knows that it runs.
  kStopping,  // It is to stop, or somebody deletes its pod, which is there.
  kDone,      // The scheduler knows that it has succeeded.
};

struct TaskSlot {
  PodRecord* pod = nullptr;  // A member of the gang; null: none.
  TaskStage stage = TaskStage::kWaiting;
  uint32_t attempt = 0;     // Of the place it has: PlannedTask::attempt.
  std::string node{};       // Where that is.
  uint64_t decision = 0;    // That gave the place, or wants it stopped.
  Time awaited_until = 0;   // Of kAwaited and kClaiming.
  bool bind_asked = false;  // For the place that it has.

  bool placed() const {
    return stage != TaskStage::kWaiting && stage != TaskStage::kDone;
  }
};

// The tasks of like pods of a subgroup.
struct RoleSlots {
  std::shared_ptr<const Role> model{};
  std::shared_ptr<const std::vector<PodSpread>> spreads{};  // Null: none.
  std::string subgroup{};                                   // Empty: of none.
  std::vector<TaskSlot> slots{};
  size_t searched = 0;  // While roles are made: none before it lacks a pod.
};

// A pod of a gang.
struct GangMember {
  PodRecord* pod = nullptr;      // Never null; it stays where it is.
  std::optional<TaskId> task{};  // None: it has none.
};

// Not synchronised. Pods are named by UID.
class GangRecord {
 public:
  GroupRef ref{};
  std::optional<GroupSpec> spec{};  // None: its object is not known yet.
  // Which group it is of those that came in the same second, which is as exact
  // as the API server tells times. Those that were there at first have 0.
  Duration arrival = 0;
  bool has_object = false;  // One that is there, and not only its pods.
  bool gone = false;        // It was there.
  bool has_claims = false;  // One of its pods names claims of volumes.
  // While no pod of it could run: until when it is remembered.
  Time empty_until = kForever;
  // As the scheduler knows it; no key: it does not.
  Gang told{};
  Time checkpoint_told = 0;
  std::string reported{};               // Why it waits, as pods are told.
  std::set<std::string> reported_to{};  // Which of them have been told.
  std::string why{};                    // The same with its numbers.
  GangCounts counted{};                 // By QueueTally.
  // Where it stands in lists of GangBook's.
  static constexpr size_t kNoPlace = ~size_t{0};
  size_t touched_at = kNoPlace;
  size_t unreported_at = kNoPlace;
  size_t ordered_at = kNoPlace;

  // A pod of the group came. It gets a task when the roles are made: see
  // MakeRoles. O(log pods).
  void Add(PodRecord* pod) { members_.try_emplace(pod->ref.uid, pod); }
  // It is gone, and its task has no pod. O(log pods).
  void Remove(const std::string& uid);
  bool empty() const { return members_.empty(); }

  // Gives each pod that waits a task, with `bound_too` also those that run: of
  // a gang that is nowhere all anew, so that no task is without a pod; else new
  // pods take the tasks of those that are gone, or further ones. Of a group
  // that only pods tell of, the spec says afterwards what they do.
  // O(pods x log pods).
  void MakeRoles(bool bound_too = false);
  // The pod has ended, or is no more: its task has no pod.
  void Detach(const std::string& uid);

  // The gang that the scheduler is to know, and why it is held meanwhile. Its
  // priority class is that of its least important pod, so that one pod raises
  // no other. Without a key: there is nothing to schedule. O(pods).
  Gang ToGang(PriorityClass* priority_class) const;

  // So many of its tasks have to run, those aside that need not any more: pods
  // that run or have succeeded without a task. O(pods).
  uint32_t Needed() const;
  // A pod that has a task without a place is to get another task, as it asks
  // for something else. O(log pods).
  void Reassign(const std::string& uid);

  // What is wrong with a pod that waits, or with the group; "": nothing.
  // O(pods).
  std::string WhyNot() const;
  // Why a binding of it was refused, of its first such pod; "": none was.
  // O(pods).
  std::string Refusal() const;
  // The node is gone, and with it the places there. Whether there were any.
  // O(tasks).
  bool LoseNode(const std::string& node);

  // Whether a task of it has a place; whether one has a pod.
  bool placed() const;
  bool HasPods() const;
  // f(TaskSlot&) for each of its tasks. O(tasks).
  template <typename F>
  void ForEachSlot(F&& f) {
    for (RoleSlots& role : roles_) {
      for (TaskSlot& slot : role.slots) f(slot);
    }
  }
  std::vector<RoleSlots>& roles() { return roles_; }
  const std::vector<RoleSlots>& roles() const { return roles_; }
  // Null if the pod has no task, or there is no such task.
  const TaskSlot* SlotOf(const GangMember& member) const {
    return member.task ? SlotOf(*member.task) : nullptr;
  }
  TaskSlot* SlotOf(const std::string& uid);
  TaskSlot* SlotOf(TaskId task);
  const TaskSlot* SlotOf(TaskId task) const {
    return const_cast<GangRecord*>(this)->SlotOf(task);
  }
  std::optional<TaskId> TaskOf(const std::string& uid) const;
  // By UID.
  const std::map<std::string, GangMember>& members() const { return members_; }

 private:
  struct Summary;

  void TakeSlot(GangMember* member);
  // What pods say of their number.
  void ReadMinimum();
  // It is of the object that is there, not of an earlier one of that name.
  bool Owns(const PodRecord& pod) const;
  // Why the gang must not start with this pod; "": it may.
  std::string WhyNotWith(const PodRecord& pod) const;
  Summary Summarise() const;

  std::map<std::string, GangMember> members_;
  std::vector<RoleSlots> roles_;
};

}  // namespace muster::kubernetes
