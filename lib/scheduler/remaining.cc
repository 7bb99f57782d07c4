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

void Remaining::Shrink() {
  Gang& gang = part_.gang;
  std::vector<bool> held(gang.roles.size());
  for (const Assignment& a : fixed_) held[a.task.role] = true;
  std::vector<uint32_t> done(gang.groups.size(), 0);
  for (size_t i = 0; i < gang.roles.size(); ++i) {
    Role& role = gang.roles[i];
    const uint32_t finished = finished_[i];
    // A role that is done counts where it is a matter of how many children do.
    if (finished >= std::max(role.min_tasks, 1u) && !held[i]) {
      ++done[role.group];
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
  const Satisfaction without(spec_.gang(), finished_);
  std::vector<bool> waived(gang.groups.size());
  for (uint32_t g = 0; g < gang.groups.size(); ++g) {
    Group& group = gang.groups[g];
    waived[g] = without.satisfied[g] != 0 || (g > 0 && waived[group.parent]);
    if (waived[g] ||
        (group.min_children > 0 && group.min_children <= done[g])) {
      waived[g] = true;
      Waive(g);
    } else if (group.min_children > 0) {
      group.min_children -= done[g];
    }
  }
}

// Of the group's children none is needed.
void Remaining::Waive(uint32_t group) {
  part_.gang.groups[group].min_children = 0;
  for (Role& role : part_.gang.roles) {
    if (role.group == group) role.min_tasks = 0;
  }
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
