// Controller: all that musterd knows and decides. It does no I/O: what happens
// is told, and what follows is in the Turn that Step returns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/job_change.h"
#include "adapters/local/controller/options.h"
#include "adapters/local/controller/submission.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/controller/views.h"
#include "adapters/local/model/stored_state.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/scheduler.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// One turn of its host's loop: all requests and observations are told; Step;
// Turn::save is kept as a whole; then requests are answered and the commands
// carried out. Where keeping fails, the Controller is thrown away with the
// turn, and another restored from what was kept before.
//
// Equal calls, equal turns. Times are nanoseconds since 1970; one before an
// earlier one counts as that one. Not synchronised: one thread at a time.
//
// What is told of a task that is not known, or has ended, changes nothing: it
// may be told late, and twice. The same holds for commands: a host that carries
// one out twice does no harm.
class Controller {
 public:
  // With no job. INVALID_ARGUMENT names the field of the configuration.
  static absl::StatusOr<std::unique_ptr<Controller>> Begin(
      ControllerConfig config, Time now);
  // After a restart, from what of all turns was kept; tasks that have ended may
  // be left out, and jobs that have finished change nothing. The node, the
  // queues and the classes are those of `config` from then on; a queue or class
  // that it does not name stays while it is there. The first Step tells again
  // what is wanted of each task that is alive: kStart, or kAdopt and what it
  // was asked to do. DATA_LOSS: the rows contradict each other, and which;
  // errors as of Begin. O(jobs), and the price of reading the journal; jobs
  // that wait are read when they are needed.
  static absl::StatusOr<std::unique_ptr<Controller>> Restore(
      ControllerConfig config, StoredState stored, Time now);
  ~Controller();

  // --- Requests --------------------------------------------------------------
  // Who may ask is the caller's business. NOT_FOUND: there is no such job, or
  // it has finished.

  // All jobs of the submission, or none. INVALID_ARGUMENT and UNIMPLEMENTED
  // name the field; RESOURCE_EXHAUSTED: a limit. O(jobs x their size).
  absl::StatusOr<SubmitResult> Submit(const Submission& submission, Time now);
  // What Submit would say, and what would become of its jobs now, each alone.
  // Changes nothing. The price of a pass, and at worst of a copy of the
  // scheduler.
  absl::StatusOr<ForecastResult> WhatIf(const Submission& submission, Time now);

  // Its tasks are stopped and it is gone: phase "forgotten", code 143.
  absl::Status Cancel(uint64_t job, Time now);
  // It is not started until it is released; if it runs it goes on, and waits
  // when it has been preempted.
  absl::Status Hold(uint64_t job, Time now);
  // Undoes Hold, and the hold or suspension that it was submitted with.
  absl::Status Release(uint64_t job, Time now);
  // A class, or an integer. INVALID_ARGUMENT: there is no such class.
  // PERMISSION_DENIED: the integer is above all classes, which is not for who
  // is `bounded`.
  absl::Status Reprioritize(uint64_t job, std::string_view priority, Time now,
                            bool bounded = false);
  // Into another queue. INVALID_ARGUMENT: there is no such queue;
  // FAILED_PRECONDITION: it is closed.
  absl::Status Move(uint64_t job, std::string_view queue, Time now);
  // So many tasks of a role of an elastic job; empty: its only role that is
  // elastic. FAILED_PRECONDITION for a job of one size.
  absl::Status Resize(uint64_t job, std::string_view role, uint32_t size,
                      Time now);
  // All that the change has, or nothing. A job that only waits becomes another,
  // in its place. Of one that runs, name, queue, priority and time limit change
  // at once: FAILED_PRECONDITION for the rest, PERMISSION_DENIED for a limit
  // that would be raised and may not, and a priority as above. INVALID_ARGUMENT
  // names the field. O(its size).
  absl::Status Edit(uint64_t job, const JobChange& change, Time now);
  // Before Edit: what it is. NOT_FOUND as above.
  absl::StatusOr<EditableJob> Editable(uint64_t job);
  // The job goes before or after `other`, or all, of its user's jobs that wait
  // in its queue with its priority; these places among all others' stay what
  // they were. FAILED_PRECONDITION: one of both is none of them. O(jobs).
  absl::Status Reorder(uint64_t job, MoveTo place, uint64_t other, Time now);
  // Saves its work if it can, stops, and holds nothing until it is resumed.
  absl::Status Suspend(uint64_t job, Time now);
  absl::Status Resume(uint64_t job, Time now);

