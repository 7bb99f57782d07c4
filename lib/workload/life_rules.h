// What Step looks up in a job, made once.
#ifndef MUSTER_LIB_WORKLOAD_LIFE_RULES_H_
#define MUSTER_LIB_WORKLOAD_LIFE_RULES_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "muster/workload/life.h"

namespace muster::workload {

struct LifeRules {
  explicit LifeRules(Job of);

  Job job{};
  // Position of each role's first task and group; a last entry has the number
  // of all.
  std::vector<uint32_t> first_task{};
  std::vector<uint32_t> first_group{};
  std::vector<uint32_t> role_of_task{};
  // Roles that start after this one; positions of success rules that count it.
  std::vector<std::vector<uint32_t>> followers{};
  std::vector<std::vector<uint32_t>> rules_of_role{};
  RestartUnit unit = RestartUnit::kTask;
  // Tasks take any place of their role, and what has succeeded stays so.
  bool pooled = false;
  // A task that has succeeded keeps its place: it may start anew with others.
  bool keeps_places = false;

  TaskId IdOf(uint32_t task) const {
    const uint32_t role = role_of_task[task];
    return {role, task - first_task[role]};
  }
  // Places of a role.
  uint32_t Places(uint32_t role) const {
    return pooled ? job.roles[role].replicas : job.roles[role].max_replicas;
  }
  uint32_t GroupOf(TaskId id) const {
    const uint32_t size = job.roles[id.role].group_size;
    return first_group[id.role] + (size > 0 ? id.index / size : 0);
  }
};

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_LIFE_RULES_H_
