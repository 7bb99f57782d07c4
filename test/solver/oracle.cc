#include "test/solver/oracle.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>

namespace muster::solver_test {
namespace {

int SharedLevel(const Cluster& cluster, NodeIndex a, NodeIndex b) {
  const TopologyIndex& index = cluster.index(0);
  int level = static_cast<int>(index.levels.size());
  if (a == b) return level;
  for (--level; level >= 0; --level) {
    const uint32_t domain = index.domain_of[level][a];
    if (domain != TopologyIndex::kOutside &&
        domain == index.domain_of[level][b]) {
      break;
    }
  }
  return level;
}

int LevelOf(const Cluster& cluster, const std::string& name) {
  return name.empty() ? -1 : cluster.FindLevel(0, name);
}

// The role and the groups around it, innermost first.
std::vector<const TopologyConstraint*> Around(const Gang& gang, uint32_t role) {
  std::vector<const TopologyConstraint*> around = {&gang.roles[role].topology};
  for (uint32_t g = gang.roles[role].group;; g = gang.groups[g].parent) {
    around.push_back(&gang.groups[g].topology);
    if (g == 0) return around;
  }
}

// Whether two tasks may lie on these nodes as far as constraints go.
bool Compatible(const Cluster& cluster, const Gang& gang, const Assignment& a,
                const Assignment& b) {
  const int shared = SharedLevel(cluster, a.at.node, b.at.node);
  const auto around_a = Around(gang, a.task.role);
  const auto around_b = Around(gang, b.task.role);
  for (const TopologyConstraint* c : around_a) {
    const bool both =
        std::find(around_b.begin(), around_b.end(), c) != around_b.end();
    if (both && shared < LevelOf(cluster, c->required)) return false;
    if (a.task.role != b.task.role) continue;
    for (const Slice& s : c->slices) {
      if (a.task.index / s.size == b.task.index / s.size &&
          shared < LevelOf(cluster, s.level)) {
        return false;
      }
    }
  }
  return true;
}

bool Inside(const Cluster& cluster, const Gang& gang, const Assignment& a) {
  for (const TopologyConstraint* c : Around(gang, a.task.role)) {
    if (!c->empty() &&
        cluster.index(0).position[a.at.node] == TopologyIndex::kOutside) {
      return false;
    }
  }
  return true;
}

// A role's or group's spread, from the words of its header.
class SpreadOracle {
 public:
  SpreadOracle(const Cluster& cluster, const PreparedGang& gang,
               const TopologyConstraint& c)
      : cluster_(cluster), gang_(gang), c_(c) {}

  // Whether the new tasks' places are right, given all of them and the fixed.
  bool Met(const std::vector<Assignment>& tasks,
           const std::vector<Assignment>& fixed) const {
    const Spread& s = c_.spread;
    if (s.level.empty()) return true;
    const auto now = Counts(tasks);
    const auto before = Counts(fixed);
    size_t added = 0;
    for (const auto& [domain, count] : now) {
      const auto was = before.find(domain);
      const size_t more = count - (was == before.end() ? 0 : was->second);
      added += more;
      if (more == 0) continue;
      if (s.max_per_domain > 0 && count > s.max_per_domain) return false;
      if (s.max_skew > 0 && count > Fewest(now, tasks) + s.max_skew) {
        return false;
      }
    }
    return added == 0 ||
           now.size() >= std::min<size_t>(s.min_domains, before.size() + added);
  }

