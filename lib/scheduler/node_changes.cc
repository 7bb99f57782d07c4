#include "lib/scheduler/node_changes.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <vector>

#include "lib/base/status_macros.h"
#include "lib/scheduler/unnamed_devices.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

bool IsSame(const Taint& a, const Taint& b) {
  return a.key == b.key && a.value == b.value && a.effect == b.effect;
}

// Labels by key; every taint has its time: that it had, or now. `old` may be
// null.
Node Normalised(const Node& node, const Node* old, Time now) {
  Node n = node;
  std::sort(n.labels.begin(), n.labels.end());
  for (Taint& taint : n.taints) {
    if (taint.since != 0 || taint.effect != TaintEffect::kNoExecute) continue;
    taint.since = now;
    if (old == nullptr) continue;
    for (const Taint& known : old->taints) {
      if (IsSame(known, taint)) taint.since = known.since;
    }
  }
  return n;
}

const TaskRecord& TaskOf(const SchedulerTables& tables, const NodeTask& ref) {
  return *FindTask(tables.gangs.at(ref.gang), ref.task);
}

// In queue order: that in which they came to the node is not in the state.
std::vector<NodeTask> TasksInOrder(const SchedulerTables& tables, NodeIndex n) {
  const std::span<const NodeTask> there = tables.nodes.tasks(n);
  std::vector<NodeTask> tasks(there.begin(), there.end());
  std::ranges::sort(tasks, {}, [&tables](const NodeTask& ref) {
    return std::pair(tables.lists.PositionOf(ref.gang), ref.task);
  });
  return tasks;
}

// Puts new values in place, tasks and all.
void ReplaceNode(SchedulerTables& tables, NodeIndex n, const Node& node) {
  const Node& old = tables.cluster.node(n);
  const bool redo =
      !(old.devices == node.devices && old.capacity == node.capacity);
  std::vector<NodeTask> tasks;
  if (redo) tasks = TasksInOrder(tables, n);
  for (const NodeTask& ref : tasks) {
    tables.holdings.Unhold(ref.gang, TaskOf(tables, ref));
  }
  tables.cluster.Upsert(node);
  for (const NodeTask& ref : tasks) {
    tables.holdings.Hold(ref.gang, TaskOf(tables, ref));
  }
}

// Drops external usage of devices that are gone.
void ForgetLostShares(SchedulerTables& tables, NodeIndex n) {
  const Node& node = tables.cluster.node(n);
  ChangeFacts(tables, n, [&](NodeRecords::Facts& facts) {
    ExternalUsage& external = facts.external;
    std::erase_if(external.devices, [&](const DeviceShare& s) {
      return s.device >= node.devices.size();
    });
    external.unnamed_devices =
        std::min(external.unnamed_devices, DevicesLeft(node, external).size());
  });
}

void AddNode(SchedulerTables& tables, const Node& node) {
  const NodeIndex n = tables.cluster.Upsert(node).index;
  NodeRecords::Facts facts;
  facts.external.node = node.key;
  tables.nodes.Reset(n, facts);
  tables.undo.Changed([&tables, n] {
    tables.nodes.Reset(n, {});
    tables.cluster.UndoAdd(n);
  });
  tables.activator.RoomFreed(n);
  tables.activator.StructureChanged();
}

}  // namespace

absl::Status CheckTotals(const SchedulerConfig& config, const Cluster& cluster,
                         const Node& node) {
  const NodeId known = cluster.Find(node.key);
  Resources others = cluster.nodes_capacity();
  for (ResourceKind k = 0; known.valid() && k < others.size(); ++k) {
    others.Set(k, others[k] - cluster.capacity(known.index, k));
  }
  if (!known.valid() && cluster.node_count() >= kMaxNodes) {
    return Invalid("node '", node.key, "': the cluster has ", kMaxNodes,
                   " nodes, the most there can be");
  }
  return ValidateTotal(config, others, {&node, 1});
}

absl::StatusOr<NodeIndex> NodeNamed(const SchedulerTables& tables,
                                    std::string_view key) {
  const NodeId id = tables.cluster.Find(key);
  if (id.valid()) return id.index;
  return NotFound("node '", std::string(key), "' is not known");
}

absl::Status ValidateDevices(const std::string& field, const Node& node,
                             const ExternalUsage& usage) {
  for (const DeviceShare& share : usage.devices) {
    if (share.device >= node.devices.size()) {
      return Invalid(field, " '", node.key, "': device ", share.device, " of ",
                     node.devices.size());
    }
  }
  const uint32_t left = DevicesLeft(node, usage).size();
  return Require(usage.unnamed_devices <= left, field, " '", node.key,
                 "': .unnamed_devices: ", usage.unnamed_devices,
                 " is not in 0..", left);
}

