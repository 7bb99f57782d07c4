// One question to the solver, compiled: constraints as level numbers, roles as
// columns of shapes, fixed tasks in order. Built anew by every call; keeps its
// memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/step_cost.h"
#include "lib/scoring/node_policy.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/tree.h"

namespace muster::solver {

// Scopes carry constraints: groups first, by position, then roles.
using ScopeIndex = uint32_t;
inline constexpr ScopeIndex kNoScope = 0xffffffff;

// A scope's constraint, resolved.
struct ScopeConstraint {
  int tree = -1;  // -1: it names no topology and asks nothing.
  int required = kEverywhere;
  int preferred = kEverywhere;
};

// One layer of slices that holds for a role: tasks k * size ... of the role
// share a domain. A layer of a group holds for each role below it by itself.
struct SliceRule {
  int tree = 0;
  int level = 0;
  uint32_t size = 1;
  uint32_t first_slice = 0;  // Position of slice 0 among all slices.
};

// A scope's spread, resolved. The domains whose counts the skew compares are
// those that lie in one domain of `region`, the narrowest level of the same
// tree that the scope or one around it requires.
struct SpreadRule {
  ScopeIndex scope = 0;
  int tree = 0;
  int level = 0;
  int region = kEverywhere;
  uint32_t most = 0;     // Tasks of a domain.
  uint32_t skew = 0;     // 0: no bound.
  uint32_t domains = 0;  // That must hold tasks.
  bool one_role = true;  // A single role lies below the scope.
};

// A shape of the question, and its column of the slot table: roles with the
// same shape share it.
struct ShapeColumn {
  ShapeId shape = 0;
  uint32_t limit = 0;  // More tasks of this column are never asked for.
};

// What a search in one domain ends with.
enum class SearchOutcome : uint8_t {
  kFound,
  kNone,      // Proven.
  kCutShort,  // The budget ended; or not able.
};

// Lists, one after the other in a single vector; the last one is open.
template <class T>
class Lists {
 public:
  void Clear() {
    all_.clear();
    first_.assign(1, 0);
  }
  void Add(T value) { all_.push_back(value); }
  void Close() { first_.push_back(static_cast<uint32_t>(all_.size())); }
  // Makes lists of the open one, which is sorted by list_of(value), a number.
  template <class F>
  void Split(uint32_t lists, const F& list_of) {
    uint32_t next = first_.back();
    for (uint32_t i = 0; i < lists; ++i) {
      while (next < all_.size() && list_of(all_[next]) == i) ++next;
      first_.push_back(next);
    }
  }
  std::span<const T> all() const { return all_; }
  std::span<T> open() { return std::span(all_).subspan(first_.back()); }
  std::span<const T> operator[](uint32_t i) const {
    return {all_.data() + first_[i], all_.data() + first_[i + 1]};
  }

 private:
  std::vector<T> all_;
  std::vector<uint32_t> first_;
};

// Of many members, since it is all that one placement asks, and what every
// search reads: one that looks at a role needs its rules, fixed tasks, counts
// and columns in the same loop, under the same numbers of scopes. Nearly all
// are flat lists, which keep their memory, and one-line reads of them.
class PlacementProblem {
 public:
  // Compares nodes and chooses devices; must outlive the problem.
  explicit PlacementProblem(const scoring::NodePolicy& policy)
      : policy_(&policy) {}

  // False if the request cannot be met whatever is free: an unknown topology
  // or level is required, or fixed tasks break a constraint; refusal() says.
  bool Init(const Cluster& cluster, const PlacementRequest& request);
  const Reason& refusal() const { return refusal_; }

  const Cluster& cluster() const { return *cluster_; }
  const PlacementRequest& request() const { return *request_; }
  Ledger ledger() const { return request_->ledger; }
  const scoring::NodePolicy& policy() const { return *policy_; }
  scoring::NodeQuestion QuestionOf(ShapeId shape) const {
    return {shape, request_->KeyOfGang()};
  }
  scoring::NodeLedger ViewOf(NodeIndex node) const {
    return {*cluster_, node, ledger()};
  }
  const Gang& gang() const { return request_->gang->gang; }
  uint32_t group_count() const { return groups_; }
  uint32_t role_count() const { return roles_; }
  const Role& role(uint32_t r) const { return gang().roles[r]; }
  const Group& group(uint32_t g) const { return gang().groups[g]; }
  // Roles of higher order first, then those of lower position.
  void SortByOrder(std::span<uint32_t> roles) const {
    std::ranges::sort(roles, {}, [&](uint32_t r) {
      return std::pair(-int64_t{role(r).order}, r);
    });
  }

  // --- Scopes and constraints ----------------------------------------------
  ScopeIndex ScopeOf(uint32_t role) const { return groups_ + role; }
  bool IsRole(ScopeIndex s) const { return s >= groups_; }
  uint32_t RoleOf(ScopeIndex s) const { return s - groups_; }
  // The scope around a scope; kNoScope around the root.
  ScopeIndex Parent(ScopeIndex s) const { return parent_[s]; }
  // Groups, then roles, right below a group.
  std::span<const ScopeIndex> Children(uint32_t group) const {
    return children_[group];
  }
  const ScopeConstraint& rule(ScopeIndex s) const { return rules_[s]; }
  // Scopes with a rule that hold for the role, innermost first.
  std::span<const ScopeIndex> Chain(uint32_t r) const { return chain_[r]; }
  std::span<const SliceRule> Slices(uint32_t r) const { return slices_[r]; }
  uint32_t slice_count() const { return slice_count_; }
  std::span<const SpreadRule> spreads() const { return spreads_; }
  // Positions of the spreads that hold for the role, innermost first.
  std::span<const uint32_t> Spreads(uint32_t role) const {
    return role_spreads_[role];
  }
  bool IsBelow(uint32_t role, ScopeIndex s) const;
  // Whether a spread may hold for some tasks and not for fewer of them.
  bool entangled() const { return entangled_; }
  // Whether a scope strictly below names a preferred level.
  bool PrefersBelow(ScopeIndex s) const { return prefers_below_[s] != 0; }
  bool constrained() const { return constrained_; }

