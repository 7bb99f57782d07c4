// A scenario played to a scheduler.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/muster.h"
#include "test/conformance/translation.h"

namespace muster::conformance {

// What became of a pod, in the words of the scenarios.
struct UnitOutcome {
  std::string state;
  std::string node;
  uint32_t alternative = 0;
  friend bool operator==(const UnitOutcome&, const UnitOutcome&) = default;
};

// A gang that the last pass asked to stop, wholly or in part, and for whom.
struct Eviction {
  std::string gang;
  std::string on_behalf_of;
  ReasonCode reason = ReasonCode::kNone;
};

// When a gang that waits is looked at again.
enum class Wait {
  kNone,         // It does not wait: it has tasks somewhere.
  kForRelease,   // It is nominated, and looked at in each pass.
  kNextPass,     // Then or at a time that is set, though nothing changes.
  kUntilChange,  // Not before something changes.
};

// The host of one scheduler: tells it the scenario, makes passes, and carries
// out what they decide. A host that does not decide makes passes in which
// nothing happens.
class Session {
 public:
  // The translation must outlive the session. UNIMPLEMENTED where the library
  // does not support something yet; any other error is a refusal of what it
  // should have taken.
  static absl::StatusOr<Session> Open(const Translation& translation,
                                      bool decides);

  void Pass();
  // Between passes: what was asked for has been done. Pods that were stopping
  // are gone, unless their gang's stay.
  absl::Status CarryOut();

  // Of each unit, after the last pass.
  const std::vector<UnitOutcome>& outcomes() const { return outcomes_; }
  int64_t placed() const { return placed_; }  // In the last pass.
  const std::vector<Eviction>& evictions() const { return evictions_; }
  // Unset: it is not known to the scheduler, or the host makes no passes.
  std::optional<ReasonCode> WhyWaits(const std::string& gang) const;
  // Why this gang would wait in the place of the one with its key, which waits;
  // kNone: it would start. Unset: as above, or it would be refused.
  std::optional<ReasonCode> WhyWouldWait(const Gang& gang) const;
  // By its key, which the translation has.
  Wait WaitOf(const std::string& gang) const;
  // What the queue and all below it hold, with what is nominated and without
  // what is being released; and what it was before the last pass.
  Resources QueueUsage(const std::string& queue) const;
  Resources QueueUsageBefore(const std::string& queue) const;
  // Whole devices of the node that are free, and that will be.
  std::optional<int64_t> IdleDevices(const std::string& node) const;
  std::optional<int64_t> ReleasingDevices(const std::string& node) const;

 private:
  Session(const Translation& translation, bool decides, Scheduler scheduler);

  absl::Status Report();
  absl::Status ReportGangs();
  void Observe();
  UnitOutcome Of(size_t unit, const std::optional<GangState>& gang);
  Wait WaitOfClass(const std::string& gang) const;
  std::optional<int64_t> WholeDevices(const std::string& node,
                                      Ledger ledger) const;

  const Translation* t_;
  bool decides_;
  Scheduler scheduler_;
  Plan plan_;
  Time now_;
  int passes_ = 0;
  std::vector<bool> refused_;  // By gang.
  std::vector<bool> stopped_;  // By unit: it ran, and was made to stop.
  std::vector<UnitOutcome> outcomes_;
  std::vector<Eviction> evictions_;
  std::map<std::string, Resources> usage_before_;  // By queue.
  int64_t placed_ = 0;
};

}  // namespace muster::conformance
