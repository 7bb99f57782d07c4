// The best placement of a whole gang inside one domain, by a program over
// counts of tasks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/board.h"
#include "lib/solver/mix_tree.h"
#include "lib/solver/problem.h"
#include "lib/solver/traffic.h"

namespace muster::solver {

// Asks a MixTree: its kinds are the roles that get tasks (those that cannot be
// told apart are one), its leaves the nodes of the domain, with their slots and
// what is free there. Required levels, slices and bounds of spreads in the
// first tree are among its rules. What it leaves out (which devices, other
// trees, skews, the numbers of tasks in slices that have begun) only forbids
// more: that there is no way is a proof, and so is the bound; a way that it
// finds must still be tried on the board.
class MixSearch {
 public:
  // Looks at problem.add(). Without lines of traffic the fewest new domains are
  // wanted, widest level first; with lines the least cost, then those.
  void Start(Board& board, const Traffic& traffic);

  // In a domain of the first tree, with nothing but fixed tasks on the board;
  // at most `budget` steps, which are counted.
  Outcome Solve(const DomainRef& domain, uint64_t budget);
  // After kFound: no placement in the domain costs less.
  int64_t traffic() const { return traffic_cost_; }
  // Without traffic: the new domains by level, widest first, nodes last.
  std::span<const uint32_t> domains() const { return domains_; }

  // Tries the way found on the board. False, with nothing placed, if it cannot
  // be: then something that was left out forbids it.
  bool Put();

 private:
  struct Kind {
    uint32_t column = 0;
    uint32_t role = 0;   // The first of its roles.
    uint32_t tasks = 0;  // Of them all.
  };
  void FindKinds(const Traffic& traffic);
  bool SameKind(uint32_t a, uint32_t b, const Traffic& traffic) const;
  void FindDemand();
  bool FindUnits(int level);
  void FindRules(int level);
  uint32_t KindsBelow(ScopeIndex s) const;
  bool FindPull(int level, uint32_t domain);
  void AddLeaf(NodeIndex node);
  void Tell(const DomainRef& domain, int level);
  void Read(const DomainRef& domain, int level, int64_t worth);
  void OrderShares(uint32_t role, size_t k);
  void MoveRest(const SliceRule& slice, size_t k);
  bool PutKind(uint32_t k);

  Board* board_ = nullptr;
  Problem* problem_ = nullptr;
  const Traffic* traffic_ = nullptr;
  bool able_ = false;  // The gang is small enough.
  std::vector<Kind> kinds_;
  std::vector<uint32_t> kind_of_;  // By role; kMaxMixKinds: it gets no tasks.
  std::vector<uint32_t> want_;
  std::vector<ResourceKind> resources_;
  std::vector<uint32_t> shared_;  // Columns of several kinds.
  std::vector<int64_t> demand_;
  std::vector<int64_t> weight_;  // Scaled, so that units are less than 1.
  int64_t scale_ = 1;
  std::vector<int64_t> unit_;
  std::vector<MixRule> rules_;
  std::vector<uint32_t> most_;
  std::vector<int64_t> free_;
  std::vector<int64_t> pull_;
  std::vector<uint32_t> open_;  // Domains around the last leaf, by level.
  MixTree tree_;
  MixTree::Item root_ = MixTree::kNone;
  std::vector<uint32_t> order_;
  std::vector<MixTree::Share> shares_;
  int64_t traffic_cost_ = 0;
  std::vector<uint32_t> domains_;
};

}  // namespace muster::solver
