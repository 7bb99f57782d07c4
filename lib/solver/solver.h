// The library's own GangSolver: counts, then alternatives, then places.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/scoring/node_policy.h"
#include "lib/solver/count_plan.h"
#include "lib/solver/device_bound.h"
#include "lib/solver/explain.h"
#include "lib/solver/fabric_placer.h"
#include "lib/solver/gang_solver.h"
#include "lib/solver/group_search.h"
#include "lib/solver/large_role.h"
#include "lib/solver/partial_placement.h"
#include "lib/solver/placement_problem.h"
#include "lib/solver/rank_assigner.h"
#include "lib/solver/slot_table.h"
#include "lib/solver/uniform_placer.h"

namespace muster::solver {

class Solver final : public GangSolver {
 public:
  Solver(const PlacementOptions& options,
         std::span<const FabricTopology> fabrics)
      : policy_(scoring::NewNodePolicy(options)),
        uniform_(*policy_),
        fabric_(*policy_, uniform_.index(), fabrics),
        problem_(*policy_),
        table_(uniform_.index()) {}

  void Place(Cluster& cluster, const PlacementRequest& request,
             PlacementResult* result) override;
  void Grow(Cluster& cluster, const PlacementRequest& request,
            PlacementResult* result) override;
  bool SlotsDecide(const Cluster& cluster,
                   const PlacementRequest& request) const override;
  void NodesWithRoom(const Cluster& cluster, const PlacementRequest& request,
                     std::vector<NodeIndex>* nodes) override;

 private:
  void Find(const PlacementRequest& request, PlacementResult* result);
  void PlaceScope(const PlacementRequest& request, ScopeIndex top,
                  PlacementResult* result);
  bool IsLone(ScopeIndex top) const;
  bool PlaceLone(PlacementResult* result);
  bool TryChoices(PlacementResult* result);
  bool TryAlternatives(PlacementResult* result);
  bool TryCounts();
  bool WithinHeadroom();
  bool NextAlternatives();
  bool ChooseFrom(uint32_t role, uint32_t alternative);
  void BuildTables(std::span<const uint32_t> most);
  void ExplainNo(ScopeIndex top, PlacementResult* result);

  void FindGrowth(const PlacementRequest& request, PlacementResult* result);
  bool TakeHeadroom(std::span<const Assignment> tasks);
  bool BringUp(uint32_t role, PlacementResult* result);
  void GrowTogether(std::span<const uint32_t> roles, PlacementResult* result);
  void GrowRole(uint32_t role, uint32_t most, PlacementResult* result);
  void CountPlaced();
  size_t LeastFilled();
  void ImproveGrowth(const PlacementRequest& request, PlacementResult* result);
  bool ChooseShapes(std::span<const Assignment> tasks);
  ScopeIndex NotRunning(uint32_t role);
  void Keep(const std::vector<Assignment>& tasks, PlacementResult* result);

  // Bound on what goes into placing roles with traffic, in logical steps.
  static constexpr uint64_t kTrafficSteps = uint64_t{1} << 15;

  const std::unique_ptr<scoring::NodePolicy> policy_;
  Cluster* cluster_ = nullptr;  // Of the question in hand.
  UniformPlacer uniform_;
  FabricPlacer fabric_;
  DeviceBound bound_;
  PlacementProblem problem_;
  CountPlan plan_;
  SlotTable table_;
  PartialPlacement placement_;
  GroupSearch search_;
  Explain explain_;
  RankAssigner rank_order_;
  std::vector<uint32_t> most_;
  Reason headroom_reason_;
  std::optional<Reason> shortage_;  // GroupSearch's, the last one.
  Resources sum_;
  PlacementResult alone_;
  bool cut_short_ = false;

  std::vector<uint64_t> any_;  // By chunk; see NodesWithRoom.

  // Of Grow.
  PlacementRequest growing_;
  std::vector<Assignment> placed_;
  bool asks_placed_ = false;  // problem_ is that of growing_, beside placed_.
  Resources headroom_left_;
  bool uses_alike_ = true;           // Its tasks, whatever devices they have.
  std::vector<Assignment> refused_;  // The first ones beyond the headroom.
  PlacementResult part_;
  std::vector<uint32_t> counts_;
  std::vector<uint32_t> order_;
  std::vector<uint32_t> growing_roles_;
};

}  // namespace muster::solver