 private:
  bool Below(uint32_t role) const {
    const auto around = Around(gang_.gang, role);
    return std::find(around.begin(), around.end(), &c_) != around.end();
  }
  uint32_t DomainOf(const std::string& level, NodeIndex node) const {
    const int l = cluster_.FindLevel(0, level);
    const TopologyIndex& index = cluster_.index(0);
    if (l == static_cast<int>(index.levels.size())) return node;
    return index.domain_of[static_cast<size_t>(l)][node];
  }
  std::map<uint32_t, size_t> Counts(
      const std::vector<Assignment>& tasks) const {
    std::map<uint32_t, size_t> counts;
    for (const Assignment& a : tasks) {
      if (Below(a.task.role)) ++counts[DomainOf(c_.spread.level, a.at.node)];
    }
    return counts;
  }
  // Whether the node would take a task of these roles, were it empty.
  bool Useful(NodeIndex node) const {
    for (uint32_t r = 0; r < gang_.gang.roles.size(); ++r) {
      if (!Below(r)) continue;
      for (const ShapeId shape : gang_.shapes[r]) {
        if (!cluster_.Admits(node, shape)) continue;
        const Resources& demand = cluster_.demand(shape);
        bool fits = cluster_.device_request(shape).count <=
                    cluster_.node(node).devices.size();
        for (ResourceKind k = 0; k < cluster_.resource_count(); ++k) {
          fits = fits && demand[k] <= cluster_.capacity(node, k);
        }
        if (fits) return true;
      }
    }
    return false;
  }
  // Whether every level required of all the tasks below has them and the node
  // in one domain.
  bool Beside(NodeIndex node, const std::vector<Assignment>& tasks) const {
    for (const Assignment& a : tasks) {
      if (!Below(a.task.role)) continue;
      bool around = false;
      for (const TopologyConstraint* c : Around(gang_.gang, a.task.role)) {
        around = around || c == &c_;
        if (!around || c->required.empty()) continue;
        if (LevelOf(cluster_, c->required) >
            LevelOf(cluster_, c_.spread.level)) {
          // Narrower than the domains compared: they share one of those.
          if (DomainOf(c_.spread.level, node) !=
              DomainOf(c_.spread.level, a.at.node)) {
            return false;
          }
        } else if (DomainOf(c->required, node) !=
                   DomainOf(c->required, a.at.node)) {
          return false;
        }
      }
      return true;
    }
    return true;
  }
  size_t Fewest(const std::map<uint32_t, size_t>& counts,
                const std::vector<Assignment>& tasks) const {
    size_t fewest = 1000;
    for (const NodeIndex node : cluster_.nodes()) {
      if (cluster_.index(0).position[node] == TopologyIndex::kOutside) continue;
      if (!Useful(node) || !Beside(node, tasks)) continue;
      const auto has = counts.find(DomainOf(c_.spread.level, node));
      fewest = std::min(fewest, has == counts.end() ? 0 : has->second);
    }
    return fewest;
  }

  const Cluster& cluster_;
  const PreparedGang& gang_;
  const TopologyConstraint& c_;
};

bool Spreads(const Cluster& cluster, const PreparedGang& gang,
             const std::vector<Assignment>& tasks,
             const std::vector<Assignment>& fixed) {
  const auto met = [&](const auto& part) {
    return SpreadOracle(cluster, gang, part.topology).Met(tasks, fixed);
  };
  return std::all_of(gang.gang.groups.begin(), gang.gang.groups.end(), met) &&
         std::all_of(gang.gang.roles.begin(), gang.gang.roles.end(), met);
}

bool SatisfiedGroup(const Gang& gang, uint32_t g,
                    const std::vector<uint32_t>& counts, uint32_t* tasks) {
  uint32_t satisfied = 0;
  uint32_t mandatory = 0;
  uint32_t mandatory_met = 0;
  uint32_t below = 0;
  for (uint32_t c = 1; c < gang.groups.size(); ++c) {
    if (gang.groups[c].parent != g) continue;
    const bool met = SatisfiedGroup(gang, c, counts, &below);
    satisfied += met;
    ++mandatory;
    mandatory_met += met;
  }
  for (uint32_t r = 0; r < gang.roles.size(); ++r) {
    if (gang.roles[r].group != g) continue;
    below += counts[r];
    const bool met = counts[r] >= std::max(1u, gang.roles[r].min_tasks);
    satisfied += met;
    if (gang.roles[r].min_tasks == 0) continue;
    ++mandatory;
    mandatory_met += met;
  }
  *tasks += below;
  const uint32_t minimum = gang.groups[g].min_children;
  const bool children =
      minimum == 0 ? mandatory == mandatory_met : satisfied >= minimum;
  return children && below >= gang.groups[g].min_tasks;
}

// The lowest number that no task of the role has.
uint32_t NextIndex(const std::vector<Assignment>& tasks, uint32_t role) {
  for (uint32_t i = 0;; ++i) {
    const TaskId task{role, i};
    if (std::none_of(tasks.begin(), tasks.end(),
                     [&](const Assignment& a) { return a.task == task; })) {
      return i;
    }
  }
}

bool Suits(const Cluster& cluster, const Gang& gang, const Assignment& a,
           const std::vector<Assignment>& others) {
  return Inside(cluster, gang, a) &&
         std::all_of(others.begin(), others.end(),
                     [&](const Assignment& b) {
                       return Compatible(cluster, gang, a, b);
                     }) &&
         cluster.Fits(a.at, Ledger::kBoth);
}

void ForEachSet(const Cluster& cluster, NodeIndex node, ShapeId shape,
                const std::function<void(DeviceSet)>& f) {
  if (!cluster.Admits(node, shape)) return;
  const uint64_t all = uint64_t{1} << cluster.node(node).devices.size();
  const uint32_t count = cluster.device_request(shape).count;
  for (uint64_t mask = 0; mask < all; ++mask) {
    if (static_cast<uint32_t>(std::popcount(mask)) == count) {
      f(DeviceSet::OfWords(mask));
    }
  }
}

class Search {
 public:
  Search(Cluster& cluster, const PreparedGang& gang,
         const std::vector<Assignment>& fixed)
      : cluster_(cluster), gang_(gang), kept_(fixed), placed_(fixed) {
    fixed_.assign(gang.gang.roles.size(), 0);
    fixed_shape_.assign(gang.gang.roles.size(), 0);
    for (const Assignment& a : fixed) {
      ++fixed_[a.task.role];
      fixed_shape_[a.task.role] = a.at.shape;
    }
  }

