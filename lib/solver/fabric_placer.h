// Gangs on networks that are no tree: which nodes, asked of a Fabric.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/index/placement_index.h"
#include "lib/index/recent.h"
#include "lib/scoring/node_policy.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/uniform_reason.h"
#include "muster/fabric/fabric.h"
#include "muster/placement_solver.h"
#include "muster/topology.h"

namespace muster::solver {

// One role whose constraint (or that of its group) names a fabric. The fewest
// nodes that hold the tasks, equally many on each but the last; of these the
// ones that Fabric::Select or FindBox names, tasks in its ring order. Where
// tasks run already, new ones go where the hops to all of them are fewest, one
// after another; in a box, into one that has all that runs in it, too.
class FabricPlacer {
 public:
  // Fabrics that cannot be read are as if they had no nodes. The policy's index
  // must stay.
  FabricPlacer(const scoring::NodePolicy& policy, index::PlacementIndex& index,
               std::span<const FabricTopology> fabrics);

  bool IsMine(const PlacementRequest& request) const;
  // As GangSolver's.
  void Place(Cluster& cluster, const PlacementRequest& request,
             PlacementResult* result);
  void Grow(Cluster& cluster, const PlacementRequest& request,
            PlacementResult* result);

 private:
  struct Known {
    std::string key{};
    std::vector<Fabric> fabric{};  // One; none if it cannot be read.
    index::MadeFrom made_from{};
    std::vector<NodeIndex> nodes{};  // [fabric's node]
  };
  static constexpr NodeIndex kNoNode = 0xffffffff;

  static const TopologyConstraint* ConstraintOf(const Gang& gang);
  // The position of the gang's fabric, or fabrics_.size().
  size_t Find(const PlacementRequest& request) const;
  bool Start(Cluster& cluster, const PlacementRequest& request,
             PlacementResult* result);
  // The tasks that `most` has beside the fixed ones.
  uint32_t Beside(uint32_t most) const {
    const size_t fixed = request_->fixed.size();
    return most > fixed ? most - static_cast<uint32_t>(fixed) : 0;
  }
  bool Add();
  bool TryShape(ShapeId shape);
  template <class SlotsOf>
  bool FindNodes(const SlotsOf& slots_of);
  bool FindFor(uint32_t nodes, uint32_t tasks_each);
  bool Nearest(uint32_t nodes);
  bool InOneDomain() const;
  bool FreeInOneDomain(uint32_t nodes);
  void Take(ShapeId shape);
  void ExplainNo();

  const scoring::NodePolicy& policy_;
  index::PlacementIndex& index_;
  std::vector<Known> fabrics_;
  UniformReason reason_;
  // The question in hand.
  Cluster* cluster_ = nullptr;
  const PlacementRequest* request_ = nullptr;
  PlacementResult* result_ = nullptr;
  const Known* known_ = nullptr;
  const Fabric* fabric_ = nullptr;
  bool box_ = false;    // All in one box,
  bool host_ = false;   // on one node,
  int level_ = -1;      // or in one domain of this level of the fabric.
  uint32_t tasks_ = 0;  // To add.
  uint32_t tasks_each_ = 0;
  std::vector<uint32_t> fixed_nodes_;
  std::vector<uint32_t> slots_;     // [fabric's node]
  std::vector<uint8_t> free_;       // Likewise: has room for tasks_each_.
  std::vector<uint8_t> has_fixed_;  // Likewise: has a fixed task.
  std::vector<uint8_t> allowed_;    // By node, where the request names some.
  std::vector<uint32_t> chosen_;    // Fabric's nodes, by rank.
  std::vector<int64_t> hops_;
  std::vector<uint8_t> used_;  // Indices of fixed tasks.
};

}  // namespace muster::solver
