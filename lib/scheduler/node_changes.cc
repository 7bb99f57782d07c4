#include "lib/scheduler/node_changes.h"

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "lib/base/status_macros.h"
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

// What tasks have of the node's devices, or are nominated for.
DeviceSet DevicesOfTasks(const SchedulerTables& tables, NodeIndex n) {
  DeviceSet devices;
  for (const NodeTask& ref : tables.nodes.tasks(n)) {
    const TaskRecord& task = TaskOf(tables, ref);
    if (task.phase <= TaskPhase::kReleasing) devices |= task.at.devices;
  }
  return devices;
}

// Up to `count` of `from`, the last first: solvers begin with the first.
void TakeLast(DeviceSet from, uint32_t* count, DeviceSet* to) {
  std::vector<uint32_t> rising;
  for (const uint32_t d : from) rising.push_back(d);
  for (; *count > 0 && !rising.empty(); --*count, rising.pop_back()) {
    to->Insert(rising.back());
  }
}

// How tasks have a device that others have, too: who has it most firmly, and of
// those that are alike the first in queue order.
struct DeviceClaim {
  enum Kind : uint8_t { kNominated, kLeaves, kPreemptible, kFirm };
  Kind kind = kNominated;
  // Others were not taken to have it so far. Of those that are alike they keep
  // what they were taken to have: what else is given up may be given away.
  bool is_new = false;
  QueuePosition position{};
  uint32_t device = 0;

  // The one that gives way first is first.
  friend bool operator<(const DeviceClaim& a, const DeviceClaim& b) {
    return std::tie(a.kind, a.is_new, b.position, b.device) <
           std::tie(b.kind, b.is_new, a.position, a.device);
  }
};

DeviceClaim ClaimOf(const SchedulerTables& tables, const NodeTask& ref,
                    const TaskRecord& task) {
  DeviceClaim claim{.position = tables.lists.PositionOf(ref.gang)};
  if (task.phase == TaskPhase::kReleasing) {
    claim.kind = DeviceClaim::kLeaves;
  } else if (task.phase != TaskPhase::kNominated) {
    claim.kind = tables.SpecOf(ref.gang).gang().preemptible
                     ? DeviceClaim::kPreemptible
                     : DeviceClaim::kFirm;
  }
  return claim;
}

// One for each device that tasks have, the first that gives way first;
// `before`: those that others were taken to have.
std::vector<DeviceClaim> ClaimsOn(const SchedulerTables& tables, NodeIndex n,
                                  const DeviceSet& before) {
  std::map<uint32_t, DeviceClaim> strongest;
  for (const NodeTask& ref : tables.nodes.tasks(n)) {
    const TaskRecord& task = TaskOf(tables, ref);
    if (task.phase > TaskPhase::kReleasing) continue;
    DeviceClaim claim = ClaimOf(tables, ref, task);
    for (const uint32_t d : task.at.devices) {
      claim.device = d;
      claim.is_new = !before.Contains(d);
      const auto [known, is_new] = strongest.try_emplace(d, claim);
      if (!is_new) known->second = std::max(known->second, claim);
    }
  }
  std::vector<DeviceClaim> claims;
  for (const auto& [device, claim] : strongest) claims.push_back(claim);
  std::ranges::sort(claims, std::less());
  return claims;
}

// Which devices the unnamed ones of external usage are booked as: those they
// were taken to have, and in place of one that a task has, another; where there
// is none, those of the tasks that give way first. O(tasks on the node, times
// the logarithm where it is as full as that).
DeviceSet Unnamed(const SchedulerTables& tables, NodeIndex n,
                  const NodeRecords::Facts& facts) {
  uint32_t wanted = facts.external.unnamed_devices;
  if (wanted == 0) return {};
  const Node& node = tables.cluster.node(n);
  const DeviceSet all = DevicesLeft(node, facts.external);
  const DeviceSet ours = DevicesOfTasks(tables, n);
  DeviceSet sick;
  for (const uint32_t d : all) {
    if (!node.devices[d].healthy) sick.Insert(d);
  }
  const DeviceSet before = facts.unnamed & all;
  DeviceSet unnamed;
  // The best first: those they had, then those that no task could have.
  for (const DeviceSet next : {before - ours, all - ours - sick, all - ours}) {
    TakeLast(next - unnamed, &wanted, &unnamed);
  }
  if (wanted == 0) return unnamed;
  for (const DeviceClaim& claim : ClaimsOn(tables, n, before)) {
    if (wanted == 0) break;
    if (!all.Contains(claim.device)) continue;
    unnamed.Insert(claim.device);
    --wanted;
  }
  return unnamed;
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

DeviceSet DevicesLeft(const Node& node, const ExternalUsage& external) {
  auto left = DeviceSet::FirstOf(static_cast<uint32_t>(node.devices.size()));
  for (const DeviceShare& share : external.devices) left.Erase(share.device);
  return left;
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
  facts.unnamed = Unnamed(tables, n, facts);
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
    if (tables.gangs.at(g).phase == GangPhase::kNominated)
      tables.activator.SetCheckDue(g);
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
    const bool leaves = std::ranges::any_of(r.tasks, [&](const auto& task) {
      return task.at.node == n && tables.life.MustLeave(r, task);
    });
    if (!leaves) continue;
    if (r.phase == GangPhase::kNominated) {
      tables.life.UndoNomination(g);
    } else if (r.repair_reason == ReasonCode::kNone) {
      tables.life.Flag(g, ReasonCode::kNodeDrained);
    }
  }
}

}  // namespace muster