bool UpsertNode(SchedulerTables& tables, const Node& node) {
  const NodeId known = tables.cluster.Find(node.key);
  const Node next = Normalised(
      node, known.valid() ? &tables.cluster.node(known.index) : nullptr,
      tables.now);
  if (!known.valid()) {
    AddNode(tables, next);
    return true;
  }
  const NodeIndex n = known.index;
  const Node old = tables.cluster.node(n);
  if (old == next) return false;
  tables.activator.NodeChanges(n);
  const uint64_t layout = tables.cluster.layout_version();
  ReplaceNode(tables, n, next);
  tables.undo.Changed([&tables, n, old] { ReplaceNode(tables, n, old); });
  const bool larger = !(old.capacity == next.capacity) ||
                      !(old.devices == next.devices) ||
                      layout != tables.cluster.layout_version();
  if (larger) {
    tables.activator.RoomFreed(n);
    tables.activator.StructureChanged();
  }
  tables.activator.NodeHasChanged(n);
  ForgetLostShares(tables, n);
  tables.nodes.AddOvercommitCandidate(n);
  FlagGangsOn(tables, n);
  return true;
}

void ChangeFacts(SchedulerTables& tables, NodeIndex n,
                 const std::function<void(NodeRecords::Facts&)>& change) {
  const NodeRecords::Facts old = tables.nodes.facts(n);
  NodeRecords::Facts facts = old;
  change(facts);
  facts.unnamed = UnnamedDevices(tables, n, facts);
  if (old == facts) return;
  const auto put = [&tables, n](const NodeRecords::Facts& f) {
    tables.nodes.facts(n) = f;
    tables.cluster.SetAvailable(n, f.available());
    return tables.cluster.SetExternalUsage(n, tables.nodes.ExternalUsageOf(n));
  };
  const bool given_up = put(facts);
  tables.undo.Changed([put, old] { put(old); });
  tables.nodes.AddOvercommitCandidate(n);
  if (old.available() != facts.available()) tables.activator.StructureChanged();
  if (given_up || (facts.available() && !old.available())) {
    tables.activator.RoomFreed(n);
  }
  for (const GangIndex g : tables.nodes.GangsOn(n)) {
    if (IsNominated(tables.gangs.at(g))) tables.activator.SetCheckDue(g);
  }
}

void SettleUnnamed(SchedulerTables& tables, NodeIndex n) {
  if (tables.nodes.facts(n).external.unnamed_devices == 0) return;
  ChangeFacts(tables, n, [](NodeRecords::Facts&) {});
}

void RemoveNode(SchedulerTables& tables, NodeIndex n) {
  const Node old = tables.cluster.node(n);
  const NodeRecords::Facts facts = tables.nodes.facts(n);
  tables.cluster.Remove(n);
  tables.nodes.Reset(n, {});
  tables.undo.Changed([&tables, old, facts] {
    const NodeIndex back = tables.cluster.UndoRemove(old);
    tables.nodes.Reset(back, facts);
    tables.cluster.SetAvailable(back, facts.available());
    tables.cluster.SetExternalUsage(back, tables.nodes.ExternalUsageOf(back));
  });
}

void LoseTasksOn(SchedulerTables& tables, NodeIndex n) {
  for (const GangIndex g : tables.nodes.GangsOn(n)) {
    const GangRecord& r = tables.gangs.at(g);
    if (r.phase == GangPhase::kNominated) {
      tables.life.UndoNomination(g);
      continue;
    }
    GangEdit gang(tables, g);
    const bool nominated = std::ranges::any_of(r.tasks, [&](const auto& task) {
      return task.at.node == n && task.phase == TaskPhase::kNominated;
    });
    if (nominated) tables.life.UndoNomination(g);
    for (size_t i = r.tasks.size(); i-- > 0;) {
      const TaskRecord& task = r.tasks[i];
      if (task.phase == TaskPhase::kSucceeded || task.at.node != n) continue;
      if (task.phase != TaskPhase::kReleasing ||
          r.phase == GangPhase::kSuspending) {
        gang->repair_reason = ReasonCode::kNodeLost;
      }
      tables.life.Drop(gang, task.task);
    }
    tables.life.Update(gang);
  }
}

void FlagGangsOn(SchedulerTables& tables, NodeIndex n) {
  for (const GangIndex g : tables.nodes.GangsOn(n)) {
    const GangRecord& r = tables.gangs.at(g);
    GangEdit(tables, g);  // It may have to leave by a certain time.
    const auto leave = [&](bool nominated) {
      return std::ranges::any_of(r.tasks, [&](const auto& task) {
        return task.at.node == n &&
               (task.phase == TaskPhase::kNominated) == nominated &&
               tables.life.MustLeave(r, task);
      });
    };
    if (leave(true)) tables.life.UndoNomination(g);
    if (leave(false) && r.repair_reason == ReasonCode::kNone) {
      tables.life.Flag(g, ReasonCode::kNodeDrained);
    }
  }
}

}  // namespace muster
