// The commonest gang, tasks that are all alike, placed through the index.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/index/placement_index.h"
#include "lib/scoring/node_policy.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/uniform_fill.h"
#include "lib/solver/uniform_reason.h"

namespace muster::solver {

// Whether the gang is one role, whose least tasks are all that it needs, under
// no constraints but that `rule`.
bool IsUniform(const Cluster& cluster, const Gang& gang, UniformRule* rule);

// Answers for gangs of one role without slices, traffic or tasks that run
// already; the general search answers the rest. The smallest enclosing domain
// first, at equal level the tightest, then the first; inside it see
// UniformFill. A single task goes to the node of least NodePolicy::NodeCost.
//
// Where nodes differ in their scores (Cluster::Score), it answers if all tasks
// fit on nodes of the best score that there is, in no more domains than they
// would need on any: that is the best in both. Of single nodes with room for
// all it takes one of the best score.
class UniformPlacer {
 public:
  explicit UniformPlacer(const scoring::NodePolicy& policy)
      : policy_(policy), index_(policy), reason_(index_) {}

  // Whether it answers; otherwise nothing is done, and the result says nothing.
  // Charges what it places unless request.dry_run. Steps count domains and
  // nodes looked at as if nothing were cached.
  bool Place(Cluster& cluster, const PlacementRequest& request,
             PlacementResult* result);

  // Where so many tasks of a role would lie, with this shape and under this
  // rule, were they the whole gang: replaces the result. Charges nothing, and
  // knows of no headroom. False if there is no room, or it does not answer.
  bool PlaceAlone(Cluster& cluster, const PlacementRequest& request,
                  uint32_t role, uint32_t tasks, ShapeId shape,
                  const UniformRule& rule, PlacementResult* result);

  index::PlacementIndex& index() { return index_; }

 private:
  enum class PlaceOutcome {
    kPlaced,
    kNoRoom,  // Proven, headroom included.
    kNotMine,
  };

  bool IsMine();
  PlaceOutcome TryShape(ShapeId shape);
  index::ShapeSlots& SlotsOf(ShapeId shape, std::optional<int64_t> score);
  PlaceOutcome Find(index::ShapeSlots& slots);
  PlaceOutcome FindByScore(index::ShapeSlots& all);
  PlaceOutcome FindOneByScore(index::ShapeSlots& all);
  bool NeedsNoMore();
  bool FindOneNode(index::ShapeSlots& slots);
  bool FindRegion(index::ShapeSlots& slots, FillArea* region);
  void ChooseEach();
  void TakeEach(const index::ShapeSlots& slots);
  void Take(const index::ShapeSlots& slots);

  const scoring::NodePolicy& policy_;
  index::PlacementIndex index_;
  UniformFill fill_;
  UniformReason reason_;
  // The question in hand.
  Cluster* cluster_ = nullptr;
  const PlacementRequest* request_ = nullptr;
  PlacementResult* result_ = nullptr;
  UniformRule rule_;
  uint32_t tasks_ = 0;
  std::vector<UniformFill::PositionTasks> shares_;
  std::vector<NodeIndex> nodes_;
  std::vector<Allocation> chosen_;
  std::vector<Certificate::Level> levels_;  // On nodes of any score.
};

}  // namespace muster::solver
