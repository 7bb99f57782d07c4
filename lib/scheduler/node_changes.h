// Changes of nodes, and what they do to the tasks there.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/scheduler/node_records.h"
#include "lib/scheduler/scheduler_tables.h"
#include "muster/node.h"

namespace muster {

// NOT_FOUND where there is no such node.
absl::StatusOr<NodeIndex> NodeNamed(const SchedulerTables& tables,
                                    std::string_view key);
// The devices are there.
absl::Status ValidateDevices(const std::string& field, const Node& node,
                             const ExternalUsage& usage);

// With these values of the node, which may be new, the cluster has no more
// nodes and capacity than can be counted.
absl::Status CheckTotals(const SchedulerConfig& config, const Cluster& cluster,
                         const Node& node);

// Adds or changes a valid node. What is charged on it is taken off while its
// devices change and put back after, since shares depend on the devices.
// False, and nothing happens, if it is the same.
bool UpsertNode(SchedulerTables& tables, const Node& node);
// The host said something else of the node: `change` puts it into the facts,
// whose `unnamed` is settled anew. Nothing happens if they are the same.
void ChangeFacts(SchedulerTables& tables, NodeIndex n,
                 const std::function<void(NodeRecords::Facts&)>& change);
// Which devices its tasks have has changed: others may have other unnamed ones
// than recorded. O(1) if they have none, else O(tasks on the node), times the
// logarithm if they have some that tasks have, too.
void SettleUnnamed(SchedulerTables& tables, NodeIndex n);
// The node is gone, after its tasks. It is down, so that no class counts
// on it any more: that activates nothing.
void RemoveNode(SchedulerTables& tables, NodeIndex n);
// Every task on the node is gone; its gangs are to be repaired.
void LoseTasksOn(SchedulerTables& tables, NodeIndex n);
// Gangs with a task that must leave the node are flagged, or lose their
// nomination.
void FlagGangsOn(SchedulerTables& tables, NodeIndex n);

}  // namespace muster
