#include "lib/scheduler/node_changes.h"

#include <algorithm>
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

const TaskRecord& TaskOf(const Core& core, const NodeTask& ref) {
  return *FindTask(core.gangs.at(ref.gang), ref.task);
}

// Puts new values in place, tasks and all.
void ReplaceNode(Core& core, NodeIndex n, const Node& node) {
  const Node& old = core.cluster.node(n);
  const bool redo =
      !(old.devices == node.devices && old.capacity == node.capacity);
  std::vector<NodeTask> tasks;
  if (redo) tasks = core.nodes.tasks(n);
  for (const NodeTask& ref : tasks) {
    core.holdings.Unhold(ref.gang, TaskOf(core, ref));
  }
  core.cluster.Upsert(node);
  for (const NodeTask& ref : tasks) {
    core.holdings.Hold(ref.gang, TaskOf(core, ref));
  }
}

// What others used of devices that are gone is nothing any more.
void ForgetLostShares(Core& core, NodeIndex n) {
  const Node& node = core.cluster.node(n);
  ChangeFacts(core, n, [&](NodeRecords::Facts& facts) {
    OtherUsage& others = facts.others;
    std::erase_if(others.devices, [&](const DeviceShare& s) {
      return s.device >= node.devices.size();
    });
    others.unnamed_devices =
        std::min(others.unnamed_devices, DevicesLeft(node, others).size());
  });
}

void AddNode(Core& core, const Node& node) {
  const NodeIndex n = core.cluster.Upsert(node).index;
  NodeRecords::Facts facts;
  facts.others.node = node.key;
  core.nodes.Reset(n, facts);
  core.undo.Changed([&core, n] {
    core.nodes.Reset(n, {});
    core.cluster.UndoAdd(n);
  });
  core.opener.RoomFreed(n);
  core.opener.StructureChanged();
}

