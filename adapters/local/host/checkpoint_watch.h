// CheckpointWatch: learns when jobs have touched the file by which they say
// that their work is saved.
#pragma once

#include <map>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/model/task_key.h"

namespace muster::local {

// Not synchronised. By inotify: nothing is polled.
class CheckpointWatch {
 public:
  static absl::StatusOr<CheckpointWatch> Create();
  CheckpointWatch(CheckpointWatch&& other) noexcept;
  CheckpointWatch& operator=(CheckpointWatch&& other) noexcept;
  ~CheckpointWatch();

  // Can be read when Take has something to give.
  int fd() const { return fd_; }

  // The file is there. Of the task no other one is watched any more; nothing
  // happens if it is this one. O(log n).
  absl::Status Add(const TaskKey& task, const std::string& file);
  void Remove(const TaskKey& task);

  // Tasks whose file was touched or written since the last call, each once, in
  // their order.
  std::set<TaskKey> Take();

 private:
  explicit CheckpointWatch(int fd) : fd_(fd) {}

  int fd_;
  std::map<int, TaskKey> tasks_{};  // By watch.
  std::map<TaskKey, int> watches_{};
};

}  // namespace muster::local