  // Calendars. NOT_FOUND: there is no such one. While one is suspended, its
  // times are left out; the jobs of one that is removed go on.
  absl::Status SuspendCron(uint64_t cron, Time now);
  absl::Status ResumeCron(uint64_t cron, Time now);
  absl::Status RemoveCron(uint64_t cron, Time now);

  // Takes a device of the node, or the whole node, out of service: no task
  // starts there, what runs goes on. row.since is set here. INVALID_ARGUMENT:
  // there is no such device.
  absl::Status Drain(DrainRow row, Time now);
  // The device is in service again; without one, the node with all its devices.
  // FAILED_PRECONDITION: the device is not drained.
  absl::Status ResumeNode(std::optional<uint32_t> device, Time now);

  // --- Observations ----------------------------------------------------------

  // What the wall clock tells, which calendars follow; it may have been set.
  // Where nobody tells it, it tells as much as `now`.
  void WallClock(Time wall);
  // Its process runs; and it is ready. A host that knows nothing of readiness
  // tells the second alone.
  void TaskStarted(const TaskKey& task, Time now);
  void TaskReady(const TaskKey& task, Time now);
  // Nothing of it runs any more. `code`: 0..255, of kExited.
  void TaskExited(const TaskKey& task, int32_t code,
                  workload::ExitReason reason, Time now);
  // Nobody knows what became of it: TaskExited, kLost.
  void TaskLost(const TaskKey& task, Time now);
  void TaskSuspended(const TaskKey& task, Time now);
  void TaskResumed(const TaskKey& task, Time now);
  // The work up to now is saved. `version`: of the last request that the job
  // had; it may be an older one, or 0, where it has saved of its own accord.
  void CheckpointDone(uint64_t job, uint32_t version, Time now);
  // What others use of the node. INVALID_ARGUMENT names the field.
  absl::Status OthersUse(const ExternalUsage& usage, Time now);
  // The node has other devices or another capacity; its key stays.
  // INVALID_ARGUMENT names the field.
  absl::Status NodeChanged(const Node& node, Time now);

  // --- The turn --------------------------------------------------------------

  // What follows from all that was told, and from the time.
  Turn Step(Time now);

  // --- Reading ---------------------------------------------------------------
  // Pointers are valid until the next call that is not const.

  // Jobs that have not finished, by id, and those that have since the last
  // Step. Their manifest, environment and endpoints are left empty: Details.
  // O(jobs).
  std::vector<const JobRow*> Jobs() const;
  // Likewise; null: there is none. O(log jobs).
  const JobRow* Find(uint64_t job) const;
  // NOT_FOUND as above. O(its size).
  absl::StatusOr<JobDetails> Details(uint64_t job);
  // NOT_FOUND as above. O(log jobs).
  absl::StatusOr<JobExplanation> Explain(uint64_t job);
  // O(jobs).
  NodeView ViewNode() const;
  // By key. O(queues + jobs).
  std::vector<QueueView> Queues() const;
  Numbers Count() const;
  // By id. O(calendars x days up to their next times).
  std::vector<CronView> Crons() const;
  // Whose it is; nothing: there is none. O(log calendars).
  std::optional<uint32_t> OwnerOfCron(uint64_t cron) const;

  const ControllerConfig& config() const;
  const Scheduler& scheduler() const;
  // What cannot be, unless this program has a defect; the first hundred.
  const std::vector<std::string>& defects() const;

 private:
  struct Rooms;
  explicit Controller(std::unique_ptr<Rooms> rooms);

  std::unique_ptr<Rooms> rooms_;
};

}  // namespace muster::local
