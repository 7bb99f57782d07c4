// Checks of what a host hands in. Each error names the field and what is
// allowed; what passes can be used without further checks, but for those that
// need the state (what is known, how much there is in all).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/config.h"
#include "muster/event.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/plan.h"
#include "muster/resources.h"
#include "muster/state.h"

namespace muster {

// Every value in it, by itself: its fields are within their bounds (bounds.h),
// its enums have values, and what it says fits together (rules.h). O(size).
absl::Status ValidateConfig(const SchedulerConfig& config);
// Of a valid one: whether it may take the place of `before` (ConfigChanged).
absl::Status ValidateReconfig(const SchedulerConfig& before,
                              const SchedulerConfig& config);
absl::Status ValidateEvent(const SchedulerConfig& config, const Event& event);
absl::Status ValidateNode(const SchedulerConfig& config, const Node& node);
absl::Status ValidateNodeSet(const SchedulerConfig& config, const NodeSet& set);
absl::Status ValidateGang(const SchedulerConfig& config, const Gang& gang);
absl::Status ValidateState(const SchedulerState& state);
absl::Status ValidatePlan(const SchedulerConfig& config,
                          const PlanRecord& plan);
// A time that a host tells.
bool IsTime(Time time);

// With these nodes beside what others have, the cluster has no more than
// Resources::kMaxTotal of each kind.
absl::Status ValidateTotal(const SchedulerConfig& config, Resources others,
                           std::span<const Node> nodes);

// The start wave of each role: 0 for those that wait for none. An error if
// start_after names no role or has a cycle.
absl::StatusOr<std::vector<uint32_t>> StartWaves(const Gang& gang);

}  // namespace muster