  // With `like`'s numbers of tasks and shapes.
  std::set<Way> Ways(const std::vector<Assignment>& like) {
    counts_ = fixed_;
    like_ = &like;
    for (const Assignment& a : like) {
      ++counts_[a.task.role];
      fixed_shape_[a.task.role] = a.at.shape;
    }
    shape_.assign(counts_.size(), 0);
    PlaceRole(0);
    return ways_;
  }

  std::optional<Optimum> Run() {
    uint32_t most = 0;
    for (const Role& role : gang_.gang.roles) most += role.desired_tasks;
    for (const Assignment& a : placed_) {
      for (const Assignment& b : placed_) {
        if (!Compatible(cluster_, gang_.gang, a, b)) return {};
      }
    }
    for (uint32_t total = 0; total <= most && !found_; ++total) {
      counts_.assign(gang_.gang.roles.size(), 0);
      ChooseCounts(0, total);
      if (found_) found_->tasks = total;
    }
    return found_;
  }

 private:
  void ChooseCounts(uint32_t role, uint32_t left) {
    if (role < counts_.size()) {
      const Role& r = gang_.gang.roles[role];
      const uint32_t fixed = fixed_[role];
      for (uint32_t n = 0; n <= left && fixed + n <= r.desired_tasks; ++n) {
        if (n > 0 && fixed + n < r.min_tasks) continue;
        counts_[role] = fixed + n;
        ChooseCounts(role + 1, left - n);
      }
      counts_[role] = 0;
      return;
    }
    uint32_t tasks = 0;
    if (left > 0 || !SatisfiedGroup(gang_.gang, 0, counts_, &tasks)) return;
    shape_.assign(counts_.size(), 0);
    PlaceRole(0);
  }

  void PlaceRole(uint32_t role) {
    if (role == counts_.size()) return Judge();
    for (uint32_t s = 0; s < gang_.shapes[role].size(); ++s) {
      shape_[role] = gang_.shapes[role][s];
      if (fixed_[role] == 0 && counts_[role] == 0) return PlaceRole(role + 1);
      if ((fixed_[role] > 0 || like_ != nullptr) &&
          shape_[role] != fixed_shape_[role]) {
        continue;
      }
      PlaceTask(role, counts_[role] - fixed_[role]);
    }
  }

  void PlaceTask(uint32_t role, uint32_t left) {
    if (left == 0) return PlaceRole(role + 1);
    const TaskId task{role, NextIndex(placed_, role)};
    for (const NodeIndex node : cluster_.nodes()) {
      ForEachSet(cluster_, node, shape_[role], [&](DeviceSet set) {
        const Assignment a{task, {node, shape_[role], set}};
        if (!Suits(cluster_, gang_.gang, a, placed_)) return;
        const Cluster::Mark mark = cluster_.Begin();
        cluster_.Charge(a.at, Ledger::kBoth);
        placed_.push_back(a);
        PlaceTask(role, left - 1);
        placed_.pop_back();
        cluster_.Rollback(mark);
      });
    }
  }

  void Judge() {
    if (!Spreads(cluster_, gang_, placed_, kept_)) return;
    if (like_ != nullptr) {
      std::vector<Assignment> added;
      for (const Assignment& a : placed_) {
        if (std::find(kept_.begin(), kept_.end(), a) == kept_.end()) {
          added.push_back(a);
        }
      }
      ways_.insert(WayOf(cluster_, gang_.gang, added, kept_));
      return;
    }
    const int level = EnclosingLevel(cluster_, placed_);
    const int64_t traffic = TrafficOf(cluster_, gang_.gang, placed_);
    if (found_ && (found_->level > level ||
                   (found_->level == level && found_->traffic <= traffic))) {
      return;
    }
    found_ = Optimum{0, level, traffic};
  }

