// TaskRunner: carries out what the controller commands of tasks, with one shim
// for each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/host/checkpoint_watch.h"
#include "adapters/local/host/poller.h"
#include "adapters/local/host/task_event.h"
#include "adapters/local/model/task_key.h"
#include "adapters/local/shim/adoption.h"
#include "adapters/local/shim/shim.h"
#include "muster/device.h"

namespace muster::local {

struct TaskRunnerOptions {
  std::string state{};  // ControllerConfig::state.
  std::string shim{};   // The program muster-shim.
  // CUDA_VISIBLE_DEVICES of a task that holds these.
  std::function<absl::StatusOr<std::string>(const std::vector<DeviceShare>&)>
      visible_devices{};
};

// Not synchronised. Its end leaves all tasks as they are. The poller outlives
// it; it uses ids from 2^32 on.
class TaskRunner {
 public:
  static absl::StatusOr<std::unique_ptr<TaskRunner>> Create(
      TaskRunnerOptions options, Poller* poller);
  ~TaskRunner();
  TaskRunner(const TaskRunner&) = delete;
  TaskRunner& operator=(const TaskRunner&) = delete;

  // What came of it is an event, also where it could not be done. Twice does no
  // harm. Milliseconds at most, unless the rest of a lost task is to be killed.
  void CarryOut(const TaskCommand& command);
  // The poller has given this id.
  void Ready(uint64_t id);
  // What happened since the last call, in its order.
  std::vector<TaskEvent> Take();
  // Whether Take has something to give.
  bool any() const { return !events_.empty(); }
  // Processes that are tasks' or belong to them.
  std::vector<int32_t> shims() const;

 private:
  struct Running {
    Shim shim;
    uint64_t id = 0;
    uint32_t checkpoint_asked = 0;
  };

  TaskRunner(TaskRunnerOptions options, Poller* poller, CheckpointWatch watch);

  std::string FolderOf(const TaskKey& task) const;
  absl::StatusOr<Shim> LaunchTask(const TaskCommand& command,
                                  const std::string& folder);
  void Adopt(const TaskKey& task, const TaskCommand* start);
  void Track(const TaskKey& task, Shim shim);
  void Forget(const TaskKey& task);
  void Ended(const TaskKey& task, const ShimExit& exit);
  // What went wrong, unless it is OK: in the task's output.
  void TellOwner(const TaskKey& task, const absl::Status& failed);
  void NotStarted(const TaskKey& task, const absl::Status& why);
  void AskForCheckpoint(const TaskKey& task, Running* running,
                        uint32_t version);
  void TakeCheckpoints();
  void CleanUp(uint64_t job);

  const TaskRunnerOptions options_;
  Poller* const poller_;
  CheckpointWatch watch_;
  std::map<TaskKey, Running> running_{};
  std::map<uint64_t, TaskKey> ids_{};
  uint64_t next_id_;
  std::vector<TaskEvent> events_{};
};

}  // namespace muster::local
