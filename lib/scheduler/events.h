// What each event does to the state.
#ifndef MUSTER_LIB_SCHEDULER_EVENTS_H_
#define MUSTER_LIB_SCHEDULER_EVENTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/scheduler/core.h"
#include "lib/scheduler/holdings.h"
#include "lib/scheduler/life.h"
#include "muster/event.h"
#include "muster/scheduler.h"

namespace muster {

// What events work with.
struct EventContext {
  explicit EventContext(Core& c) : core(c) {}

  Core& core;
  Life life{core};
  Holdings holdings{core};
  ReconcileReport report{};  // Of the last Reconciled.
};

// NOT_FOUND where there is no such gang.
absl::StatusOr<GangIndex> GangNamed(const Core& core, std::string_view key);

// The node sets that its tasks are bound to.
std::vector<std::string> NodeSetsOf(const Gang& gang);

// One function an event: checks it, then changes the state; an error names the
// field and leaves the state as it was. Core::now is the event's time. What
// happened is collected in Core::opener; whoever applies the event publishes
// it.

// node_events.cc
absl::Status Take(EventContext& context, const NodeChanged& e);
absl::Status Take(EventContext& context, const NodeDown& e);
absl::Status Take(EventContext& context, const NodeUp& e);
absl::Status Take(EventContext& context, const NodeRemoved& e);
absl::Status Take(EventContext& context, const NodeDrained& e);
absl::Status Take(EventContext& context, const SpotNotice& e);
absl::Status Take(EventContext& context, const OthersChanged& e);
absl::Status Take(EventContext& context, const NodeSetChanged& e);
absl::Status Take(EventContext& context, const NodeSetRemoved& e);
// tenant_events.cc
absl::Status Take(EventContext& context, const QueueChanged& e);
absl::Status Take(EventContext& context, const QueueRemoved& e);
absl::Status Take(EventContext& context, const PriorityClassChanged& e);
absl::Status Take(EventContext& context, const PriorityClassRemoved& e);
absl::Status Take(EventContext& context, const BudgetChanged& e);
// gang_events.cc
absl::Status Take(EventContext& context, const GangSubmitted& e);
absl::Status Submit(EventContext& context, const Gang& gang,
                    bool even_if_closed);
absl::Status Take(EventContext& context, const GangChanged& e);
absl::Status Take(EventContext& context, const GangMoved& e);
absl::Status Take(EventContext& context, const GangHeld& e);
absl::Status Take(EventContext& context, const GangReprioritized& e);
absl::Status Take(EventContext& context, const GangCancelled& e);
absl::Status Take(EventContext& context, const GangFinished& e);
absl::Status Take(EventContext& context, const GangYielded& e);
absl::Status Take(EventContext& context, const CheckpointTaken& e);
// answer_events.cc
absl::Status Take(EventContext& context, const TasksAnswered& e);
absl::Status Take(EventContext& context, const DecisionApplied& e);
absl::Status Take(EventContext& context, const DecisionRefused& e);
// reconcile.cc
absl::Status Take(EventContext& context, const Reconciled& e);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_EVENTS_H_
