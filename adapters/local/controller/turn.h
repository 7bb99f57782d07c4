// What follows from a turn: what is to be kept, done and told.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/model/task_key.h"
#include "adapters/local/model/turn_save.h"
#include "adapters/local/model/umask.h"
#include "muster/device.h"
#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/workload/rendezvous.h"
#include "muster/workload/task_template.h"

namespace muster::local {

enum class CommandKind : uint8_t {
  // Start the task, unless its folder shows that it was started: then as
  // kAdopt. Answers: TaskStarted or TaskReady, or TaskExited.
  kStart,
  // It was started before the restart of the program: take it over. Answers:
  // as of kStart, or TaskLost.
  kAdopt,
  // Ask it to stop, and force it when `grace` is over. Answer: TaskExited.
  kStop,
  // Force it at once. Answer: likewise.
  kKill,
  // Stop it where it is, with its memory, and let it go on. Answers:
  // TaskSuspended, TaskResumed.
  kSuspend,
  kResume,
  // Ask it to save its work as `version` within `grace`. Answer:
  // CheckpointDone.
  kCheckpoint,
  // Tell it that its job has start.size tasks now. No answer.
  kResize,
  // Bind its processes to start.cpus from now on. No answer.
  kBind,
  // Remove the folders of all tasks of task.job. No answer.
  kCleanUp,
};
MUSTER_ENUM_NAMES(CommandKind, "start", "adopt", "stop", "kill", "suspend",
                  "resume", "checkpoint", "resize", "bind", "clean-up");

// What a task is started with.
struct TaskStart {
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::string name{};  // "JOB-ROLE-INDEX", as the kind has it.
  // The whole environment is in launch.env: that of the submission, what the
  // rendezvous and the manifest set, and MUSTER_*; launch.from_host is to be
  // added where it has no such name. launch.argv is empty only with an image
  // whose own command is to run. A script is one of launch.files, which are
  // written before the start; their paths are absolute and below the job's
  // folder.
  workload::TaskLaunch launch{};
  // So many of launch.env, the first ones, are of the submission alone: what
  // secrets and config maps have comes before them.
  uint32_t inherited = 0;
  uint32_t umask = kDefaultUmask;
  uint32_t size = 0;        // Tasks of its job.
  std::string directory{};  // Absolute.
  // Absolute; empty: the file "output" or "error" in the task's folder. Equal:
  // one file for both.
  std::string output{};
  std::string error{};
  bool input = false;   // Its standard input can be written to.
  std::string image{};  // Empty: the host's own file system.
  // launch.argv are arguments of the image's own command.
  bool image_command = false;
  // A directory of the host that is in the image, too: that of the submission,
  // if the task runs in it. Empty: none.
  std::string image_directory{};
  std::vector<workload::Volume> volumes{};
  std::vector<workload::Mount> mounts{};
  // What it holds of the node's devices: for CUDA_VISIBLE_DEVICES.
  std::vector<DeviceShare> devices{};
  int64_t cpu_milli = 0;  // 0: nothing was asked for, likewise memory.
  int64_t memory_bytes = 0;
  // The CPUs that it runs on, by the kernel's numbers, ascending; none: any.
  std::vector<uint32_t> cpus{};
};

struct TaskCommand {
  CommandKind kind = CommandKind::kStart;
  TaskKey task{};
  TaskStart start{};     // Of kStart; of kResize and kBind as said.
  Duration grace = 0;    // Of kStop and kCheckpoint.
  uint32_t version = 0;  // Of kCheckpoint.
};

// For those who follow a job.
struct JobNews {
  uint64_t job = 0;
  // One word, of: "submitted", "queued", "started", "preempted", "restarting",
  // "checkpointing", "checkpoint", "stopping", "suspended", "resumed", "held",
  // "released", "changed", "succeeded", "failed", "cancelled".
  std::string_view what{};
  std::string text{};  // For people; may be empty.
};

// Whether it is kept for as long as the job is: what the job's rows do not
// tell. Pure; O(1).
bool IsKept(const JobNews& news);

struct Turn {
  // First to be kept, then:
  TurnSave save{};
  // to be done, in this order,
  std::vector<TaskCommand> commands{};
  // and told.
  std::vector<JobNews> news{};
  // When Step is due though nothing happens; kForever: not.
  Time wake_at = kForever;
  // And when by the wall clock, for calendars.
  Time wake_at_wall = kForever;
};

}  // namespace muster::local
