// Submitter: what people submit, as jobs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/life_driver.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/submission.h"
#include "muster/event.h"
#include "muster/priority_class.h"
#include "muster/workload/parse.h"

namespace muster::local {

// Not synchronised.
class Submitter {
 public:
  // Neither is owned.
  Submitter(ControllerState* state, LifeDriver* lives)
      : s_(*state), lives_(*lives) {}

  // As Controller has them.
  absl::StatusOr<SubmitResult> Submit(const Submission& submission);
  absl::StatusOr<ForecastResult> WhatIf(const Submission& submission);

  // The class by this name, or of this value; there may be none yet.
  // INVALID_ARGUMENT: it is neither.
  // `bounded`: an integer above the values of all classes is refused.
  absl::StatusOr<PriorityClass> ClassOf(const std::string& priority,
                                        bool bounded) const;

 private:
  struct Draft {
    std::vector<std::unique_ptr<JobRecord>> jobs;
    std::vector<std::pair<CronRow, workload::CronPolicy>> crons;
    std::vector<PriorityClass> classes;  // That the scheduler does not know.
    std::vector<workload::IgnoredField> ignored;
    std::vector<std::string> notes;
  };
  // The jobs, which are nowhere yet; of each array `elements` at most. With a
  // calendar, its first job is among them, to be looked at.
  absl::StatusOr<Draft> Read(const Submission& submission, size_t elements);
  absl::Status CheckLimits(const Submission& submission) const;
  absl::Status AddJobs(const Submission& submission,
                       const workload::ParsedJob& parsed, uint32_t document,
                       size_t elements, const JobRow& like, Draft* draft);
  absl::Status SetClass(const Submission& submission, const workload::Job& job,
                        JobRow* row, Draft* draft) const;
  static CronRow MakeCron(const Submission& submission,
                          const workload::ParsedJob& parsed, uint32_t document);
  absl::Status LeaveCronsJobs(Draft* draft) const;
  void AddNotes(const workload::ParsedJob& parsed, Draft* draft) const;
  // Makes the scheduler know the gangs, all or none.
  absl::Status ReserveAll(const Draft& draft);
  absl::StatusOr<Forecast> Foresee(const JobRecord& job,
                                   std::vector<Event> events);
  absl::Status ForeseeWaiting(const std::vector<Event>& events,
                              const std::string& gang,
                              Forecast* forecast) const;

  ControllerState& s_;
  LifeDriver& lives_;
};

}  // namespace muster::local
