// Events about nodes.
#include <algorithm>

#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

void PutNodeSet(Core& core, const NodeSet& set) {
  core.cluster.SetNodeSet(set);
  core.node_sets[set.key] = set;
}

void EraseNodeSet(Core& core, const std::string& key) {
  core.cluster.RemoveNodeSet(key);
  core.node_sets.erase(key);
}

}  // namespace

absl::Status Take(Core& core, const NodeChanged& e) {
  MUSTER_RETURN_IF_ERROR(CheckTotals(core.config, core.cluster, e.node));
  UpsertNode(core, e.node);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const NodeDown& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core, e.node));
  ChangeFacts(core, n, [](auto& facts) { facts.down = true; });
  LoseTasksOn(core, n);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const NodeUp& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core, e.node));
  ChangeFacts(core, n, [](NodeRecords::Facts& facts) {
    facts.down = false;
    facts.spot_notice = kForever;
  });
  return absl::OkStatus();
}

absl::Status Take(Core& core, const NodeRemoved& e) {
  MUSTER_RETURN_IF_ERROR(Take(core, NodeDown{e.node}));
  RemoveNode(core, core.cluster.Find(e.node).index);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const NodeDrained& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core, e.node));
  ChangeFacts(core, n, [&](auto& facts) { facts.draining = e.drain; });
  if (e.drain) FlagGangsOn(core, n);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const SpotNotice& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core, e.node));
  ChangeFacts(core, n, [&](auto& facts) { facts.spot_notice = e.at; });
  FlagGangsOn(core, n);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const OthersChanged& e) {
  MUSTER_ASSIGN_OR_RETURN(const NodeIndex n, NodeNamed(core, e.usage.node));
  MUSTER_RETURN_IF_ERROR(
      ValidateDevices("usage of", core.cluster.node(n), e.usage));
  ChangeFacts(core, n, [&](auto& facts) { facts.others = e.usage; });
  return absl::OkStatus();
}

absl::Status Take(Core& core, const NodeSetChanged& e) {
  NodeSet set = e.set;
  std::ranges::sort(set.nodes);
  const auto repeated = std::ranges::unique(set.nodes);
  set.nodes.erase(repeated.begin(), repeated.end());
  const auto known = core.node_sets.find(set.key);
  const bool is_new = known == core.node_sets.end();
  if (!is_new && known->second == set) return absl::OkStatus();
  const NodeSet old = is_new ? NodeSet{.key = set.key} : known->second;
  core.undo.Changed([&core, old, is_new] {
    is_new ? EraseNodeSet(core, old.key) : PutNodeSet(core, old);
  });
  std::vector<std::string> changed;
  std::ranges::set_symmetric_difference(old.nodes, set.nodes,
                                        std::back_inserter(changed));
  PutNodeSet(core, set);
  for (const std::string& key : changed) {
    const NodeId node = core.cluster.Find(key);
    if (node.valid()) core.opener.RoomFreed(node.index);
  }
  core.opener.StructureChanged();
  return absl::OkStatus();
}

absl::Status Take(Core& core, const NodeSetRemoved& e) {
  const auto known = core.node_sets.find(e.set);
  if (known == core.node_sets.end()) {
    return NotFound("node set '", e.set, "' is not known");
  }
  for (const GangIndex g : core.gangs.Positions()) {
    if (std::ranges::count(NodeSetsOf(core.SpecOf(g).gang()), e.set) > 0) {
      return NotNow("node set '", e.set, "' is named by gang '",
                    core.gangs.at(g).key, "'");
    }
  }
  core.undo.Changed([&core, old = known->second] { PutNodeSet(core, old); });
  EraseNodeSet(core, e.set);
  return absl::OkStatus();
}

}  // namespace muster
