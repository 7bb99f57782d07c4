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
  std::optional<ReasonCode> WhyWaits(const std::string& gang) const;
  // Whole devices of the node that are free, and that will be.
  std::optional<int64_t> IdleDevices(const std::string& node) const;
  std::optional<int64_t> ReleasingDevices(const std::string& node) const;

 private:
  Session(const Translation& translation, bool decides, Scheduler scheduler);

  absl::Status Report();
  absl::Status ReportGangs();
  void Observe();
  UnitOutcome Of(size_t unit, const std::optional<GangState>& gang);
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
  int64_t placed_ = 0;
};

}  // namespace muster::conformance
