// Events about nodes.
#include <algorithm>

#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

void PutNodeSet(SchedulerTables& tables, const NodeSet& set) {
  tables.cluster.SetNodeSet(set);
  tables.node_sets[set.key] = set;
}

void EraseNodeSet(SchedulerTables& tables, const std::string& key) {
  tables.cluster.RemoveNodeSet(key);
  tables.node_sets.erase(key);
}

}  // namespace

absl::Status Take(SchedulerTables& tables, const NodeChanged& e) {
  MUSTER_RETURN_IF_ERROR(CheckTotals(tables.config, tables.cluster, e.node));
  UpsertNode(tables, e.node);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const NodeDown& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(tables, e.node));
  ChangeFacts(tables, n, [](auto& facts) { facts.down = true; });
  LoseTasksOn(tables, n);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const NodeUp& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(tables, e.node));
  ChangeFacts(tables, n, [](NodeRecords::Facts& facts) {
    facts.down = false;
    facts.spot_notice = kForever;
  });
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const NodeRemoved& e) {
  MUSTER_RETURN_IF_ERROR(Take(tables, NodeDown{e.node}));
  RemoveNode(tables, tables.cluster.Find(e.node).index);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const NodeDrained& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(tables, e.node));
  ChangeFacts(tables, n, [&](auto& facts) { facts.draining = e.drain; });
  if (e.drain) FlagGangsOn(tables, n);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const SpotNotice& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(tables, e.node));
  ChangeFacts(tables, n, [&](auto& facts) { facts.spot_notice = e.at; });
  FlagGangsOn(tables, n);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const ExternalUsageChanged& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(tables, e.usage.node));
  MUSTER_RETURN_IF_ERROR(
      ValidateDevices("usage of", tables.cluster.node(n), e.usage));
  ChangeFacts(tables, n, [&](auto& facts) { facts.external = e.usage; });
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const NodeSetChanged& e) {
  NodeSet set = e.set;
  std::ranges::sort(set.nodes);
  const auto repeated = std::ranges::unique(set.nodes);
  set.nodes.erase(repeated.begin(), repeated.end());
  const auto known = tables.node_sets.find(set.key);
  const bool is_new = known == tables.node_sets.end();
  if (!is_new && known->second == set) return absl::OkStatus();
  const NodeSet old = is_new ? NodeSet{.key = set.key} : known->second;
  tables.undo.Changed([&tables, old, is_new] {
    is_new ? EraseNodeSet(tables, old.key) : PutNodeSet(tables, old);
  });
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(old.nodes, set.nodes,
                                        std::back_inserter(changed));
  PutNodeSet(tables, set);
  for (const std::string& key : changed) {
    const NodeId node = tables.cluster.Find(key);
    if (node.valid()) tables.activator.RoomFreed(node.index);
  }
  tables.activator.StructureChanged();
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const NodeSetRemoved& e) {
  const auto known = tables.node_sets.find(e.set);
  if (known == tables.node_sets.end()) {
    return NotFound("node set '", e.set, "' is not known");
  }
  for (const GangIndex g : tables.gangs.Positions()) {
    if (std::ranges::count(NodeSetsOf(tables.SpecOf(g).gang()), e.set) > 0) {
      return NotNow("node set '", e.set, "' is named by gang '",
                    tables.gangs.at(g).key, "'");
    }
  }
  tables.undo.Changed(
      [&tables, old = known->second] { PutNodeSet(tables, old); });
  EraseNodeSet(tables, e.set);
  return absl::OkStatus();
}

}  // namespace muster
