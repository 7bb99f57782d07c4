#include "test/property/plan_invariants.h"

#include <algorithm>
#include <map>
#include <vector>

#include "test/property/trial.h"

namespace muster {

namespace {

class PlanInvariants {
 public:
  explicit PlanInvariants(const Trial& trial) : trial_(trial) {}

  std::string Verdict() {
    for (auto invariant :
         {&PlanInvariants::Numbers, &PlanInvariants::Capabilities,
          &PlanInvariants::Capacity, &PlanInvariants::Waves,
          &PlanInvariants::Limits, &PlanInvariants::Minimum,
          &PlanInvariants::Useful, &PlanInvariants::Purpose,
          &PlanInvariants::Fifo, &PlanInvariants::Holds,
          &PlanInvariants::Spared, &PlanInvariants::Preemptions,
          &PlanInvariants::KeepsRunning, &PlanInvariants::Raised}) {
      if (std::string broken = (this->*invariant)(); !broken.empty())
        return broken;
    }
    return "";
  }

 private:
  std::string Numbers() {
    uint64_t seq = trial_.before_state.next_seq;
    for (const DecisionRecord& d : trial_.plan.decisions) {
      if (d.seq != seq++) return "numbers: " + Printer::Text(d);
    }
    if (trial_.after_state.next_seq != seq) return "numbers: next_seq";
    if (trial_.plan.based_on != trial_.before_state.version)
      return "numbers: based_on";
    const uint64_t budget = trial_.before_state.config.work_budget;
    if (budget > 0 && trial_.plan.steps > budget &&
        !trial_.plan.budget_exhausted) {
      return "numbers: over the budget";
    }
    return "";
  }

  // Nothing is asked that the host cannot do.
  std::string Capabilities() {
    const HostCapabilities& host = trial_.before_state.config.host;
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const bool bad = (d.kind == DecisionKind::kShrink && !host.shrink) ||
                       (d.kind == DecisionKind::kSuspend && !host.suspend) ||
                       (d.kind == DecisionKind::kResume && !host.suspend) ||
                       d.kind == DecisionKind::kMigrate ||
                       d.kind == DecisionKind::kReserve ||
                       (d.grace > 0 && !host.grace);
      if (bad) return "capabilities: " + Printer::Text(d);
    }
    for (const Decision& d : trial_.raw.decisions) {
      if (d.kind == DecisionKind::kNominate && !host.nominate) {
        return "capabilities: a nomination is told";
      }
      for (const PlannedTask& t : trial_.raw.TasksOf(d)) {
        if (!t.devices.empty() && !host.choose_devices) {
          return "capabilities: devices are chosen";
        }
      }
    }
    return "";
  }

