// Preemptor: chooses victims and a placement together, without a scheduler.
#ifndef MUSTER_PREEMPTOR_H_
#define MUSTER_PREEMPTOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/certificate.h"
#include "muster/export.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/placement.h"
#include "muster/placement_solver.h"
#include "muster/runner_up.h"
#include "muster/victim_policy.h"

namespace muster {

// A gang that holds places in the PlacementSolver and may be stopped, or may
// lose tasks that it can do without.
struct PreemptibleGang {
  std::string gang{};    // Its key.
  int32_t priority = 0;  // Victims are of the lowest priorities that suffice.
  // What is lost if all of it stops: for instance the work since its last
  // checkpoint, in device-milliseconds. Any unit, the same for all; not
  // negative, and those of all candidates add up to 2^62 at most. Of a part of
  // its tasks: their share of it, rounded up.
  int64_t cost = 0;
  bool stoppable = true;   // Whether all its tasks may be stopped.
  bool shrinkable = true;  // Whether tasks beyond its minimum may be.
};

// Which gangs to stop so that the gang can run, and where it runs.
struct VictimChoice {
  struct Victim {
    uint32_t candidate = 0;       // Position in the candidates given.
    std::vector<TaskId> tasks{};  // Those that are to stop.
    bool whole = false;           // They are all that it has.
  };

  // kFits: the gang can run once the victims are gone; without victims, at
  // once. Otherwise no victims were found that suffice.
  Fit fit = Fit::kNotNow;
  std::vector<Victim> victims{};    // By candidate.
  std::vector<PlacedTask> tasks{};  // The gang's, by role and index.
  int64_t cost = 0;                 // Of all victims.
  // No victims that are allowed, with the same highest priority, cost less.
  int64_t bound = 0;
  RunnerUp runner_up{};
  // Proven: no victims that are allowed have a lower highest priority or, at
  // the same, a lower cost or, at the same, break fewer gangs; where none were
  // found, there are none.
  bool optimal = false;
  bool cut_short = false;  // The search ended by its bound of steps.
  // By how much the victims may cost more than the cheapest ones.
  int64_t gap() const { return cost - bound; }
};

// The search for victims of Scheduler, for a host that has its own queues: of
// the lowest possible highest priority, then of the least cost, then of the
// fewest gangs; ties are broken by keys. No victim is superfluous. The same
// question gets the same answer on every machine. Keeps nothing but memory to
// work in between questions: one thread at a time, any number of solvers.
// docs/placement.md says how it searches.
class MUSTER_API Preemptor {
 public:
  Preemptor();
  Preemptor(Preemptor&&) noexcept;
  Preemptor& operator=(Preemptor&&) noexcept;
  ~Preemptor();

  // Victims among the candidates for a gang that has no places in `solver`,
  // which is as it was afterwards: the caller stops them, releases what they
  // held, and lets the gang Hold the tasks. `policy` may be null: every set is
  // allowed; it speaks of candidates by position. Ends after `victim_steps`
  // trials (SearchLimits) with the best found so far.
  // INVALID_ARGUMENT names the field; NOT_FOUND: a candidate holds nothing in
  // the solver.
  absl::StatusOr<VictimChoice> Choose(
      const PlacementSolver& solver, const Gang& gang,
      std::span<const PreemptibleGang> candidates,
      VictimPolicy* policy = nullptr, uint64_t victim_steps = 100'000);

 private:
  class Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace muster

#endif  // MUSTER_PREEMPTOR_H_
