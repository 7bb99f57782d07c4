// Controller: decides which pod runs where. It knows no network and no clock:
// observations and answers in, requests out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/kubernetes/controller/executor.h"
#include "adapters/kubernetes/controller/gang_sync.h"
#include "adapters/kubernetes/controller/group_reporter.h"
#include "adapters/kubernetes/controller/observer.h"
#include "adapters/kubernetes/controller/options.h"
#include "adapters/kubernetes/controller/overview.h"
#include "adapters/kubernetes/controller/queue_reporter.h"
#include "adapters/kubernetes/controller/reporter.h"
#include "adapters/kubernetes/controller/requests.h"
#include "adapters/kubernetes/controller/state.h"
#include "adapters/kubernetes/controller/volume_binder.h"
#include "adapters/kubernetes/controller/what_if.h"
#include "muster/decision.h"
#include "muster/scheduler.h"

namespace muster::kubernetes {

// How much a controller remembers.
struct ControllerCounts {
  size_t pods = 0;
  size_t groups = 0;
  size_t jobs = 0;
  // PodGroups with a parent and these parents, and pods that ask for a resource
  // without a kind.
  size_t kept = 0;
  size_t roles = 0;         // RolePool::size().
  size_t in_flight = 0;     // Requests whose answers are awaited.
  size_t refused = 0;       // Groups that their queues do not take.
  size_t volume_users = 0;  // Pods with claims, whoever schedules them.
  size_t claims = 0;        // ClaimRequests::size().
  size_t counted = 0;       // Groups that their queues count.
  size_t exceeded = 0;      // Nodes on which more is in use than they have.

  friend bool operator==(const ControllerCounts&,
                         const ControllerCounts&) = default;
};

inline constexpr size_t kDecisionKinds =
    static_cast<size_t>(DecisionKind::kReserve) + 1;
using DecisionCounts = std::array<uint64_t, kDecisionKinds>;

// Equal calls give equal requests. Not synchronised. Nothing is decided before
// Synced().
class Controller {
 public:
  // INVALID_ARGUMENT names the option that is wrong.
  static absl::StatusOr<std::unique_ptr<Controller>> Create(
      ControllerOptions options);
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

  // Is told what the API server tells.
  Observer& observer() { return observer_; }

  // Every object that is there has been observed. What runs is taken over as it
  // is, however it came to run. O(nodes + pods).
  absl::Status Synced(Time now);

  // What became of a request that Step gave. Each is answered once.
  void Answer(const ApiAnswer& answer) { executor_.Answer(answer); }

  // Takes in what was observed and answered, schedules where that may decide
  // something, and appends what is to be asked of the API server.
  void Step(Time now, std::vector<ApiRequest>* requests);
  // When Step is to be called though nothing has been observed; kForever: not.
  Time next_step() const;

  // For questions; valid as long as this object.
  const Scheduler& scheduler() const { return state_.link.scheduler(); }
  Overview overview() const { return Overview(&state_); }
  const QueueTally& tally() const { return state_.tally; }
  absl::StatusOr<WhatIfAnswer> WhatIf(const WhatIfQuestion& question) {
    return kubernetes::WhatIf(question, &state_);
  }
  // O(1).
  ControllerCounts counts() const;
  // Since the beginning: decisions by DecisionKind, and passes that made them.
  const DecisionCounts& decisions() const { return decisions_; }
  uint64_t passes() const { return state_.link.passes(); }
  // Errors of the scheduler that are none of a pod's: each is a defect of this
  // library. The first hundred. For logs and tests.
  const std::vector<std::string>& defects() const {
    return state_.link.defects();
  }

 private:
  Controller(ControllerOptions options, Scheduler scheduler);

  void TellConfig();
  void TellQueues();
  void TellNodes();
  void TellBudgets();

  ControllerState state_;
  Observer observer_;
  Reporter reporter_;
  QueueReporter queue_reporter_;
  GroupReporter group_reporter_;
  Executor executor_;
  VolumeBinder volumes_;
  GangSync sync_;
  bool synced_ = false;
  DecisionCounts decisions_{};
};

}  // namespace muster::kubernetes
