// JobRequests: what people ask of jobs that are there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/controller/life_driver.h"
#include "adapters/local/controller/state.h"
#include "adapters/local/controller/submitter.h"

namespace muster::local {

// All as Controller has them. Not synchronised.
class JobRequests {
 public:
  // None is owned.
  JobRequests(ControllerState* state, LifeDriver* lives, Submitter* submitter)
      : s_(*state), lives_(*lives), submitter_(*submitter) {}

  absl::Status Cancel(uint64_t job);
  absl::Status Hold(uint64_t job);
  absl::Status Release(uint64_t job);
  absl::Status Reprioritize(uint64_t job, const std::string& priority,
                            bool bounded);
  absl::Status Move(uint64_t job, const std::string& queue);
  absl::Status Resize(uint64_t job, std::string_view role, uint32_t size);
  absl::Status Suspend(uint64_t job);
  absl::Status Resume(uint64_t job);

  // The job, if it has not finished. NOT_FOUND.
  absl::StatusOr<JobRecord*> Find(uint64_t job) const;

 private:
  void SetHeld(JobRecord* job, bool held);
  absl::Status LetGoOn(JobRecord* job);

  ControllerState& s_;
  LifeDriver& lives_;
  Submitter& submitter_;
};

}  // namespace muster::local
