// PreemptionCosts: what it costs to stop a gang for another one.
#ifndef MUSTER_PREEMPTION_COSTS_H_
#define MUSTER_PREEMPTION_COSTS_H_

#include <cstdint>

namespace muster {

// The weights of a sum that preemption keeps low, among victims of equal
// highest priority, in device-milliseconds (core-milliseconds for a gang
// without devices). Its unit is the work since a gang's last checkpoint times
// its devices; a surplus task counts with its own devices. What may be
// taken at all does not depend on it: see docs/design.md.
struct PreemptionCosts {
  static constexpr uint32_t kMaxRestart = 1'000'000;
  static constexpr int64_t kMaxGang = int64_t{1} << 42;

  // How much of Gang::restart_cost counts, times the devices, in thousandths.
  uint32_t restart = 1000;
  // For each gang that is stopped, whatever it loses; at most kMaxGang. Not for
  // one that was only nominated, nor for one that only shrinks.
  int64_t gang = 0;
  // No gang is stopped where the tasks that elastic gangs can do without are
  // enough, though stopping one may cost less.
  bool surplus_first = true;

  // As few gangs are stopped as possible; of so many, those that lose least:
  // where victims lose less than 2^42 device-milliseconds (a million
  // device-hours) in all.
  static constexpr PreemptionCosts FewestGangs() { return {.gang = kMaxGang}; }

  friend bool operator==(const PreemptionCosts&,
                         const PreemptionCosts&) = default;
};

}  // namespace muster

#endif  // MUSTER_PREEMPTION_COSTS_H_
