// What each event does to the state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/scheduler/scheduler_tables.h"
#include "muster/event.h"

namespace muster {

// NOT_FOUND where there is no such gang.
absl::StatusOr<GangIndex> GangNamed(const SchedulerTables& tables,
                                    std::string_view key);

// The node sets that its tasks are bound to.
std::vector<std::string> NodeSetsOf(const Gang& gang);

// One function an event: checks it, then changes the state; an error names the
// field and leaves the state as it was. SchedulerTables::now is the event's
// time. What happened is collected in SchedulerTables::activator; the caller
// that applies the event publishes it.

// node_events.cc
absl::Status Take(SchedulerTables& tables, const NodeChanged& e);
absl::Status Take(SchedulerTables& tables, const NodeDown& e);
absl::Status Take(SchedulerTables& tables, const NodeUp& e);
absl::Status Take(SchedulerTables& tables, const NodeRemoved& e);
absl::Status Take(SchedulerTables& tables, const NodeDrained& e);
absl::Status Take(SchedulerTables& tables, const SpotNotice& e);
absl::Status Take(SchedulerTables& tables, const ExternalUsageChanged& e);
absl::Status Take(SchedulerTables& tables, const NodeSetChanged& e);
absl::Status Take(SchedulerTables& tables, const NodeSetRemoved& e);
// tenant_events.cc
absl::Status Take(SchedulerTables& tables, const QueueChanged& e);
absl::Status Take(SchedulerTables& tables, const QueueRemoved& e);
absl::Status Take(SchedulerTables& tables, const PriorityClassChanged& e);
absl::Status Take(SchedulerTables& tables, const PriorityClassRemoved& e);
absl::Status Take(SchedulerTables& tables, const DisruptionBudgetChanged& e);
// gang_events.cc
absl::Status Take(SchedulerTables& tables, const GangSubmitted& e);
absl::Status Submit(SchedulerTables& tables, const Gang& gang,
                    bool even_if_closed);
absl::Status Take(SchedulerTables& tables, const GangChanged& e);
absl::Status Take(SchedulerTables& tables, const GangMoved& e);
absl::Status Take(SchedulerTables& tables, const GangHeld& e);
absl::Status Take(SchedulerTables& tables, const GangReprioritized& e);
absl::Status Take(SchedulerTables& tables, const GangCancelled& e);
absl::Status Take(SchedulerTables& tables, const GangFinished& e);
absl::Status Take(SchedulerTables& tables, const GangYielded& e);
absl::Status Take(SchedulerTables& tables, const CheckpointTaken& e);
// answer_events.cc
absl::Status Take(SchedulerTables& tables, const TasksAnswered& e);
absl::Status Take(SchedulerTables& tables, const DecisionApplied& e);
absl::Status Take(SchedulerTables& tables, const DecisionRefused& e);
// reconcile.cc
absl::Status Take(SchedulerTables& tables, const Reconciled& e);

}  // namespace muster
