// QueueOrder: the order in which a user's own jobs wait.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/job_change.h"
#include "adapters/local/controller/job_record.h"
#include "adapters/local/controller/state.h"

namespace muster::local {

// The scheduler orders the gangs of a queue by priority, then by the time of
// their submission, then by their key. Jobs that change their order exchange
// these times: the n-th of them is never before where the n-th was, so that no
// other user's job is overtaken. Not synchronised.
class QueueOrder {
 public:
  // Not owned.
  explicit QueueOrder(ControllerState* state) : s_(*state) {}

  // As Controller::Reorder.
  absl::Status Put(uint64_t job, MoveTo place, uint64_t other);

 private:
  // The job, if it only waits. NOT_FOUND; FAILED_PRECONDITION.
  absl::StatusOr<JobRecord*> Waiting(uint64_t job) const;
  // It, and those it can change places with, in their order. O(jobs).
  std::vector<JobRecord*> PeersOf(const JobRecord& job) const;
  void SetPlace(JobRecord* job, Time place);

  ControllerState& s_;
};

}  // namespace muster::local
