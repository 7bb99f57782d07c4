// TaskRunner: carries out what the controller commands of tasks, with one shim
// for each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/host/checkpoint_watch.h"
#include "adapters/local/host/images.h"
#include "adapters/local/host/poller.h"
#include "adapters/local/host/task_cgroups.h"
#include "adapters/local/host/task_event.h"
#include "adapters/local/host/volume_places.h"
#include "adapters/local/model/task_key.h"
#include "adapters/local/shim/adoption.h"
#include "adapters/local/shim/shim.h"
#include "muster/device.h"
#include "muster/ids.h"

namespace muster::local {

struct TaskRunnerOptions {
  std::string state{};  // ControllerConfig::state.
  std::string shim{};   // The program muster-shim.
  VolumePlaces volumes{};
  Images images{};
  // CUDA_VISIBLE_DEVICES of a task that holds these.
  std::function<absl::StatusOr<std::string>(const std::vector<DeviceShare>&)>
      visible_devices{};
  TaskCgroups cgroups{};
  // local::Adopt; tests have their own.
  std::function<absl::StatusOr<Adoption>(const std::string& folder,
                                         Duration patience)>
      adopt = Adopt;
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
  // harm. Milliseconds at most.
  void CarryOut(const TaskCommand& command);
  // Shim::Send, and then Shim::EndInput with `end`, unless not all of it was
  // taken. FAILED_PRECONDITION: it does not run.
  absl::StatusOr<size_t> Send(const TaskKey& task, std::string_view bytes,
                              bool end);
  // Looks again for what is left of lost tasks, where it is time to: at first
  // soon, then less and less often, at least every kLongestDelay. And tells of
  // checkpoints whose time has come: a task that saves again and again is told
  // of every kBetweenCheckpoints, and when it is to save, at once. Their loss
  // is told when nothing of them is there any more, so that no other task gets
  // what they still use.
  void Look(Time now);
  // When Look is due; kForever: it is not.
  Time look_at() const;
  static constexpr Duration kLongestDelay = 5 * kSecond;
  static constexpr Duration kBetweenCheckpoints = kSecond;
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
    uint32_t checkpoint_told = 0;  // The request, when one was told last.
    Time tell_at = 0;              // Of the next that is of its own accord.
    // Asked of the shim; of another one, too, that turns out to have the task.
    bool suspended = false;
    std::optional<TaskCommand> stop{};
    std::optional<TaskCommand> bind{};
  };

  // Of a lost task, something is still there, or may be.
  struct Rest {
    Duration delay = 0;
    Duration waited = 0;
    Time look_at = 0;
  };

  TaskRunner(TaskRunnerOptions options, Poller* poller, CheckpointWatch watch);

  std::string FolderOf(const TaskKey& task) const;
  absl::StatusOr<Shim> LaunchTask(const TaskCommand& command,
                                  const std::string& folder);
  void Adopt(const TaskKey& task, const TaskCommand* start);
  // Of an adoption that was tried.
  void Found(const TaskKey& task, const TaskCommand* start,
             absl::StatusOr<Adoption> found);
  void Watch(const TaskKey& task);
  void Track(const TaskKey& task, Shim shim);
  // The shim was not the first in its folder: another one has the task.
  void TakeOther(const TaskKey& task);
  void Forget(const TaskKey& task);
  void Ended(const TaskKey& task, const ShimExit& exit);
  // What went wrong, unless it is OK: in the task's output.
  void TellOwner(const TaskKey& task, const absl::Status& failed);
  void NotStarted(const TaskKey& task, const absl::Status& why,
                  const TaskCommand* start = nullptr);
  void AskForCheckpoint(const TaskKey& task, Running* running,
                        uint32_t version);
  void TakeCheckpoints();
  // If it has saved its work, and that can be told now, or `now` or never.
  void TellSaved(const TaskKey& task, bool now);
  void CleanUp(uint64_t job);

  const TaskRunnerOptions options_;
  Poller* const poller_;
  CheckpointWatch watch_;
  std::map<TaskKey, Running> running_{};
  std::map<uint64_t, TaskKey> ids_{};
  std::map<TaskKey, Rest> rests_{};
  std::set<TaskKey> saved_{};  // What they have saved has not been told.
  Time now_ = 0;               // Of the last Look.
  uint64_t next_id_;
  std::vector<TaskEvent> events_{};
};

}  // namespace muster::local