  // The topologies in use; 0 is the root's, else the first any scope names,
  // else the first of the cluster.
  std::span<const Tree> trees() const { return trees_; }
  const Tree& tree(int t) const { return trees_[t]; }
  // Numbers of domains of a level; of nodes, also of those that are gone.
  size_t DomainLimit(int tree, int level) const {
    const Tree& t = trees_[tree];
    return level == t.hosts ? cluster_->node_limit()
                            : t.index->levels[level].size();
  }

  // --- Fixed tasks ---------------------------------------------------------
  std::span<const Assignment> Fixed() const { return fixed_.all(); }
  std::span<const Assignment> Fixed(uint32_t role) const {
    return fixed_[role];
  }
  uint32_t FixedCount(uint32_t role) const {
    return static_cast<uint32_t>(fixed_[role].size());
  }
  // Tasks that the role may have beside those.
  uint32_t MayGet(uint32_t r) const {
    const uint32_t fixed = FixedCount(r);
    return role(r).desired_tasks > fixed ? role(r).desired_tasks - fixed : 0;
  }
  // The narrowest level of the scope's tree that holds all its fixed tasks,
  // and one of their nodes; `any` is false without fixed tasks.
  struct Anchor {
    bool any = false;
    NodeIndex node = 0;
    int level = kEverywhere;
  };
  const Anchor& anchor(ScopeIndex s) const { return anchors_[s]; }

  // --- Counts and alternatives, set by the search --------------------------
  // How many tasks to add, by role.
  void SetAdd(std::span<const uint32_t> add);
  uint32_t add(uint32_t role) const { return add_[role]; }
  // The roles that get some.
  std::span<const uint32_t> Active() const { return active_; }
  // The numbers of the role's new tasks: the lowest that no fixed task has.
  std::span<const uint32_t> NewIndices(uint32_t r) const { return new_[r]; }
  uint32_t AddBelow(ScopeIndex s) const { return add_below_[s]; }
  // Roles below the scope that get tasks.
  uint32_t ActiveRoles(ScopeIndex s) const { return active_below_[s]; }

  // Collects columns for the roles that may get up to `most[r]` tasks.
  void BuildColumns(std::span<const uint32_t> most);
  std::span<const ShapeColumn> columns() const { return columns_; }
  const Resources& Demand(uint32_t column) const {
    return cluster_->demand(columns_[column].shape);
  }
  // The alternatives a role may take: all, or the one its fixed tasks have.
  std::span<const uint32_t> ColumnsOf(uint32_t role) const {
    return role_columns_[role];
  }
  void SetAlternative(uint32_t role, uint32_t alternative) {
    alternative_[role] = alternative;
  }
  // The one with this shape, if there is one.
  void SetShape(uint32_t role, ShapeId shape);
  uint32_t alternative(uint32_t role) const { return alternative_[role]; }
  uint32_t column(uint32_t role) const {
    return ColumnsOf(role)[alternative_[role]];
  }
  ShapeId shape(uint32_t role) const { return columns_[column(role)].shape; }

  // What the bounds of searches count, so far, and what is charged for it.
  uint64_t steps = 0;
  uint64_t nanos = 0;
  void Charge(uint64_t count, auto each) { nanos += count * each; }
  void Spend(uint64_t count, auto each) {
    steps += count;
    Charge(count, each);
  }

 private:
  bool InitScopes();
  void InitChildren();
  bool Resolve(ScopeIndex s, const TopologyConstraint& c);
  int UseTree(int topology);
  bool InitSlices();
  bool InitSpreads();
  int LevelOf(int tree, const std::string& name) const;
  void InitFixed();
  bool InitAnchors();
  const TopologyConstraint& Constraint(ScopeIndex s) const;
  uint32_t FindColumn(ShapeId shape);
  bool Refuse(ScopeIndex s);

  const scoring::NodePolicy* policy_;
  const Cluster* cluster_ = nullptr;
  const PlacementRequest* request_ = nullptr;
  Reason refusal_;
  uint32_t groups_ = 0;
  uint32_t roles_ = 0;
  bool constrained_ = false;
  std::vector<Tree> trees_;
  std::vector<ScopeIndex> parent_;
  Lists<ScopeIndex> children_;
  std::vector<ScopeConstraint> rules_;
  std::vector<uint8_t> prefers_below_;
  Lists<ScopeIndex> chain_;
  Lists<SliceRule> slices_;
  uint32_t slice_count_ = 0;
  std::vector<SpreadRule> spreads_;
  Lists<uint32_t> role_spreads_;
  bool entangled_ = false;
  Lists<Assignment> fixed_;
  std::vector<Anchor> anchors_;
  std::vector<uint32_t> add_;
  std::vector<uint32_t> active_;
  Lists<uint32_t> new_;
  std::vector<uint32_t> add_below_;
  std::vector<uint32_t> active_below_;
  std::vector<ShapeColumn> columns_;
  Lists<uint32_t> role_columns_;
  std::vector<uint32_t> alternative_;
};

}  // namespace muster::solver