  Cluster& cluster_;
  const PreparedGang& gang_;
  std::vector<uint32_t> counts_;
  const std::vector<Assignment> kept_;
  std::vector<uint32_t> fixed_;
  std::vector<ShapeId> fixed_shape_;
  std::vector<ShapeId> shape_;
  std::vector<Assignment> placed_;
  std::optional<Optimum> found_;
  const std::vector<Assignment>* like_ = nullptr;
  std::set<Way> ways_;
};

}  // namespace

std::optional<Optimum> BruteForce(Cluster& cluster, const PreparedGang& gang,
                                  const std::vector<Assignment>& fixed) {
  return Search(cluster, gang, fixed).Run();
}

std::set<Way> AllWays(Cluster& cluster, const PreparedGang& gang,
                      const std::vector<Assignment>& like,
                      const std::vector<Assignment>& fixed) {
  return Search(cluster, gang, fixed).Ways(like);
}

Way WayOf(const Cluster& cluster, const Gang& gang,
          const std::vector<Assignment>& tasks,
          const std::vector<Assignment>& fixed) {
  std::vector<Assignment> all = fixed;
  all.insert(all.end(), tasks.begin(), tasks.end());
  Way way{EnclosingLevel(cluster, all), {}, 0};
  way.traffic = TrafficOf(cluster, gang, all) - TrafficOf(cluster, gang, fixed);
  const TopologyIndex& index = cluster.index(0);
  for (size_t l = 0; l <= index.levels.size(); ++l) {
    std::set<uint32_t> domains;
    const auto domain = [&](const Assignment& a) {
      if (l == index.levels.size()) return a.at.node;
      const uint32_t inside = index.domain_of[l][a.at.node];
      return inside != TopologyIndex::kOutside ? inside
                                               : 0x80000000 | a.at.node;
    };
    for (const Assignment& a : tasks) domains.insert(domain(a));
    for (const Assignment& a : fixed) domains.erase(domain(a));
    way.domains.push_back(static_cast<uint32_t>(domains.size()));
  }
  return way;
}

bool CanGrow(const Cluster& cluster, const PreparedGang& gang,
             const std::vector<Assignment>& tasks) {
  bool can = false;
  for (uint32_t r = 0; r < gang.gang.roles.size(); ++r) {
    const auto first =
        std::find_if(tasks.begin(), tasks.end(),
                     [&](const Assignment& a) { return a.task.role == r; });
    if (first == tasks.end()) continue;
    const TaskId task{r, NextIndex(tasks, r)};
    const auto has =
        std::count_if(tasks.begin(), tasks.end(),
                      [&](const Assignment& a) { return a.task.role == r; });
    if (has >= gang.gang.roles[r].desired_tasks) continue;
    for (const NodeIndex node : cluster.nodes()) {
      ForEachSet(cluster, node, first->at.shape, [&](DeviceSet set) {
        const Assignment a{task, {node, first->at.shape, set}};
        if (can || !Suits(cluster, gang.gang, a, tasks)) return;
        std::vector<Assignment> more = tasks;
        more.push_back(a);
        can = Spreads(cluster, gang, more, tasks);
      });
    }
  }
  return can;
}

int EnclosingLevel(const Cluster& cluster,
                   const std::vector<Assignment>& tasks) {
  int level = static_cast<int>(cluster.index(0).levels.size());
  for (const Assignment& a : tasks) {
    level = std::min(level, SharedLevel(cluster, tasks[0].at.node, a.at.node));
  }
  return level;
}

int64_t TrafficOf(const Cluster& cluster, const Gang& gang,
                  const std::vector<Assignment>& tasks) {
  const int hosts = static_cast<int>(cluster.index(0).levels.size());
  int64_t cost = 0;
  for (const Traffic& t : gang.traffic) {
    for (const Assignment& a : tasks) {
      if (gang.roles[a.task.role].name != t.from) continue;
      for (const Assignment& b : tasks) {
        if (gang.roles[b.task.role].name != t.to) continue;
        if (a.at.node == b.at.node) continue;
        if (t.from == t.to && b.task < a.task) continue;  // Each pair once.
        cost += t.weight * (hosts - SharedLevel(cluster, a.at.node, b.at.node));
      }
    }
  }
  return cost;
}

bool Meets(const Cluster& cluster, const PreparedGang& gang,
           const std::vector<Assignment>& tasks,
           const std::vector<Assignment>& fixed) {
  std::vector<uint32_t> counts(gang.gang.roles.size(), 0);
  std::vector<ShapeId> shape(counts.size(), 0);
  for (const Assignment& a : tasks) {
    const std::vector<ShapeId>& shapes = gang.shapes[a.task.role];
    if (std::find(shapes.begin(), shapes.end(), a.at.shape) == shapes.end()) {
      return false;
    }
    if (counts[a.task.role]++ == 0) shape[a.task.role] = a.at.shape;
    if (shape[a.task.role] != a.at.shape) return false;
    if (!Inside(cluster, gang.gang, a)) return false;
    for (const Assignment& b : tasks) {
      if (&a != &b && a.task == b.task) return false;
      if (!Compatible(cluster, gang.gang, a, b)) return false;
    }
  }
  uint32_t all = 0;
  return SatisfiedGroup(gang.gang, 0, counts, &all) &&
         Spreads(cluster, gang, tasks, fixed);
}

}  // namespace muster::solver_test
