// Events about nodes and tenants.
#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/impl.h"
#include "lib/scheduler/validate.h"
#include "lib/topology/selector.h"

namespace muster {

namespace {

absl::Status NotFound(const char* what, std::string_view key) {
  return absl::NotFoundError(
      absl::StrCat(what, " '", std::string(key), "' is not known"));
}

Node Normalised(const Node& node) {
  Node n = node;
  std::sort(n.labels.begin(), n.labels.end());
  return n;
}

}  // namespace

absl::StatusOr<NodeIndex> Scheduler::Impl::NodeNamed(
    std::string_view key) const {
  const NodeId id = cluster.Find(key);
  if (!id.valid()) return NotFound("node", key);
  return id.index;
}

// Adds or changes a valid node. What is charged on it is taken off while its
// devices change and put back after, since shares depend on the devices.
void Scheduler::Impl::UpsertNode(const Node& node) {
  const Node next = Normalised(node);
  const NodeId known = cluster.Find(next.key);
  std::vector<std::pair<GangIndex, size_t>> here;
  const bool redo =
      known.valid() && !(cluster.node(known.index).devices == next.devices &&
                         cluster.node(known.index).capacity == next.capacity);
  if (redo) {
    for (GangIndex g = 0; g < gangs.limit(); ++g) {
      GangRecord& r = gangs.at(g);
      if (!r.exists) continue;
      for (size_t i = 0; i < r.tasks.size(); ++i) {
        if (r.tasks[i].at.node == known.index) here.emplace_back(g, i);
      }
    }
    for (auto [g, i] : here) Unhold(gangs.at(g), gangs.at(g).tasks[i]);
  }
  const NodeIndex n = cluster.Upsert(next).index;
  if (n >= nodes.size()) nodes.resize(n + 1);
  if (!known.valid()) {
    const uint32_t generation = nodes[n].generation + 1;
    nodes[n] = NodeRecord{};
    nodes[n].generation = generation;
    nodes[n].others.node = next.key;
  }
  for (auto [g, i] : here) Hold(gangs.at(g), gangs.at(g).tasks[i]);
  if (redo) ForgetLostShares(n);
  suspects_.insert(n);
  FlagGangsOn(n, ReasonCode::kNodeDrained);
  RefreshAvailability(n);
}

// What others used of devices that are gone is nothing any more.
void Scheduler::Impl::ForgetLostShares(NodeIndex n) {
  const size_t devices = cluster.node(n).devices.size();
  const size_t lost =
      std::erase_if(nodes[n].others.devices,
                    [&](const DeviceShare& s) { return s.device >= devices; });
  if (lost > 0) cluster.SetOthers(n, nodes[n].others);
}

void Scheduler::Impl::RefreshAvailability(NodeIndex n) {
  const NodeRecord& r = nodes[n];
  cluster.SetAvailable(n, !r.down && !r.draining && r.spot_notice == kForever);
}

// A task must leave a node that is drained, about to be taken back, or tainted
// kNoExecute against it.
bool Scheduler::Impl::MustLeave(const GangRecord& r,
                                const TaskRecord& task) const {
  if (task.phase > TaskPhase::kRunning) return false;
  const NodeRecord& node = nodes[task.at.node];
  return node.draining || node.spot_notice != kForever || Tainted(r, task);
}

// Whether its node is tainted kNoExecute against the task.
bool Scheduler::Impl::Tainted(const GangRecord& r,
                              const TaskRecord& task) const {
  const Role& role =
      gangs.description(r.description).prepared.gang.roles[task.task.role];
  const std::vector<Taint>& taints = cluster.node(task.at.node).taints;
  return std::any_of(taints.begin(), taints.end(), [&](const Taint& t) {
    return t.effect == TaintEffect::kNoExecute &&
           !Tolerates(role.tolerations, t);
  });
}

void Scheduler::Impl::FlagGangsOn(NodeIndex n, ReasonCode trouble) {
  std::vector<GangIndex> touched;
  for (const GangRank& rank : holding_) {
    for (const TaskRecord& task : gangs.at(rank.gang).tasks) {
      if (task.at.node == n && MustLeave(gangs.at(rank.gang), task)) {
        touched.push_back(rank.gang);
        break;
      }
    }
  }
  for (GangIndex g : touched) {
    if (gangs.at(g).phase == GangPhase::kNominated) {
      UndoNomination(g);
    } else if (gangs.at(g).trouble == ReasonCode::kNone) {
      Flag(g, trouble);
    }
  }
}

void Scheduler::Impl::LoseTasksOn(NodeIndex n) {
  for (GangIndex g = 0; g < gangs.limit(); ++g) {
    GangRecord& r = gangs.at(g);
    if (!r.exists) continue;
    std::vector<TaskId> lost;
    for (const TaskRecord& task : r.tasks) {
      if (task.at.node == n && task.phase != TaskPhase::kSucceeded) {
        lost.push_back(task.task);
      }
    }
    if (lost.empty()) continue;
    if (r.phase == GangPhase::kNominated) {
      UndoNomination(g);
      continue;
    }
    Delist(g);
    for (TaskId id : lost) {
      if (FindTask(r, id)->phase != TaskPhase::kReleasing ||
          r.phase == GangPhase::kSuspending) {
        r.trouble = ReasonCode::kNodeLost;
      }
      DropTask(r, id);
    }
    Update(g);
  }
}

absl::Status Scheduler::Impl::ValidateDevices(
    NodeIndex n, std::span<const DeviceShare> devices) const {
  const Node& node = cluster.node(n);
  for (const DeviceShare& share : devices) {
    if (share.device >= node.devices.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("node '", node.key, "': device ", share.device, " of ",
                       node.devices.size()));
    }
  }
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const NodeChanged& e) {
  MUSTER_RETURN_IF_ERROR(ValidateNode(config, e.node));
  UpsertNode(e.node);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const NodeDown& e) {
  const absl::StatusOr<NodeIndex> n = NodeNamed(e.node);
  if (!n.ok()) return n.status();
  nodes[*n].down = true;
  RefreshAvailability(*n);
  LoseTasksOn(*n);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const NodeUp& e) {
  const absl::StatusOr<NodeIndex> n = NodeNamed(e.node);
  if (!n.ok()) return n.status();
  nodes[*n].down = false;
  nodes[*n].spot_notice = kForever;
  RefreshAvailability(*n);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const NodeRemoved& e) {
  const absl::StatusOr<NodeIndex> n = NodeNamed(e.node);
  if (!n.ok()) return n.status();
  nodes[*n].down = true;
  RefreshAvailability(*n);
  LoseTasksOn(*n);
  cluster.Remove(*n);
  suspects_.erase(*n);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const NodeDrained& e) {
  const absl::StatusOr<NodeIndex> n = NodeNamed(e.node);
  if (!n.ok()) return n.status();
  nodes[*n].draining = e.drain;
  RefreshAvailability(*n);
  if (e.drain) FlagGangsOn(*n, ReasonCode::kNodeDrained);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const SpotNotice& e) {
  const absl::StatusOr<NodeIndex> n = NodeNamed(e.node);
  if (!n.ok()) return n.status();
  nodes[*n].spot_notice = e.at;
  RefreshAvailability(*n);
  FlagGangsOn(*n, ReasonCode::kNodeDrained);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const OthersChanged& e) {
  MUSTER_RETURN_IF_ERROR(ValidateOthers(config, e.usage));
  const absl::StatusOr<NodeIndex> n = NodeNamed(e.usage.node);
  if (!n.ok()) return n.status();
  MUSTER_RETURN_IF_ERROR(ValidateDevices(*n, e.usage.devices));
  nodes[*n].others = e.usage;
  cluster.SetOthers(*n, e.usage);
  suspects_.insert(*n);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const NodeSetChanged& e) {
  MUSTER_RETURN_IF_ERROR(ValidateKey("node_set.key", e.set.key));
  NodeSet set = e.set;
  std::sort(set.nodes.begin(), set.nodes.end());
  set.nodes.erase(std::unique(set.nodes.begin(), set.nodes.end()),
                  set.nodes.end());
  cluster.SetNodeSet(set);
  node_sets[set.key] = std::move(set);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const QueueChanged& e) {
  const Queue& queue = e.queue;
  MUSTER_RETURN_IF_ERROR(ValidateQueue(config, queue));
  const QueueIndex known = queues.Find(queue.key);
  if (!queue.parent.empty()) {
    if (queue.parent == queue.key) {
      return absl::InvalidArgumentError(
          absl::StrCat("queue '", queue.key, "'.parent: is the queue itself"));
    }
    const QueueIndex parent = queues.Find(queue.parent);
    if (parent == kNoQueue) return NotFound("queue.parent", queue.parent);
    if (known == kNoQueue && queues.IsLeaf(parent) &&
        queues.at(parent).gangs > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat("queue '", queue.key, "'.parent: '", queue.parent,
                       "' holds gangs, which only a leaf does"));
    }
  }
  if (known != kNoQueue && queues.at(known).queue.parent != queue.parent) {
    return absl::FailedPreconditionError(
        absl::StrCat("queue '", queue.key, "'.parent: was '",
                     queues.at(known).queue.parent, "' and does not change"));
  }
  queues.Upsert(queue);
  ++started_version_;  // Other victims may be lawful now.
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const QueueRemoved& e) {
  const QueueIndex q = queues.Find(e.queue);
  if (q == kNoQueue) return NotFound("queue", e.queue);
  if (!queues.IsLeaf(q) || queues.at(q).gangs > 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("queue '", e.queue, "' has children or gangs"));
  }
  queues.Remove(q);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const PriorityClassChanged& e) {
  MUSTER_RETURN_IF_ERROR(ValidatePriorityClass(e.priority_class));
  const auto known = class_by_key.find(e.priority_class.key);
  if (known == class_by_key.end()) {
    class_by_key[e.priority_class.key] = static_cast<uint32_t>(classes.size());
    classes.push_back(e.priority_class);
    return absl::OkStatus();
  }
  // Ranks hold the value: gangs of the class leave their lists meanwhile.
  std::vector<GangIndex> members;
  for (GangIndex g = 0; g < gangs.limit(); ++g) {
    const GangRecord& r = gangs.at(g);
    if (r.exists && r.priority_class == known->second) members.push_back(g);
  }
  for (GangIndex g : members) Delist(g);
  classes[known->second] = e.priority_class;
  for (GangIndex g : members) Enlist(g);
  ++started_version_;
  return absl::OkStatus();
}

}  // namespace muster
