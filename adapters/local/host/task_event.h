// TaskEvent: what has become of a task.
#pragma once

#include <cstdint>

#include "adapters/local/model/task_key.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// A value.
struct TaskEvent {
  enum class Kind : uint8_t {
    kRuns,
    kExited,
    kLost,
    kSuspended,
    kResumed,
    kCheckpoint,  // It has said that its work is saved.
  };
  Kind kind = Kind::kRuns;
  TaskKey task{};
  // Of kExited.
  int32_t code = 0;
  workload::ExitReason reason = workload::ExitReason::kExited;
  uint32_t version = 0;  // Of kCheckpoint: what it was asked for last; 0: none.
};

}  // namespace muster::local