// What tasks have of the node's devices, or are nominated for.
DeviceSet DevicesOfTasks(const Core& core, NodeIndex n) {
  DeviceSet devices;
  for (const NodeTask& ref : core.nodes.tasks(n)) {
    const TaskRecord& task = TaskOf(core, ref);
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

// Which devices others are taken to have that nobody names: those they were
// taken to have, and in place of one that a task has, another. O(tasks on the
// node).
DeviceSet Unnamed(const Core& core, NodeIndex n,
                  const NodeRecords::Facts& facts) {
  uint32_t wanted = facts.others.unnamed_devices;
  if (wanted == 0) return {};
  const Node& node = core.cluster.node(n);
  const DeviceSet all = DevicesLeft(node, facts.others);
  const DeviceSet ours = DevicesOfTasks(core, n);
  DeviceSet sick;
  for (const uint32_t d : all) {
    if (!node.devices[d].healthy) sick.Insert(d);
  }
  const DeviceSet before = facts.unnamed;
  DeviceSet unnamed;
  // The best first: those they had, then those that no task could have.
  for (const DeviceSet next :
       {before - ours, all - ours - sick, all - ours, before, all}) {
    TakeLast((next & all) - unnamed, &wanted, &unnamed);
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

absl::StatusOr<NodeIndex> NodeNamed(const Core& core, std::string_view key) {
  const NodeId id = core.cluster.Find(key);
  if (id.valid()) return id.index;
  return NotFound("node '", std::string(key), "' is not known");
}

DeviceSet DevicesLeft(const Node& node, const OtherUsage& others) {
  auto left = DeviceSet::FirstOf(static_cast<uint32_t>(node.devices.size()));
  for (const DeviceShare& share : others.devices) left.Erase(share.device);
  return left;
}

absl::Status ValidateDevices(const std::string& field, const Node& node,
                             const OtherUsage& usage) {
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

bool UpsertNode(Core& core, const Node& node) {
  const NodeId known = core.cluster.Find(node.key);
  const Node next = Normalised(
      node, known.valid() ? &core.cluster.node(known.index) : nullptr,
      core.now);
  if (!known.valid()) {
    AddNode(core, next);
    return true;
  }
  const NodeIndex n = known.index;
  const Node old = core.cluster.node(n);
  if (old == next) return false;
  core.opener.NodeChanges(n);
  const uint64_t layout = core.cluster.layout_version();
  ReplaceNode(core, n, next);
  core.undo.Changed([&core, n, old] { ReplaceNode(core, n, old); });
  const bool larger = !(old.capacity == next.capacity) ||
                      !(old.devices == next.devices) ||
                      layout != core.cluster.layout_version();
  if (larger) {
    core.opener.RoomFreed(n);
    core.opener.StructureChanged();
  }
  core.opener.NodeHasChanged(n);
  ForgetLostShares(core, n);
  core.nodes.AddOvercommitCandidate(n);
  FlagGangsOn(core, n);
  return true;
}

void ChangeFacts(Core& core, NodeIndex n,
                 const std::function<void(NodeRecords::Facts&)>& change) {
  const NodeRecords::Facts old = core.nodes.facts(n);
  NodeRecords::Facts facts = old;
  change(facts);
  facts.unnamed = Unnamed(core, n, facts);
  if (old == facts) return;
  const auto put = [&core, n](const NodeRecords::Facts& f) {
    core.nodes.facts(n) = f;
    core.cluster.SetAvailable(n, f.available());
    return core.cluster.SetOthers(n, core.nodes.UsedByOthers(n));
  };
  const bool given_up = put(facts);
  core.undo.Changed([put, old] { put(old); });
  core.nodes.AddOvercommitCandidate(n);
  if (old.available() != facts.available()) core.opener.StructureChanged();
  if (given_up || (facts.available() && !old.available())) {
    core.opener.RoomFreed(n);
  }
  for (const GangIndex g : core.nodes.GangsOn(n)) {
    if (core.gangs.at(g).phase == GangPhase::kNominated)
      core.opener.SetCheckDue(g);
  }
}

void SettleUnnamed(Core& core, NodeIndex n) {
  ChangeFacts(core, n, [](NodeRecords::Facts&) {});
}

void RemoveNode(Core& core, NodeIndex n) {
  const Node old = core.cluster.node(n);
  const NodeRecords::Facts facts = core.nodes.facts(n);
  core.cluster.Remove(n);
  core.nodes.Reset(n, {});
  core.undo.Changed([&core, old, facts] {
    const NodeIndex back = core.cluster.UndoRemove(old);
    core.nodes.Reset(back, facts);
    core.cluster.SetAvailable(back, facts.available());
    core.cluster.SetOthers(back, core.nodes.UsedByOthers(back));
  });
}

void LoseTasksOn(Core& core, NodeIndex n) {
  for (const GangIndex g : core.nodes.GangsOn(n)) {
    const GangRecord& r = core.gangs.at(g);
    if (r.phase == GangPhase::kNominated) {
      core.life.UndoNomination(g);
      continue;
    }
    GangEdit gang(core, g);
    for (size_t i = r.tasks.size(); i-- > 0;) {
      const TaskRecord& task = r.tasks[i];
      if (task.phase == TaskPhase::kSucceeded || task.at.node != n) continue;
      if (task.phase != TaskPhase::kReleasing ||
          r.phase == GangPhase::kSuspending) {
        gang->repair_reason = ReasonCode::kNodeLost;
      }
      core.life.Drop(gang, task.task);
    }
    core.life.Update(gang);
  }
}

void FlagGangsOn(Core& core, NodeIndex n) {
  for (const GangIndex g : core.nodes.GangsOn(n)) {
    const GangRecord& r = core.gangs.at(g);
    GangEdit(core, g);  // It may have to leave by a certain time.
    const bool leaves = std::ranges::any_of(r.tasks, [&](const auto& task) {
      return task.at.node == n && core.life.MustLeave(r, task);
    });
    if (!leaves) continue;
    if (r.phase == GangPhase::kNominated) {
      core.life.UndoNomination(g);
    } else if (r.repair_reason == ReasonCode::kNone) {
      core.life.Flag(g, ReasonCode::kNodeDrained);
    }
  }
}

}  // namespace muster
