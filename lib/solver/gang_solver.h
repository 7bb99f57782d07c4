// GangSolver: finds nodes and devices for the tasks of one gang.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lib/cluster/cluster.h"
#include "muster/certificate.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/placement_policy.h"
#include "muster/reason.h"
#include "muster/topology.h"

namespace muster {

// A gang ready to be placed: its description and its interned shapes.
// `groups` always has a root: the owner fills it in where the gang has none.
// The gang is within the bounds of Gang; solvers do not check it.
struct PreparedGang {
  Gang gang{};
  std::vector<std::vector<ShapeId>> shapes{};  // [role][alternative]
};

// One task and what it holds. The shape of `at` tells the alternative.
struct Assignment {
  TaskId task{};
  Allocation at{};

  friend bool operator==(const Assignment&, const Assignment&) = default;
};

// A question to the solver.
struct PlacementRequest {
  const PreparedGang* gang = nullptr;
  // The gang's key where gangs that are alike share a description that has
  // none; empty: gang->gang.key. Only PlacementPolicy::kRandom looks at it.
  std::string_view key{};
  Ledger ledger = Ledger::kBoth;  // kBoth: to start now; kLater: to nominate.
  // Tasks of the gang that keep their places. They count towards minima and
  // constraints (a gang that runs in rack 3 and requires one rack grows in
  // rack 3) and are already charged.
  std::span<const Assignment> fixed{};
  // Only these nodes (any order); empty: all.
  std::span<const NodeIndex> within{};
  // Bound on what may be added, by kind (device kind in thousandths); null:
  // none. The queue's headroom.
  const Resources* headroom = nullptr;
  // False: where there is no room, the answer is kNotNow whether it might be
  // kNever, and gives no reason, where finding them would cost more.
  bool explain = true;
  // Placement steps (SearchLimits) for proving that a placement is the best
  // there is, and finding a better one. 0: the first answer, which of a gang
  // that is not alike and alone claims nothing.
  uint64_t placement_steps = 200'000;
  // How many times more steps than at first a "no" may take until it counts as
  // not proven (PlacementResult::cut_short), and placement_steps besides. For a
  // question whose last answer was such a "no".
  uint32_t effort = 0;
  // Only asks: the answer is the same, and the cluster as it was.
  bool dry_run = false;
  // Of Grow: ends once it has added so many tasks; more only where a group,
  // role, slice or box comes whole.
  uint32_t most = 0xffffffff;

  std::string_view KeyOfGang() const {
    return key.empty() ? std::string_view(gang->gang.key) : key;
  }
};

// The solver's answer. Reused between calls: vectors keep their capacity.
struct PlacementResult {
  Fit fit = Fit::kNotNow;
  std::vector<Assignment> tasks{};  // Added ones, by (role, index).
  Reason reason{};                  // Why not, with the nearest shortfall.
  // Of kNotNow: the searches ended before they found a placement, or that there
  // is none. The reason is kNotFound then.
  bool cut_short = false;
  Certificate certificate{};
  // Work steps, whatever a cache knew: the same on every machine.
  uint64_t steps = 0;

  void Clear() {
    fit = Fit::kNotNow;
    tasks.clear();
    reason = {};
    cut_short = false;
    certificate.levels.clear();
    certificate.traffic = {};
    certificate.optimal = false;
    steps = 0;
  }
};

// Stateless between calls apart from scratch memory: the same question on the
// same cluster state gets the same answer, and ties are broken by keys. One
// thread at a time; one solver may serve several clusters.
class GangSolver {
 public:
  virtual ~GangSolver() = default;

  // Adds the fewest tasks that make the gang's root group satisfied (see
  // Group), beside the fixed ones, meeting every constraint. On kFits the
  // added tasks are charged to request.ledger in `cluster`, inside whatever
  // transaction is open; otherwise the cluster is as it was. New tasks of a
  // role get its lowest indices that no fixed task has. kNever is answered
  // only when it holds for the cluster with all gangs (not others) gone.
  virtual void Place(Cluster& cluster, const PlacementRequest& request,
                     PlacementResult* result) = 0;

  // For a gang that is satisfied by the fixed tasks: adds as many tasks as fit
  // towards desired_tasks, optional groups and roles whole at their minimum.
  // Roles of higher order first; those of equal order in proportion: the next
  // task is of the role that has the least part of desired_tasks - min_tasks
  // beyond its minimum, of equals of the first. Never fails: kFits with what
  // was added, perhaps nothing. Tasks go where they are best one after another;
  // where better places for all of them together are found within
  // placement_steps, there. The certificate compares with all places for as
  // many.
  virtual void Grow(Cluster& cluster, const PlacementRequest& request,
                    PlacementResult* result) = 0;

  // Whether slots decide: in any nodes of one domain of the level that the gang
  // requires (in any at all, if it requires none) it fits if and only if
  // Cluster::Slots of its shape add up to the tasks that Place would add. Who
  // counts slots need not ask then. False where that is not known. O(1).
  virtual bool SlotsDecide(const Cluster& cluster,
                           const PlacementRequest& request) const {
    (void)cluster, (void)request;
    return false;
  }

  // Appends, by key, the nodes of the cluster that have room in the request's
  // ledger for a task of one of the gang's shapes. Others may be among them; as
  // long as this is not overridden, all others. The library's own: O(nodes / 64
  // + nodes with room), where little changed since its last question.
  virtual void NodesWithRoom(const Cluster& cluster,
                             const PlacementRequest& request,
                             std::vector<NodeIndex>* nodes) {
    (void)request;
    nodes->insert(nodes->end(), cluster.nodes().begin(), cluster.nodes().end());
  }
};

// Fabrics are copied; one that Fabric::FromText does
// not take is as if it had no nodes.
std::unique_ptr<GangSolver> NewGangSolver(
    const PlacementOptions& options = {},
    std::span<const FabricTopology> fabrics = {});

}  // namespace muster
