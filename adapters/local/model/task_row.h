// One attempt of a task as it is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/model/task_key.h"
#include "muster/ids.h"

namespace muster::local {

// A value.
struct TaskRow {
  TaskKey key{};
  std::string node{};
  std::vector<uint32_t> devices{};  // Indexes of the node's devices.
  // What is wanted of it, or has become of it: "start", "run", "stop",
  // "suspended" or "ended".
  std::string state{};
  Time started = kForever;  // kForever: not yet; likewise `ended`.
  Time ended = kForever;
  std::optional<int32_t> code{};  // Its exit code, once it has ended.
  std::string reason{};

  friend bool operator==(const TaskRow&, const TaskRow&) = default;
};

}  // namespace muster::local
