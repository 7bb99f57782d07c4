// Restorer: a Controller's state, made again of rows.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/task_driver.h"
#include "adapters/local/model/stored_state.h"
#include "muster/state.h"

namespace muster::local {

// Not synchronised.
class Restorer {
 public:
  // Neither is owned. The state has its scheduler, and no jobs.
  Restorer(ControllerState* state, TaskDriver* tasks)
      : s_(*state), tasks_(*tasks) {}

  // DATA_LOSS as Controller::Restore. Jobs that wait are not read.
  absl::Status Restore(StoredState stored);

 private:
  absl::Status AddJob(JobRow row);
  absl::Status AddGang(const GangState& gang);
  // Jobs that need places and have no gang, or the other way round.
  void DropCpus(JobRecord* job);
  absl::Status CheckGangs(const SchedulerState& state) const;
  void RestoreCrons(StoredState* stored);
  void AskAgain(const SchedulerState& state);

  ControllerState& s_;
  TaskDriver& tasks_;
};

}  // namespace muster::local
