#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/property/trial.h"

namespace muster {
namespace {

class PlacementInvariants {
 public:
  explicit PlacementInvariants(const Trial& trial) : trial_(trial) {}

  // The nodes take the tasks, and the devices are of the kind asked for.
  std::string Admission() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.before.gang(d.gang);
      if (!Places(d.kind) || g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const std::string wrong =
            Refusal(g->gang, AsState(p), d.kind == DecisionKind::kResume);
        if (!wrong.empty()) return "admission: " + wrong + " in " + Text(d);
      }
    }
    return "";
  }

  // Required levels and slices, of gangs placed as a whole in this plan.
  std::string Constraints() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* was = trial_.before.gang(d.gang);
      const bool whole = (d.kind == DecisionKind::kNominate && was != nullptr &&
                          was->phase != GangPhase::kStarting &&
                          was->phase != GangPhase::kRunning) ||
                         (d.kind == DecisionKind::kStart && was != nullptr &&
                          was->phase == GangPhase::kWaiting);
      if (!whole) continue;
      const Gang& gang = was->gang;
      for (size_t r = 0; r < gang.roles.size(); ++r) {
        const auto in_role = [r](const PlannedTaskRecord& p) {
          return p.task.role == r;
        };
        const std::string wrong = Apart(gang.roles[r].topology, d, in_role);
        if (!wrong.empty()) return "constraint: " + wrong;
        const std::string cut = Sliced(gang.roles[r].topology, d, in_role);
        if (!cut.empty()) return "constraint: " + cut;
        const std::string crowd = Crowded(gang.roles[r].topology, d, in_role);
        if (!crowd.empty()) return "constraint: " + crowd;
      }
      for (size_t g = 0; g < gang.groups.size(); ++g) {
        const auto below = [&](const PlannedTaskRecord& p) {
          uint32_t at = gang.roles[p.task.role].group;
          while (at != g && at != 0) at = gang.groups[at].parent;
          return at == g;
        };
        const std::string wrong = Apart(gang.groups[g].topology, d, below);
        if (!wrong.empty()) return "constraint: " + wrong;
        const std::string crowd = Crowded(gang.groups[g].topology, d, below);
        if (!crowd.empty()) return "constraint: " + crowd;
      }
    }
    return "";
  }

 private:
  std::string Refusal(const Gang& gang, const TaskState& t, bool resume) {
    const NodeState* n = trial_.before.node(t.node);
    if (n == nullptr) return "no such node";
    if (n->down || n->draining || n->spot_notice != kForever) {
      return "node out of work";
    }
    const TaskShape& shape = StateUsage::ShapeOf(gang, t);
    for (const uint32_t d : t.devices) {
      if (d >= n->node.devices.size()) return "no such device";
      if (!n->node.devices[d].healthy) return "unhealthy device";
      const std::string& partition = shape.devices.partition;
      if (partition.empty()) continue;
      uint32_t slices = 0;
      const PartitionProfile* profile =
          trial_.before.ProfileOn(n->node.devices[d], partition, &slices);
      if (profile == nullptr) return "device has no such partitions";
      if (std::ranges::count(profile->starts, t.first_slice) == 0) {
        return "no start of such a partition";
      }
    }
    if (resume) return "";
    const Role& role = gang.roles[t.task.role];
    if (!n->node.schedulable) return "node is cordoned";
    Role both = role;  // And what the alternative says beside.
    both.tolerations.insert(both.tolerations.end(), shape.tolerations.begin(),
                            shape.tolerations.end());
    both.node_sets.insert(both.node_sets.end(), shape.node_sets.begin(),
                          shape.node_sets.end());
    if (!TaintsTolerated(n->node, both)) return "taint";
    if (!SelectorHolds(n->node, shape.selector)) return "selector";
    for (const std::string& key : both.node_sets) {
      const NodeSet* set = trial_.before.node_set(key);
      if (std::find(set->nodes.begin(), set->nodes.end(), t.node) ==
          set->nodes.end()) {
        return "node set";
      }
    }
    uint32_t count = 0;
    for (const uint32_t d : t.devices) {
      ++count;
      const std::vector<std::string>& models = shape.devices.models;
      if (!models.empty() &&
          std::find(models.begin(), models.end(), n->node.devices[d].model) ==
              models.end()) {
        return "device model";
      }
    }
    if (count != shape.devices.count) return "device count";
    return "";
  }

  template <class Of>
  std::string Apart(const TopologyConstraint& c, const DecisionRecord& d,
                    const Of& of) {
    if (c.required.empty()) return "";
    std::set<std::string> domains;
    for (const PlannedTaskRecord& p : d.tasks) {
      if (of(p)) domains.insert(trial_.before.DomainOf(p.node, c, c.required));
    }
    if (domains.size() > 1 || domains.contains("")) {
      return "not in one " + c.required + ": " + Text(d);
    }
    return "";
  }

  template <class Of>
  std::string Sliced(const TopologyConstraint& c, const DecisionRecord& d,
                     const Of& of) {
    for (const Slice& slice : c.slices) {
      std::map<TaskId, std::string> nodes;
      for (const PlannedTaskRecord& p : d.tasks) {
        if (of(p)) nodes[p.task] = p.node;
      }
      std::set<std::string> domains;
      uint32_t in_slice = 0;
      for (const auto& [id, node] : nodes) {
        domains.insert(trial_.before.DomainOf(node, c, slice.level));
        if (domains.size() > 1) return "a slice is cut: " + Text(d);
        if (++in_slice % slice.size == 0) domains.clear();
      }
    }
    return "";
  }

  // Of the skew, what needs no knowledge of empty domains.
  template <class Of>
  std::string Crowded(const TopologyConstraint& c, const DecisionRecord& d,
                      const Of& of) {
    const Spread& s = c.spread;
    if (s.level.empty()) return "";
    std::map<std::string, uint32_t> counts;
    uint32_t tasks = 0;
    for (const PlannedTaskRecord& p : d.tasks) {
      if (!of(p)) continue;
      ++counts[trial_.before.DomainOf(p.node, c, s.level)];
      ++tasks;
    }
    if (tasks == 0) return "";
    if (counts.contains("")) return "outside " + s.level + ": " + Text(d);
    uint32_t most = 0;
    uint32_t fewest = tasks;
    for (const auto& [domain, count] : counts) {
      most = std::max(most, count);
      fewest = std::min(fewest, count);
    }
    if (s.max_per_domain > 0 && most > s.max_per_domain) {
      return "too many in one " + s.level + ": " + Text(d);
    }
    if (s.max_skew > 0 && most > fewest + s.max_skew) {
      return "too uneven over " + s.level + ": " + Text(d);
    }
    if (counts.size() < std::min(s.min_domains, tasks)) {
      return "too few of " + s.level + ": " + Text(d);
    }
    return "";
  }

  const Trial& trial_;
};

}  // namespace

std::string BrokenPlacementInvariant(const Trial& trial) {
  PlacementInvariants invariant(trial);
  const std::string refused = invariant.Admission();
  return refused.empty() ? invariant.Constraints() : refused;
}

}  // namespace muster
