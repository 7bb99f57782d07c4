// Improves a gang's placement, and bounds how far it is from the optimum.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/solver/exact_search.h"
#include "lib/solver/gang_bound.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/mix_search.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/traffic.h"

namespace muster::solver {

// Placements are compared by traffic among those inside one domain of the level
// that encloses the first one; without traffic, by the domains that they open,
// level after level. All domains of that level that may hold the gang are
// looked at: first what GangBound says of them; then, those of the least bound
// first, by MixSearch, as far as the steps go. Traffic that is not settled then
// is left to exhaustive and to local search.
class Refiner {
 public:
  struct Budget {
    uint64_t steps = 0;   // Of bounds and programs over counts.
    uint64_t search = 0;  // Of searches that lower traffic.
  };

  // `placement` holds all problem.add() tasks, put since `mark`, a transaction,
  // inside `domain`, the narrowest around them and the fixed tasks. A better
  // placement replaces it; without traffic not if `keep`. If `alone` is
  // optimal, it is of some of the tasks by themselves, inside the first tree.
  void Refine(PartialPlacement& placement, PartialPlacement::Mark* mark,
              const DomainRef& domain, Traffic& traffic, bool keep,
              const Certificate& alone, const Budget& budget,
              Certificate* certificate);

 private:
  // A domain that may hold the gang, and what no placement there falls below.
  struct RefinedDomain {
    uint32_t domain = 0;
    bool outside = false;     // It is a node outside the topology.
    bool impossible = false;  // No placement lies there.
    bool exact = false;       // least() is of one (or nearly) there is.
    int64_t traffic = 0;
    size_t first = 0;  // In least_.
  };

  DomainRef DomainRefOf(const RefinedDomain& c) const {
    return {0, domain_.level, c.domain};
  }
  std::span<uint32_t> Least(const RefinedDomain& c) {
    return std::span(least_).subspan(c.first, used_.size());
  }
  uint64_t StepsLeft() const;
  bool MayLieOutside() const;
  void FindCandidates();
  void CountUsed();
  void KeepPlaced(const PartialPlacement::Mark& mark);
  bool MayBeFewer(const RefinedDomain& c);
  void BoundDomains(RefinedDomain* c, bool nodes);
  void RaiseToAlone(RefinedDomain* c);
  void RefineDomains(bool keep);
  void Solve(RefinedDomain* c);
  void CertifyDomains(Certificate* certificate);
  void RefineTraffic();
  void SearchTraffic(PartialPlacement::Mark* mark, Traffic& traffic,
                     uint64_t steps);
  int64_t LeastTraffic() const;

  PartialPlacement* placement_ = nullptr;
  PlacementProblem* problem_ = nullptr;
  const Traffic* traffic_ = nullptr;
  DomainRef domain_{};
  uint64_t deadline_ = 0;
  std::span<const Certificate::Level> alone_;
  std::vector<Assignment> best_;
  int64_t cost_ = 0;            // Its traffic.
  std::vector<uint32_t> used_;  // Its domains without fixed tasks, by level.
  std::vector<RefinedDomain> candidates_;
  std::vector<uint32_t> least_;
  std::vector<uint32_t> distinct_;
  GangBound bound_;
  MixSearch mix_;
  ExactSearch exact_;
};

}  // namespace muster::solver
