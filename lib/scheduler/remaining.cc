#include "lib/scheduler/remaining.h"

#include <algorithm>

namespace muster {

Remaining::Remaining(const GangRecord& r, const GangSpec& spec)
    : record_(r), spec_(spec) {
  HeldTasks(r, &fixed_);
  whole_ = spec.sliced || !HasTask(r, TaskPhase::kSucceeded);
  if (whole_) return;
  finished_.assign(spec.gang().roles.size(), 0);
  for (const TaskRecord& task : r.tasks) {
    finished_[task.task.role] += task.phase == TaskPhase::kSucceeded;
  }
  part_ = spec.prepared;
  Shrink();
  std::vector<uint32_t> next(finished_.size(), 0);
  for (Assignment& a : fixed_) a.task.index = next[a.task.role]++;
}

// Of each group, how many roles are done.
void Remaining::CountFinished(std::vector<uint32_t>* done) {
  Gang& gang = part_.gang;
  for (size_t i = 0; i < gang.roles.size(); ++i) {
    Role& role = gang.roles[i];
    const uint32_t finished = finished_[i];
    // A role that is done counts where it is a matter of how many children do.
    if (finished >= std::max(role.min_tasks, 1u) && !held_[i]) {
      ++(*done)[role.group];
      role.desired_tasks = finished;
    }
    role.min_tasks -= std::min(role.min_tasks, finished);
    role.desired_tasks -= std::min(role.desired_tasks, finished);
    for (uint32_t g = role.group;; g = gang.groups[g].parent) {
      uint32_t& least = gang.groups[g].min_tasks;
      least -= std::min(least, finished);
      if (g == 0) break;
    }
  }
}

void Remaining::Shrink() {
  Gang& gang = part_.gang;
  held_.assign(gang.roles.size(), false);
  for (const Assignment& a : fixed_) held_[a.task.role] = true;
  std::vector<uint32_t> done(gang.groups.size(), 0);
  CountFinished(&done);
  const Satisfaction without(spec_.gang(), finished_);
  std::vector<bool> waived(gang.groups.size());
  for (uint32_t g = 0; g < gang.groups.size(); ++g) {
    Group& group = gang.groups[g];
    const bool satisfied =
        without.satisfied[g] != 0 ||
        (group.min_children > 0 && group.min_children <= done[g]);
    const bool optional = g > 0 && waived[group.parent];
    waived[g] = satisfied || optional;
    if (optional && !satisfied) LeaveOut(g);
    if (waived[g]) {
      Waive(g);
    } else if (group.min_children > 0) {
      group.min_children -= done[g];
    }
  }
}

// Of the group's children none is needed. A role that needs several tasks does
// not come any more: growth would add one alone.
void Remaining::Waive(uint32_t group) {
  part_.gang.groups[group].min_children = 0;
  for (size_t i = 0; i < held_.size(); ++i) {
    Role& role = part_.gang.roles[i];
    if (role.group != group) continue;
    if (role.min_tasks > 1 && !held_[i]) role.desired_tasks = 0;
    role.min_tasks = 0;
  }
}

// Likewise a group that is not needed, does not run and needs several tasks.
void Remaining::LeaveOut(uint32_t group) {
  std::vector<Role>& roles = part_.gang.roles;
  uint32_t needs = 0;
  for (size_t i = 0; i < roles.size(); ++i) {
    if (!IsWithin(roles[i].group, group)) continue;
    if (held_[i]) return;
    needs += roles[i].min_tasks;
  }
  if (needs <= 1) return;
  for (Role& role : roles) {
    if (IsWithin(role.group, group)) role.desired_tasks = role.min_tasks = 0;
  }
}

bool Remaining::IsWithin(uint32_t group, uint32_t above) const {
  while (group != above && group != 0) group = part_.gang.groups[group].parent;
  return group == above;
}

void Remaining::Rename(std::vector<Assignment>* placed) const {
  if (whole_) return;
  std::vector<uint32_t> next(finished_.size(), 0);
  for (Assignment& a : *placed) {
    uint32_t& index = next[a.task.role];
    while (FindTask(record_, {a.task.role, index}) != nullptr) ++index;
    a.task.index = index++;
  }
}

}  // namespace muster
