// Which attempt of which task.
#pragma once

#include <compare>
#include <cstdint>

namespace muster::local {

// A value; ordered by job, role, index, attempt.
struct TaskKey {
  uint64_t job = 0;      // JobRow::id
  uint32_t role = 0;     // Position in workload::Job::roles.
  uint32_t index = 0;    // In the role.
  uint32_t attempt = 0;  // From 1; workload::TaskState::attempt.

  friend auto operator<=>(const TaskKey&, const TaskKey&) = default;
};

}  // namespace muster::local
