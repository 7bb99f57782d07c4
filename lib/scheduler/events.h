// What each event does to the state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/scheduler/core.h"
#include "muster/event.h"

namespace muster {

// NOT_FOUND where there is no such gang.
absl::StatusOr<GangIndex> GangNamed(const Core& core, std::string_view key);

// The node sets that its tasks are bound to.
std::vector<std::string> NodeSetsOf(const Gang& gang);

// One function an event: checks it, then changes the state; an error names the
// field and leaves the state as it was. Core::now is the event's time. What
// happened is collected in Core::opener; the caller that applies the event
// publishes it.

// node_events.cc
absl::Status Take(Core& core, const NodeChanged& e);
absl::Status Take(Core& core, const NodeDown& e);
absl::Status Take(Core& core, const NodeUp& e);
absl::Status Take(Core& core, const NodeRemoved& e);
absl::Status Take(Core& core, const NodeDrained& e);
absl::Status Take(Core& core, const SpotNotice& e);
absl::Status Take(Core& core, const OthersChanged& e);
absl::Status Take(Core& core, const NodeSetChanged& e);
absl::Status Take(Core& core, const NodeSetRemoved& e);
// tenant_events.cc
absl::Status Take(Core& core, const QueueChanged& e);
absl::Status Take(Core& core, const QueueRemoved& e);
absl::Status Take(Core& core, const PriorityClassChanged& e);
absl::Status Take(Core& core, const PriorityClassRemoved& e);
absl::Status Take(Core& core, const DisruptionBudgetChanged& e);
// gang_events.cc
absl::Status Take(Core& core, const GangSubmitted& e);
absl::Status Submit(Core& core, const Gang& gang, bool even_if_closed);
absl::Status Take(Core& core, const GangChanged& e);
absl::Status Take(Core& core, const GangMoved& e);
absl::Status Take(Core& core, const GangHeld& e);
absl::Status Take(Core& core, const GangReprioritized& e);
absl::Status Take(Core& core, const GangCancelled& e);
absl::Status Take(Core& core, const GangFinished& e);
absl::Status Take(Core& core, const GangYielded& e);
absl::Status Take(Core& core, const CheckpointTaken& e);
// answer_events.cc
absl::Status Take(Core& core, const TasksAnswered& e);
absl::Status Take(Core& core, const DecisionApplied& e);
absl::Status Take(Core& core, const DecisionRefused& e);
// reconcile.cc
absl::Status Take(Core& core, const Reconciled& e);

}  // namespace muster
