// JobEditor: jobs that are there become others.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/job_change.h"
#include "adapters/local/controller/job_requests.h"
#include "adapters/local/controller/life_driver.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/submitter.h"

namespace muster::local {

// As Controller has them. Not synchronised.
class JobEditor {
 public:
  // None is owned.
  JobEditor(ControllerState* state, LifeDriver* lives, Submitter* submitter,
            JobRequests* requests)
      : s_(*state),
        lives_(*lives),
        submitter_(*submitter),
        requests_(*requests) {}

  absl::Status Edit(uint64_t job, const JobChange& change);
  absl::StatusOr<EditableJob> Read(uint64_t job) const;

 private:
  // As it was submitted, without its edits.
  absl::StatusOr<std::shared_ptr<const workload::Job>> SubmittedJob(
      const JobRecord& record) const;
  absl::Status CheckTime(const JobRecord& record,
                         const JobChange& change) const;
  // The row that it would have.
  absl::StatusOr<JobRow> RowOf(const JobRecord& record,
                               const JobChange& change) const;
  // Its life and gang by this row; the record is as it was if it cannot be.
  absl::Status Become(JobRecord* record, JobRow row);
  absl::Status TellGang(JobRecord* record, const JobRow& before);

  ControllerState& s_;
  LifeDriver& lives_;
  Submitter& submitter_;
  JobRequests& requests_;
};

}  // namespace muster::local
