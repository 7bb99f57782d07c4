// One plan on trial: what the invariants look at.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "muster/state.h"
#include "test/property/print.h"
#include "test/property/state_usage.h"

namespace muster {

// So often doubled, bounded; of no eviction, nothing.
inline Duration Doubled(uint32_t evictions, Duration base, Duration most) {
  if (evictions == 0) return 0;
  Duration time = base;
  while (evictions-- > 0 && time < most) time *= 2;
  return std::min(time, most);
}

struct Trial {
  Trial(const SchedulerState& before, const PlanRecord& plan, const Plan& raw,
        const SchedulerState& after)
      : before_state(before),
        after_state(after),
        before(before),
        after(after),
        plan(plan),
        raw(raw) {}

  size_t KindNamed(const std::string& name) const {
    return before_state.config.KindOf(name);
  }
  // By kind, the devices' thousandths included.
  std::vector<int64_t> KindsOf(const NodeUse& use) const {
    std::vector<int64_t> kinds = use.amount;
    const size_t gpu = KindNamed(before_state.config.device_kind);
    for (const auto& [d, share] : use.devices) kinds[gpu] += share.milli;
    return kinds;
  }

  // It has made room since something external happened, or was evicted of late.
  bool NobodyGivesWayTo(const GangState& g) const {
    const EvictionBackoff& b = before_state.config.eviction_backoff;
    return (g.made_room_seq > 0 &&
            g.made_room_seq >= before_state.external_seq) ||
           plan.now < g.evicted + Doubled(g.evictions, b.wait_base, b.wait_max);
  }

  const SchedulerState& before_state;
  const SchedulerState& after_state;
  const StateUsage before;
  const StateUsage after;
  const PlanRecord& plan;
  const Plan& raw;
};

inline bool Stops(DecisionKind kind) {
  return kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
         kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
}

inline bool Places(DecisionKind kind) {
  return kind == DecisionKind::kStart || kind == DecisionKind::kGrow ||
         kind == DecisionKind::kResume || kind == DecisionKind::kNominate;
}

inline TaskState AsState(const PlannedTaskRecord& p) {
  return {p.task,    TaskPhase::kStarting, p.attempt,    p.node,
          p.devices, p.alternative,        p.first_slice};
}

inline std::string Text(const DecisionRecord& d) { return Printer::Text(d); }

// The invariants of placement: nodes and devices that take what they are given,
// required levels, slices and spreads. As BrokenInvariant.
std::string BrokenPlacementInvariant(const Trial& trial);

// The invariant of preemption: who may be stopped for whom.
std::string BrokenVictimInvariant(const Trial& trial);

}  // namespace muster