  // What was placed fits: now, if it starts; and beside all that is nominated.
  std::string Capacity() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.after.gang(d.gang);
      if (!Places(d.kind) || g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const TaskState* t = Find(*g, p.task);
        if (t == nullptr || t->node != p.node) continue;  // Withdrawn since.
        const NodeUse use = trial_.after.UseOf(g->gang, *t);
        std::string over;
        if (t->phase != TaskPhase::kNominated) {
          over = trial_.after.Exceeds(t->node, use, trial_.after.Now(t->node));
        }
        if (over.empty() && t->phase != TaskPhase::kReleasing) {
          over =
              trial_.after.Exceeds(t->node, use, trial_.after.Later(t->node));
        }
        if (!over.empty()) return "capacity: " + over + " by " + Text(d);
      }
    }
    return "";
  }

  // What is told of the room that was made is what was decided.
  std::string Preemptions() {
    for (const Preemption& p : trial_.raw.preemptions) {
      const std::string gang(trial_.raw.Text(p.gang_key));
      uint32_t victims = 0;
      bool placed = false;
      for (const DecisionRecord& d : trial_.plan.decisions) {
        victims += d.on_behalf_of == gang ? 1 : 0;
        placed |= d.gang == gang && Places(d.kind);
      }
      if (!placed) return "preemptions: not placed: " + gang;
      // Of a nomination that is withdrawn nothing may be told.
      if (victims > p.victims) return "preemptions: victims: " + gang;
      if (p.bound < 0 || p.gap() < 0) return "preemptions: bound: " + gang;
      const RunnerUp& other = p.runner_up;
      if (other.victims > 0 && other.priority == p.priority &&
          other.cost < p.bound) {
        return "preemptions: runner-up: " + gang;
      }
    }
    return "";
  }

  // A role's wave is the length of the longest way to it over start_after.
  std::string Waves() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.before.gang(d.gang);
      if (g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const uint32_t wave = WaveOf(g->gang, g->gang.roles[p.task.role]);
        if (p.wave != wave) return "waves: " + Text(d);
      }
    }
    return "";
  }

  static uint32_t WaveOf(const Gang& gang, const Role& role) {
    uint32_t wave = 0;
    for (const std::string& name : role.start_after) {
      for (const Role& before : gang.roles) {
        if (before.name == name) {
          wave = std::max(wave, WaveOf(gang, before) + 1);
        }
      }
    }
    return wave;
  }

  // No queue is taken over its limit by what starts, grows or is nominated.
  std::string Limits() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.after.gang(d.gang);
      if (!Places(d.kind) || g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const TaskState* t = Find(*g, p.task);
        if (t == nullptr || t->phase == TaskPhase::kReleasing) continue;
        const std::vector<int64_t> use =
            trial_.KindsOf(trial_.after.UseOf(g->gang, *t));
        // What starts respects what still holds its share, too.
        std::string over =
            OverLimit(g->gang.queue, use, &StateUsage::QueueLater);
        if (over.empty() && t->phase == TaskPhase::kStarting) {
          over = OverLimit(g->gang.queue, use, &StateUsage::QueueNow);
        }
        if (!over.empty()) return over + " by " + Text(d);
      }
    }
    return "";
  }

  std::string OverLimit(
      const std::string& queue, const std::vector<int64_t>& use,
      std::vector<int64_t> (StateUsage::*sum)(const std::string&) const) const {
    for (const std::string& q : trial_.after.Path(queue)) {
      const std::vector<int64_t> total = (trial_.after.*sum)(q);
      for (const Quota& quota : trial_.after.queue(q)->quotas) {
        const size_t k = trial_.KindNamed(quota.resource);
        if (use[k] == 0) continue;
        if (quota.limit && total[k] > *quota.limit) {
          return "limit of queue " + q + ": " + std::to_string(total[k]);
        }
        if (quota.borrow_limit &&
            total[k] > Entitled(q, quota.resource) + *quota.borrow_limit) {
          return "queue " + q +
                 " borrows too much: " + std::to_string(total[k]);
        }
      }
    }
    return "";
  }

  // What the queue is guaranteed, or those below it together.
  int64_t Entitled(const std::string& queue, const std::string& kind) const {
    for (const Quota& quota : trial_.after.queue(queue)->quotas) {
      if (quota.resource == kind && quota.guarantee) return *quota.guarantee;
    }
    int64_t sum = 0;
    for (const Queue& below : trial_.after_state.queues) {
      if (below.parent == queue) sum += Entitled(below.key, kind);
    }
    return sum;
  }

  // After every pass what runs is whole.
  std::string Minimum() {
    for (const GangState& g : trial_.after_state.gangs) {
      const bool runs =
          g.phase == GangPhase::kStarting || g.phase == GangPhase::kRunning;
      // Those that the budget left to the next pass ask for it.
      if (trial_.plan.budget_exhausted && g.check_due) continue;
      // Or wait for room beside what they have, for so long.
      const Duration timeout = trial_.before_state.config.replacement_timeout;
      if (g.repair_reason != ReasonCode::kNone &&
          trial_.plan.now - g.since < timeout) {
        continue;
      }
      // Or refused to stop, or until what leaves has gone.
      if (runs && (RefusedLately(g) || !LeavingTasks(g).empty())) continue;
      if (runs && !MeetsMinimum(AsItRuns(g), LiveTasks(g))) {
        return "minimum: gang " + g.gang.key +
               " runs below it: " + Printer::Text(g);
      }
      if (g.phase != GangPhase::kNominated) continue;
      std::vector<uint32_t> counts(g.gang.roles.size());
      for (const TaskState& t : g.tasks) ++counts[t.task.role];
      if (!MeetsMinimum(g.gang, counts)) {
        return "minimum: gang " + g.gang.key + " is nominated below it";
      }
    }
    return "";
  }

  // What shrinks for another gang leaves no group or role with a part of what
  // it needs, unless it had no more before: children go whole.
  std::string Useful() {
    std::map<std::string, std::vector<uint32_t>> live;  // Of those that shrink.
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.before.gang(d.gang);
      if (d.kind != DecisionKind::kShrink) continue;
      std::vector<uint32_t>& left =
          live.try_emplace(d.gang, LiveTasks(*g)).first->second;
      const std::vector<uint32_t> had = left;
      for (const PlannedTaskRecord& t : d.tasks) --left[t.task.role];
      if (d.on_behalf_of.empty()) continue;
      const Gang gang = AsItRuns(*g);
      for (const std::string& part : PartsInVain(gang, left)) {
        const std::vector<std::string> then = PartsInVain(gang, had);
        if (std::find(then.begin(), then.end(), part) == then.end()) {
          return "useful: " + part + " of " + g->gang.key +
                 " is left with too little: " + Text(d);
        }
      }
    }
    return "";
  }

  // Who was evicted for a gang was so by a plan that nominates or starts it.
  std::string Purpose() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      if (d.on_behalf_of.empty()) continue;
      const bool placed = std::any_of(
          trial_.plan.decisions.begin(), trial_.plan.decisions.end(),
          [&](const DecisionRecord& o) {
            return o.seq > d.seq && o.gang == d.on_behalf_of &&
                   (o.kind == DecisionKind::kNominate ||
                    o.kind == DecisionKind::kStart ||
                    o.kind == DecisionKind::kGrow);
          });
      if (!placed) return "purpose: evicted for nothing: " + Text(d);
      const GangState* preemptor = trial_.after.gang(d.on_behalf_of);
      const bool waits_for_it =
          preemptor != nullptr &&
          std::ranges::any_of(preemptor->tasks, [](const TaskState& t) {
            return t.phase <= TaskPhase::kStarting;
          });
      if (!waits_for_it) {
        return "purpose: evicted for nothing: " + Text(d);
      }
    }
    return "";
  }

  // Of equal gangs the older starts first, unless nobody gives way to it.
  std::string Fifo() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      if (d.kind != DecisionKind::kStart && d.kind != DecisionKind::kNominate) {
        continue;
      }
      const GangState* b = trial_.before.gang(d.gang);
      if (b == nullptr || b->phase != GangPhase::kWaiting) continue;
      for (const GangState& a : trial_.before_state.gangs) {
        if (a.phase != GangPhase::kWaiting || !Waits(a)) continue;
        if (d.reason.code == ReasonCode::kPreempts &&
            trial_.NobodyGivesWayTo(a)) {
          continue;
        }
        const GangState* later = trial_.after.gang(a.gang.key);
        if (later == nullptr || later->phase != GangPhase::kWaiting) continue;
        if (Alike(a.gang, b->gang) && Before(a.gang, b->gang)) {
          return "fifo: " + a.gang.key + " is passed over by " + Text(d);
        }
      }
    }
    return "";
  }

  bool Waits(const GangState& g) const {
    return !g.gang.held &&
           std::max(g.gang.not_before, g.backoff_until) <= trial_.plan.now;
  }
  static bool Before(const Gang& a, const Gang& b) {
    if (a.submitted != b.submitted) return a.submitted < b.submitted;
    return a.key < b.key;
  }
  static bool Alike(Gang a, const Gang& b) {
    a.key = b.key;
    a.submitted = b.submitted;
    a.not_before = b.not_before;
    a.held = b.held;
    a.max_runtime = b.max_runtime;
    a.restart_cost = b.restart_cost;
    a.held_why = b.held_why;
    a.on_preempted = b.on_preempted;
    a.labels = b.labels;
    return a == b;
  }

  // What is held does not start.
  std::string Holds() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.before.gang(d.gang);
      if (g == nullptr || !Places(d.kind) || d.kind == DecisionKind::kGrow) {
        continue;
      }
      bool held = g->gang.held || g->gang.not_before > trial_.plan.now;
      for (const std::string& q : trial_.before.Path(g->gang.queue)) {
        held |= trial_.before.queue(q)->held;
      }
      // What runs may be nominated for more.
      held &=
          g->phase != GangPhase::kStarting && g->phase != GangPhase::kRunning;
      if (held) return "holds: held gang starts: " + Text(d);
    }
    return "";
  }

  // A stop was refused a short while ago.
  bool RefusedLately(const GangState& g) const {
    return g.failures == 0 && g.backoff_until > trial_.plan.now;
  }

  // And no task has failed since: that may have a back-off of its own, which
  // then takes the place of this one.
  bool IsSpared(const GangState& g) const {
    return RefusedLately(g) && g.repair_reason != ReasonCode::kTaskFailed;
  }

  // What has refused to stop is left alone for a while, unless the host wants
  // it gone.
  std::string Spared() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.before.gang(d.gang);
      if (g == nullptr || !Stops(d.kind) || d.tasks.empty() || !IsSpared(*g) ||
          d.reason.code == ReasonCode::kCancelledByHost) {
        continue;
      }
      return "spared: a stop that was refused is asked for again: " + Text(d);
    }
    return "";
  }

  // Where the host settles what exceeds a node, nothing is stopped for that.
  std::string KeepsRunning() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      if (trial_.before_state.config.host.keeps_running &&
          d.reason.code == ReasonCode::kOvercommitted && !d.tasks.empty()) {
        return "keeps running: stopped all the same: " + Text(d);
      }
    }
    return "";
  }

  // What meets the minimum of before a raise is not given up for lacking more.
  std::string Raised() {
    for (const DecisionRecord& d : trial_.plan.decisions) {
      const GangState* g = trial_.before.gang(d.gang);
      if (g == nullptr || g->runs_under == GangMinimum{} ||
          d.kind != DecisionKind::kEvict ||
          (d.reason.code != ReasonCode::kBelowMinimum &&
           d.reason.code != ReasonCode::kTaskFailed)) {
        continue;
      }
      if (MeetsMinimum(AsItRuns(*g), LiveTasks(*g))) {
        return "raised: stopped for it: " + Text(d);
      }
    }
    return "";
  }

  static const TaskState* Find(const GangState& g, TaskId id) {
    for (const TaskState& t : g.tasks) {
      if (t.task == id) return &t;
    }
    return nullptr;
  }

  const Trial& trial_;
};

}  // namespace

std::string BrokenInvariant(const SchedulerState& before,
                            const PlanRecord& plan, const Plan& raw,
                            const SchedulerState& after) {
  const Trial trial(before, plan, raw, after);
  for (const auto invariant :
       {BrokenPlacementInvariant, BrokenVictimInvariant}) {
    if (std::string broken = invariant(trial); !broken.empty()) return broken;
  }
  return PlanInvariants(trial).Verdict();
}

}  // namespace muster
