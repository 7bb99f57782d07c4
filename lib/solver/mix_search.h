// The best placement of a whole gang inside one domain, by a program over
// counts of tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/mix_tree.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/traffic.h"

namespace muster::solver {

// Asks a MixTree: its role types are the roles that get tasks (those that
// cannot be told apart are one), its leaves the nodes of the domain, with their
// slots and what is free there. Required levels, slices and bounds of spreads
// in the first tree are among its rules. What it leaves out (which devices,
// other trees, skews, the numbers of tasks in slices that have begun) only
// forbids more: that there is no way is a proof, and so is the bound; a way
// that it finds must still be tried on the placement.
class MixSearch {
 public:
  // Looks at problem.add(). Without edges of traffic the fewest new domains are
  // wanted, widest level first; with edges the least cost, then those.
  void Start(PartialPlacement& placement, const Traffic& traffic);

  // In a domain of the first tree, with nothing but fixed tasks on the
  // placement; at most `budget` steps, which are counted.
  SearchOutcome Solve(const DomainRef& domain, uint64_t budget);
  // After kFound: no placement in the domain costs less.
  int64_t traffic() const { return traffic_cost_; }
  // Without traffic: the new domains by level, widest first, nodes last.
  std::span<const uint32_t> domains() const { return domains_; }

  // Tries the way found on the placement. False, with nothing placed, if it
  // cannot be: then something that was left out forbids it.
  bool Put();

 private:
  struct RoleType {
    uint32_t column = 0;
    uint32_t role = 0;   // The first of its roles.
    uint32_t tasks = 0;  // Of them all.
  };
  void FindTypes(const Traffic& traffic);
  bool SameType(uint32_t a, uint32_t b, const Traffic& traffic) const;
  void FindDemand();
  bool FindUnits(int level);
  void FindRules(int level);
  uint32_t TypesBelow(ScopeIndex s) const;
  bool FindFixedTraffic(int level, uint32_t domain);
  void AddLeaf(NodeIndex node);
  void EnterNodes(const DomainRef& domain, int level);
  void Read(const DomainRef& domain, int level, int64_t worth);
  void OrderShares(uint32_t role, size_t k);
  void MoveRest(const SliceRule& slice, size_t k);
  bool PutType(uint32_t k);

  PartialPlacement* placement_ = nullptr;
  PlacementProblem* problem_ = nullptr;
  const Traffic* traffic_ = nullptr;
  bool able_ = false;  // The gang is small enough.
  std::vector<RoleType> types_;
  std::vector<uint32_t> type_of_;  // By role; kMaxRoleTypes: it gets no tasks.
  std::vector<uint32_t> want_;
  std::vector<ResourceKind> resources_;
  std::vector<uint32_t> shared_;  // Columns of several role types.
  std::vector<int64_t> demand_;
  std::vector<int64_t> weight_;  // Scaled, so that units are less than 1.
  int64_t scale_ = 1;
  std::vector<int64_t> unit_;
  std::vector<MixRule> rules_;
  std::vector<uint32_t> most_;
  std::vector<int64_t> free_;
  std::vector<int64_t> fixed_traffic_;
  std::vector<uint32_t> open_;  // Domains around the last leaf, by level.
  MixTree tree_;
  MixTree::Item root_ = MixTree::kNone;
  std::vector<uint32_t> order_;
  std::vector<MixTree::LeafShare> shares_;
  int64_t traffic_cost_ = 0;
  std::vector<uint32_t> domains_;
};

}  // namespace muster::solver
