// LifeDriver: lives of jobs, step by step, and what they ask for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/launch_maker.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/task_driver.h"
#include "adapters/local/model/task_key.h"
#include "muster/workload/life_event.h"

namespace muster::local {

// Not synchronised.
class LifeDriver {
 public:
  // None is owned.
  LifeDriver(ControllerState* state, TaskDriver* tasks, LaunchMaker* launches)
      : s_(*state), tasks_(*tasks), launches_(*launches) {}

  // A step of the job's life, and what follows of it. An error is Life::Step's,
  // and the state as it was. O(what changes).
  absl::Status Tell(JobRecord* job, const workload::LifeEvent& event);
  // It must not be refused: if it is, that is a defect.
  void MustTell(JobRecord* job, const workload::LifeEvent& event);
  // Nothing of this attempt runs any more, if it was alive.
  void TaskEnded(const TaskKey& key, int32_t code, workload::ExitReason reason);
  // What is due by now.
  void PassTime();
  // What was brought besides: tasks that end and were never launched, jobs that
  // cannot wait for places. A step of a life does so by itself.
  void Settle();

  // The gang is told to the scheduler, if it does not know it. The error says
  // why it cannot be.
  absl::Status Reserve(JobRecord* job);
  // The gang is other: its sizes, queue or class.
  absl::Status ChangeGang(JobRecord* job);
  // Whether the job is held, if the scheduler knows it.
  void TellHeld(const JobRecord& job);
  // The job is to be gone, for this reason.
  void Delete(JobRecord* job, std::string_view reason);
  // The job cannot be understood any more: it has failed.
  void Abandon(JobRecord* job, const absl::Status& why);

 private:
  void Do(JobRecord* job, const workload::Action& action, bool anew);
  void Free(JobRecord* job, const workload::Action& action);
  void Release(const JobRecord& job, GangOutcome outcome);
  void Resize(JobRecord* job, uint32_t role, uint32_t size);
  void Note(JobRecord* job, const workload::LifeEvent& event,
            workload::LifePhase before, const workload::LifeOutput& output);
  // The element has ended: another one of its array may have places.
  void LetInNext(const JobRow& element);
  void NotePhase(JobRecord* job, const workload::LifeEvent& event);
  void NoteEnd(JobRecord* job, const workload::LifeEvent& event);
  ControllerState& s_;
  TaskDriver& tasks_;
  LaunchMaker& launches_;
  // By the scheduler, and why: they are to go.
  std::vector<std::pair<uint64_t, std::string>> refused_;
  bool settling_ = false;
};

}  // namespace muster::local
