// DecisionDriver: what the scheduler decides, as events in lives of jobs.
#pragma once

#include "adapters/local/controller/cpu_driver.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/life_driver.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/task_driver.h"
#include "muster/decision.h"
#include "muster/ids.h"

namespace muster::local {

// Not synchronised.
class DecisionDriver {
 public:
  // None is owned.
  DecisionDriver(ControllerState* state, LifeDriver* lives, TaskDriver* tasks,
                 CpuDriver* cpus)
      : s_(*state), lives_(*lives), tasks_(*tasks), cpus_(*cpus) {}

  // O(tasks of the decision), times the logarithm.
  void CarryOut(const DecisionRecord& decision);

 private:
  void Give(const DecisionRecord& decision, JobRecord* job);
  void Shrink(const DecisionRecord& decision, JobRecord* job);
  void Evict(const DecisionRecord& decision, JobRecord* job);
  void Cancel(const DecisionRecord& decision, JobRecord* job);
  void Suspend(const DecisionRecord& decision, JobRecord* job);
  void Resume(const DecisionRecord& decision, JobRecord* job);
  // A job that is over may have tasks that run on: those in the decision's
  // places are stopped. Their ends are the answers.
  void StopRest(const DecisionRecord& decision, JobRecord* job);
  // How long the tasks may take to stop.
  Duration Notice(const DecisionRecord& decision) const;

  ControllerState& s_;
  LifeDriver& lives_;
  TaskDriver& tasks_;
  CpuDriver& cpus_;
};

}  // namespace muster::local
