#include "test/property/state_usage.h"

#include <algorithm>
#include <cstdlib>

namespace muster {

void NodeUse::Add(const NodeUse& other) {
  if (amount.size() < other.amount.size()) amount.resize(other.amount.size());
  for (size_t k = 0; k < other.amount.size(); ++k) amount[k] += other.amount[k];
  tasks += other.tasks;
  whole += other.whole;
  for (const auto& [d, use] : other.devices) {
    devices[d].milli += use.milli;
    devices[d].memory += use.memory;
    devices[d].shares += use.shares;
    for (const auto& [slice, count] : use.cut) devices[d].cut[slice] += count;
  }
}

namespace {

// Whether it was told to stop while its gang went on.
bool IsShrunk(const GangState& gang, TaskId task) {
  return std::ranges::any_of(gang.pending, [&](const PendingDecision& p) {
    return p.kind == DecisionKind::kShrink &&
           std::ranges::find(p.tasks, task) != p.tasks.end();
  });
}

}  // namespace

StateUsage::StateUsage(const SchedulerState& state) : state_(state) {
  const std::vector<std::string>& kinds = state.config.resources;
  device_kind_ = state.config.KindOf(state.config.device_kind);
  node_kind_ = state.config.KindOf(state.config.node_kind);
  for (const NodeState& n : state.nodes) {
    nodes_[n.node.key] = &n;
    NodeUse external;
    external.amount.resize(kinds.size());
    for (size_t k = 0; k < kinds.size(); ++k) {
      external.amount[k] = n.external.amount[static_cast<ResourceKind>(k)];
    }
    for (const DeviceShare& s : n.external.devices) {
      external.devices[s.device].milli += s.milli;
      external.devices[s.device].memory += s.memory_bytes;
      ++external.devices[s.device].shares;
    }
    for (const uint32_t d : n.unnamed) {
      external.devices[d].milli += 1000;
      ++external.devices[d].shares;
    }
    now_[n.node.key] = external;
    later_[n.node.key] = external;
  }
  for (const Queue& q : state.queues) queues_[q.key] = &q;
  for (const GangState& g : state.gangs) {
    gangs_[g.gang.key] = &g;
    const std::vector<LeavingTask> leaving = LeavingTasks(g);
    for (const TaskState& t : g.tasks) {
      if (!nodes_.contains(t.node)) continue;
      const NodeUse use = UseOf(g.gang, t);
      const bool live =
          t.phase == TaskPhase::kStarting || t.phase == TaskPhase::kRunning;
      const auto leaves =
          std::ranges::find(leaving, t.task, &LeavingTask::task);
      const bool needed = leaves != leaving.end() && leaves->needed;
      const bool resumes = (g.phase == GangPhase::kSuspending ||
                            g.phase == GangPhase::kSuspended) &&
                           (t.phase == TaskPhase::kReleasing ||
                            t.phase == TaskPhase::kSuspended) &&
                           leaves == leaving.end() && !IsShrunk(g, t.task);
      if (live || t.phase == TaskPhase::kReleasing ||
          t.phase == TaskPhase::kSuspended) {
        const NodeUse now =
            t.phase == TaskPhase::kSuspended ? KeptOf(use) : use;
        now_[t.node].Add(now);
        AddToQueues(g.gang.queue, now, &queue_now_);
      }
      if (live || t.phase == TaskPhase::kNominated || resumes || needed) {
        const NodeUse later = resumes ? KeptOf(use) : use;
        later_[t.node].Add(later);
        AddToQueues(g.gang.queue, later, &queue_later_);
      }
    }
  }
}

void StateUsage::AddToQueues(
    const std::string& queue, const NodeUse& use,
    std::map<std::string, std::vector<int64_t>>* sums) {
  for (const std::string& q : Path(queue)) {
    std::vector<int64_t>& sum = (*sums)[q];
    sum.resize(state_.config.resources.size());
    for (size_t k = 0; k < sum.size(); ++k) sum[k] += use.amount[k];
    for (const auto& [d, share] : use.devices) {
      sum[device_kind_] += share.milli;
    }
  }
}

NodeUse StateUsage::KeptOf(const NodeUse& use) const {
  NodeUse kept;
  kept.amount.resize(use.amount.size());
  for (size_t k = 0; k < use.amount.size(); ++k) {
    if (std::ranges::count(state_.config.host.suspended_keeps,
                           state_.config.resources[k]) == 0) {
      continue;
    }
    kept.amount[k] = use.amount[k];
    if (k != node_kind_) continue;
    kept.tasks = use.tasks;
    kept.whole = use.whole;
  }
  return kept;
}

const GangState* StateUsage::gang(const std::string& key) const {
  const auto it = gangs_.find(key);
  return it == gangs_.end() ? nullptr : it->second;
}

const NodeState* StateUsage::node(const std::string& key) const {
  const auto it = nodes_.find(key);
  return it == nodes_.end() ? nullptr : it->second;
}

const Queue* StateUsage::queue(const std::string& key) const {
  const auto it = queues_.find(key);
  return it == queues_.end() ? nullptr : it->second;
}

PriorityClass StateUsage::priority_class(const std::string& key) const {
  for (const PriorityClass& c : state_.priority_classes) {
    if (c.key == key) return c;
  }
  return {};
}

const NodeSet* StateUsage::node_set(const std::string& key) const {
  for (const NodeSet& s : state_.node_sets) {
    if (s.key == key) return &s;
  }
  return nullptr;
}

const TaskShape& StateUsage::ShapeOf(const Gang& gang, const TaskState& task) {
  const Role& role = gang.roles[task.task.role];
  return task.alternative == 0 ? role.shape
                               : role.alternatives[task.alternative - 1];
}

NodeUse StateUsage::UseOf(const Gang& gang, const TaskState& task) const {
  NodeUse use;
  const TaskShape& shape = ShapeOf(gang, task);
  use.amount.resize(state_.config.resources.size());
  for (size_t k = 0; k < use.amount.size(); ++k) {
    use.amount[k] = shape.resources[static_cast<ResourceKind>(k)];
  }
  use.tasks = 1;
  use.whole = shape.whole_node;
  // What queues and shares count of it.
  if (node_kind_ < use.amount.size()) {
    use.amount[node_kind_] = shape.whole_node ? 1 << 20 : 1;
  }
  const NodeState* node = this->node(task.node);
  for (const uint32_t d : task.devices) {
    if (node == nullptr || d >= node->node.devices.size()) continue;
    const int64_t memory = node->node.devices[d].memory_bytes;
    DeviceUse& share = use.devices[d];
    if (!shape.devices.partition.empty()) {
      uint32_t slices = 1;
      const PartitionProfile* profile =
          ProfileOn(node->node.devices[d], shape.devices.partition, &slices);
      if (profile == nullptr) {  // Only a host puts it there: it has it all.
        share = {.milli = 1000, .memory = memory, .shares = 1};
        continue;
      }
      share.milli = profile->milli;
      share.memory = memory * profile->memory_slices / slices;
      for (uint32_t s = 0; s < profile->memory_slices; ++s)
        ++share.cut[task.first_slice + s];
      continue;
    }
    share.shares = 1;
    if (shape.devices.memory_bytes > 0) {
      share.memory = shape.devices.memory_bytes;
      // Where only a host puts it: all of a device that does not tell its
      // memory, and at most two of one that has too little.
      share.milli = shape.devices.milli > 0 ? shape.devices.milli
                    : memory > 0
                        ? std::min<int64_t>(1000 * share.memory / memory, 2000)
                        : 1000;
    } else {
      share.milli = shape.devices.milli;
      share.memory = share.milli * memory / 1000;
    }
  }
  return use;
}

const PartitionProfile* StateUsage::ProfileOn(const Device& device,
                                              const std::string& name,
                                              uint32_t* slices) const {
  for (const PartitionScheme& scheme : state_.config.partition_schemes) {
    if (scheme.key != device.partition_scheme) continue;
    *slices = scheme.memory_slices;
    return FindProfile(scheme, name);
  }
  return nullptr;
}

NodeUse StateUsage::Now(const std::string& node) const {
  const auto it = now_.find(node);
  return it == now_.end() ? NodeUse() : it->second;
}

NodeUse StateUsage::Later(const std::string& node) const {
  const auto it = later_.find(node);
  return it == later_.end() ? NodeUse() : it->second;
}

std::string StateUsage::Exceeds(const std::string& key, const NodeUse& use,
                                const NodeUse& total) const {
  const NodeState* n = node(key);
  if (n == nullptr) return "node " + key + " does not exist";
  if (use.tasks > 0 && total.whole > 0 && total.tasks > 1) {
    return "node " + key + ": a task is not alone on it";
  }
  for (size_t k = 0; k < use.amount.size(); ++k) {
    if (k == node_kind_) continue;
    const int64_t has = n->node.capacity[static_cast<ResourceKind>(k)];
    if (use.amount[k] > 0 && total.amount[k] > has) {
      return "node " + key + ": " + std::to_string(total.amount[k]) + " " +
             state_.config.resources[k] + " of " + std::to_string(has);
    }
  }
  for (const auto& [d, mine] : use.devices) {
    if (d >= n->node.devices.size()) return "node " + key + ": no such device";
    const Device& device = n->node.devices[d];
    const DeviceUse& all = total.devices.at(d);
    if (all.milli > 1000 ||
        (mine.memory > 0 && all.memory > device.memory_bytes)) {
      return "node " + key + ": device " + std::to_string(d) + " holds " +
             std::to_string(all.milli) + "/1000 and " +
             std::to_string(all.memory) + " bytes";
    }
    if (!all.cut.empty() && all.shares > 0) {
      return "node " + key + ": device " + std::to_string(d) +
             " is cut and shared";
    }
    for (const auto& [slice, count] : mine.cut) {
      if (all.cut.at(slice) > 1) {
        return "node " + key + ": device " + std::to_string(d) +
               ", two partitions on slice " + std::to_string(slice);
      }
    }
  }
  return "";
}

std::vector<int64_t> StateUsage::QueueLater(const std::string& queue) const {
  const auto it = queue_later_.find(queue);
  return it == queue_later_.end()
             ? std::vector<int64_t>(state_.config.resources.size())
             : it->second;
}

std::vector<int64_t> StateUsage::QueueNow(const std::string& queue) const {
  const auto it = queue_now_.find(queue);
  return it == queue_now_.end()
             ? std::vector<int64_t>(state_.config.resources.size())
             : it->second;
}

std::vector<std::string> StateUsage::Path(const std::string& queue) const {
  std::vector<std::string> path;
  for (std::string q = queue; !q.empty();) {
    path.push_back(q);
    const Queue* at = this->queue(q);
    q = at == nullptr ? "" : at->parent;
  }
  return path;
}

std::string StateUsage::DomainOf(const std::string& key,
                                 const TopologyConstraint& constraint,
                                 const std::string& level) const {
  const NodeState* n = node(key);
  if (n == nullptr) return "";
  if (level == kHostLevel) return key;
  for (const Topology& t : state_.config.topologies) {
    const bool named =
        constraint.topology.empty() || constraint.topology == t.key;
    if (!named) continue;
    std::string path;
    for (const std::string& l : t.levels) {
      const auto label =
          std::find_if(n->node.labels.begin(), n->node.labels.end(),
                       [&](const Label& x) { return x.key == l; });
      if (label == n->node.labels.end()) return "";
      path += "/" + label->value;
      if (l == level) return path;
    }
    return "";
  }
  return "";
}

namespace {

// By group: whether it is satisfied, and how many tasks it has.
struct GroupsMet {
  std::vector<bool> good{};
  std::vector<uint64_t> below{};
};

GroupsMet Meet(const Gang& gang, const std::vector<uint32_t>& counts) {
  std::vector<Group> groups = gang.groups;
  if (groups.empty()) groups.emplace_back();
  GroupsMet met{.good = std::vector<bool>(groups.size()),
                .below = std::vector<uint64_t>(groups.size())};
  auto& [good, below] = met;
  for (size_t g = groups.size(); g-- > 0;) {  // Parents come before.
    uint32_t satisfied = 0, all_needed = 0, needed_and_satisfied = 0;
    for (size_t r = 0; r < gang.roles.size(); ++r) {
      const Role& role = gang.roles[r];
      if (role.group != g) continue;
      below[g] += counts[r];
      const bool ok = counts[r] >= std::max(role.min_tasks, 1u);
      satisfied += ok;
      all_needed += role.min_tasks > 0;
      needed_and_satisfied += role.min_tasks > 0 && ok;
    }
    for (size_t c = g + 1; c < groups.size(); ++c) {
      if (groups[c].parent != g) continue;
      below[g] += below[c];
      satisfied += good[c];
      ++all_needed;
      needed_and_satisfied += good[c];
    }
    const bool children = groups[g].min_children > 0
                              ? satisfied >= groups[g].min_children
                              : needed_and_satisfied == all_needed;
    good[g] = children && below[g] >= groups[g].min_tasks;
  }
  return met;
}

}  // namespace

bool MeetsMinimum(const Gang& gang, const std::vector<uint32_t>& counts) {
  return Meet(gang, counts).good[0];
}

std::vector<std::string> PartsInVain(const Gang& gang,
                                     const std::vector<uint32_t>& counts) {
  std::vector<std::string> parts;
  const GroupsMet met = Meet(gang, counts);
  for (size_t g = 0; g < met.good.size(); ++g) {
    if (met.below[g] > 0 && !met.good[g]) {
      parts.push_back("group " + std::to_string(g));
    }
  }
  for (size_t r = 0; r < gang.roles.size(); ++r) {
    if (counts[r] > 0 && counts[r] < gang.roles[r].min_tasks) {
      parts.push_back("role " + std::to_string(r));
    }
  }
  return parts;
}

std::vector<uint32_t> LiveTasks(const GangState& gang) {
  std::vector<uint32_t> counts(gang.gang.roles.size());
  for (const TaskState& t : gang.tasks) {
    counts[t.task.role] += t.phase == TaskPhase::kStarting ||
                           t.phase == TaskPhase::kRunning ||
                           t.phase == TaskPhase::kSucceeded;
  }
  return counts;
}

Gang AsItRuns(const GangState& gang) {
  Gang as = gang.gang;
  const GangMinimum& under = gang.runs_under;
  if (under == GangMinimum{} || MeetsMinimum(as, LiveTasks(gang))) return as;
  if (as.groups.empty()) as.groups.emplace_back();
  for (size_t r = 0; r < as.roles.size(); ++r) {
    as.roles[r].min_tasks = under.role_tasks[r];
  }
  for (size_t g = 0; g < as.groups.size(); ++g) {
    as.groups[g].min_tasks = under.group_tasks[g];
    as.groups[g].min_children = under.group_children[g];
  }
  return as;
}

std::vector<LeavingTask> LeavingTasks(const GangState& gang) {
  std::vector<LeavingTask> leaving;
  std::vector<uint32_t> counts = LiveTasks(gang);
  const Gang as = AsItRuns(gang);
  const bool needs = (gang.phase == GangPhase::kStarting ||
                      gang.phase == GangPhase::kRunning) &&
                     !gang.cancel && !MeetsMinimum(as, counts);
  for (const TaskState& t : gang.tasks) {
    const bool asked =
        std::ranges::any_of(gang.pending, [&](const PendingDecision& p) {
          return std::ranges::find(p.tasks, t.task) != p.tasks.end();
        });
    if (t.phase != TaskPhase::kReleasing || asked) continue;
    leaving.push_back({t.task, needs});
    ++counts[t.task.role];
  }
  // The first are the first that need not come again.
  for (LeavingTask& task : leaving) {
    if (!needs) break;
    --counts[task.task.role];
    task.needed = !MeetsMinimum(as, counts);
    counts[task.task.role] += task.needed;
  }
  return leaving;
}

bool TaintsTolerated(const Node& node, const Role& role) {
  for (const Taint& taint : node.taints) {
    if (taint.effect == TaintEffect::kPreferNoSchedule) continue;
    bool tolerated = false;
    for (const Toleration& t : role.tolerations) {
      const bool effect =
          t.effects.empty() || std::find(t.effects.begin(), t.effects.end(),
                                         taint.effect) != t.effects.end();
      const bool key = t.key.empty() || t.key == taint.key;
      const bool value =
          t.op == TolerationOp::kExists || t.value == taint.value;
      const bool stays =
          t.seconds < 0 || taint.effect != TaintEffect::kNoExecute;
      tolerated |= effect && key && value && stays;
    }
    if (!tolerated) return false;
  }
  return true;
}

bool SelectorHolds(const Node& node, const NodeSelector& selector) {
  if (selector.any_of.empty()) return true;
  for (const SelectorTerm& term : selector.any_of) {
    bool all = true;
    for (const Requirement& r : term.all_of) {
      const auto label =
          std::find_if(node.labels.begin(), node.labels.end(),
                       [&](const Label& l) { return l.key == r.key; });
      const bool there = label != node.labels.end();
      const bool listed = there && std::find(r.values.begin(), r.values.end(),
                                             label->value) != r.values.end();
      switch (r.op) {
        case SelectorOp::kIn:
          all &= listed;
          break;
        case SelectorOp::kNotIn:
          all &= !listed;
          break;
        case SelectorOp::kExists:
          all &= there;
          break;
        case SelectorOp::kDoesNotExist:
          all &= !there;
          break;
        case SelectorOp::kGt:
          all &= there && std::atoll(label->value.c_str()) >
                              std::atoll(r.values[0].c_str());
          break;
        case SelectorOp::kLt:
          all &= there && std::atoll(label->value.c_str()) <
                              std::atoll(r.values[0].c_str());
          break;
      }
    }
    if (all) return true;
  }
  return false;
}

}  // namespace muster
