// The commonest gang, tasks that are all alike, placed through the index.
#ifndef MUSTER_LIB_SOLVER_UNIFORM_PLACER_H_
#define MUSTER_LIB_SOLVER_UNIFORM_PLACER_H_

#include <cstdint>
#include <vector>

#include "lib/index/placement_index.h"
#include "lib/policy/node_policy.h"
#include "lib/solver/uniform_fill.h"
#include "lib/solver/uniform_reason.h"
#include "muster/placement_solver.h"

namespace muster::solver {

// Whether the gang is one role, whose least tasks are all that it needs.
bool IsUniform(const Gang& gang);

// Answers for gangs of one role without slices, preferences, traffic or tasks
// that run already; the general search answers the rest. The smallest
// enclosing domain first, at equal level the tightest, then the first; inside
// it see UniformFill. A single task goes to the node its policy ranks first.
class UniformPlacer {
 public:
  enum class Outcome {
    kPlaced,
    kNoRoom,   // Proven, headroom included; the result says nothing yet.
    kNotMine,  // Nothing was done.
  };

  explicit UniformPlacer(const policy::NodePolicy& policy)
      : policy_(policy), index_(policy) {}

  // Charges what it places unless request.dry_run. Steps count domains and
  // nodes looked at as if nothing were cached.
  Outcome Place(Cluster& cluster, const PlacementRequest& request,
                PlacementResult* result);

  index::PlacementIndex& index() { return index_; }

 private:
  bool IsMine(const Cluster& cluster, const PlacementRequest& request,
              UniformRule* rule) const;
  bool AddRule(const Cluster& cluster, const TopologyConstraint& c,
               UniformRule* rule) const;
  Outcome TryShape(Cluster& cluster, const PlacementRequest& request,
                   ShapeId shape, const UniformRule& rule,
                   PlacementResult* result);
  bool FindOneNode(const Cluster& cluster, index::Column& column,
                   const UniformRule& rule, uint32_t tasks,
                   PlacementResult* result);
  bool FindRegion(index::Column& column, const UniformRule& rule,
                  uint32_t tasks, Region* region, PlacementResult* result);
  void ChooseEach(const Cluster& cluster, Ledger ledger,
                  std::vector<Assignment>* tasks);
  void TakeEach(Cluster& cluster, const PlacementRequest& request,
                const index::Column& column, PlacementResult* result);
  void Take(Cluster& cluster, const PlacementRequest& request,
            const index::Column& column, PlacementResult* result);

  const policy::NodePolicy& policy_;
  index::PlacementIndex index_;
  UniformFill fill_;
  UniformReason reason_;
  std::vector<UniformFill::Share> shares_;
  std::vector<NodeIndex> nodes_;
  std::vector<Allocation> chosen_;
};

}  // namespace muster::solver

#endif  // MUSTER_LIB_SOLVER_UNIFORM_PLACER_H_
