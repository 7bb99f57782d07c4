// What a PlacementSolver knows: nodes, and the gangs that hold places there.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/base/string_map.h"
#include "lib/cluster/cluster.h"
#include "lib/scheduler/gang_spec.h"
#include "lib/solver/gang_solver.h"
#include "muster/config.h"
#include "muster/placement_solver.h"

namespace muster {

class PlacementSolver::Rep {
 public:
  struct PlacedGang {
    SpecIndex spec = 0;
    std::vector<Assignment> tasks{};  // Charged to both ledgers.
    Resources use{};                  // What they asked for when they came.
  };

  struct Charge {
    std::string_view gang{};  // Its key.
    Allocation at{};
  };

  explicit Rep(SchedulerConfig valid_config);

  // Of a gang that is to get places: it is valid, and has none yet.
  absl::Status CheckNew(const Gang& gang) const;
  // Of PlacementSolver::Find; with `keep` of Place.
  absl::StatusOr<Placement> Answer(const Gang& gang, bool keep);
  PlacementRequest RequestFor(std::string_view key, SpecIndex spec) const;
  // What is charged on the node, by gang; nothing on one that is not there.
  // O(tasks of all gangs).
  std::vector<Charge> ChargesOn(NodeId node) const;
  Placement ToPlacement(const GangSpec& spec, const PlacementResult& result);
  std::vector<PlacedTask> ToTasks(const GangSpec& spec,
                                  std::span<const Assignment> tasks) const;
  // The task as a charge, if it can be one.
  absl::StatusOr<Allocation> ToAllocation(const GangSpec& spec,
                                          const std::string& field,
                                          const PlacedTask& task) const;
  // The charges are the gang's; `spec` was interned for it.
  void Keep(const Gang& gang, SpecIndex spec,
            std::span<const Assignment> tasks);
  // Its tasks have changed.
  void CountUse(PlacedGang& placed);
  void Forget(std::string_view gang);

  const SchedulerConfig config;
  Cluster cluster;
  SpecTable specs;
  std::unique_ptr<GangSolver> solver;
  StringMap<PlacedGang> gangs{};  // Those with places.
  Resources use{};                // Of all that is placed.
  PlacementResult answer{};       // Of the question in hand.
};

}  // namespace muster
