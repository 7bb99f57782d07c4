// VictimSearch: chooses victims and a placement together.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"
#include "muster/ids.h"
#include "muster/runner_up.h"
#include "muster/victim_policy.h"

namespace muster {

// A running gang that may be stopped or shrunk for the preemptor.
struct VictimCandidate {
  GangId gang{};
  int32_t priority = 0;
  // What stopping the whole gang throws away, in device-milliseconds: work
  // since the last checkpoint plus the restart cost, times the devices (cpu
  // cores for a gang without devices).
  int64_t cost = 0;
  // All its tasks, charged to kBoth, surplus ones last, in the order in which
  // a shrink stops surplus from the back. Of a gang that may not be stopped:
  // only those that it can do without.
  std::span<const Assignment> tasks{};
  // How many tasks at the back of `tasks` may be stopped and leave the gang
  // satisfied. 0 where the host cannot shrink.
  uint32_t surplus = 0;
  // What the last task, the last two, ... throw away, likewise: `surplus` of
  // them, none less than the one before. Empty: nothing.
  std::span<const int64_t> surplus_costs{};
  // The numbers of tasks from the back by which the gang may shrink, ascending,
  // where not any number up to `surplus` will do: a child of a group is stopped
  // as a whole. Empty: any.
  std::span<const uint32_t> shrink_sizes{};
  bool stoppable = true;  // false: may be shrunk, never stopped.
};

struct PreemptionRequest {
  PlacementRequest placement{};                   // Its ledger is kLater.
  std::span<const VictimCandidate> candidates{};  // By (priority, key).
  VictimPolicy* rules = nullptr;
  // Bounds the search, in victim steps (SearchLimits): one for each bundle or
  // combination looked at, one or more for each question to the solver, by its
  // work; give or take those that finish what was begun. Then the best so far
  // is the answer.
  uint64_t victim_steps = 100'000;
};

struct Victim {
  uint32_t candidate = 0;  // Position in PreemptionRequest::candidates.
  uint32_t tasks = 0;      // How many from the back; all of a stoppable one:
                           // the whole gang.

  friend bool operator==(const Victim&, const Victim&) = default;
};

struct PreemptionResult {
  Fit fit = Fit::kNotNow;
  std::vector<Victim> victims{};    // By candidate.
  std::vector<Assignment> tasks{};  // The preemptor's, charged to kLater.
  int64_t cost = 0;
  // No allowed victims with that top priority cost less; at most `cost`.
  int64_t bound = 0;
  uint64_t steps = 0;  // Work steps, the solver's included.
  // Proven: no allowed set of victims has a lower top priority or, at the same,
  // a lower cost or, at the same, breaks fewer gangs; where none was found,
  // there is none.
  bool optimal = false;
  bool cut_short = false;  // victim_steps ended the search.
  RunnerUp runner_up{};
  int64_t gap() const { return cost - bound; }

  void Clear() {
    fit = Fit::kNotNow;
    victims.clear();
    tasks.clear();
    cost = 0;
    bound = 0;
    steps = 0;
    optimal = false;
    cut_short = false;
    runner_up = {};
  }
};

// Same rules as GangSolver: stateless, deterministic, one thread.
class VictimSearch {
 public:
  virtual ~VictimSearch() = default;

  // Finds victims whose release (with what is free already) places the whole
  // gang, using the lowest possible top priority among victims, then the
  // least cost, then the fewest gangs broken; what still ties is decided by
  // keys. Where there are too many combinations to try, the answer may cost
  // more, and says so (`optimal`). On kFits the victims' tasks are credited
  // to kLater and the gang's charged to it, in the open transaction; otherwise
  // the cluster is as it was. No victim is superfluous: without any one of
  // them, or with fewer of its surplus tasks, the gang would not fit. No
  // victims at all: it fits already.
  virtual void Choose(Cluster& cluster, GangSolver& solver,
                      const PreemptionRequest& request,
                      PreemptionResult* result) = 0;
};

std::unique_ptr<VictimSearch> NewVictimSearch();

}  // namespace muster
