#include "test/property/plan_law.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "test/property/books.h"
#include "test/property/print.h"

namespace muster {

namespace {

bool Stops(DecisionKind kind) {
  return kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
         kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
}

bool Places(DecisionKind kind) {
  return kind == DecisionKind::kStart || kind == DecisionKind::kGrow ||
         kind == DecisionKind::kResume || kind == DecisionKind::kNominate;
}

TaskState AsState(const PlannedTaskRecord& p) {
  return {p.task,    TaskPhase::kStarting, p.attempt, p.node,
          p.devices, p.alternative};
}

// One plan on trial.
class Trial {
 public:
  Trial(const SchedulerState& before, const PlanRecord& plan, const Plan& raw,
        const SchedulerState& after)
      : before_state_(before),
        after_state_(after),
        before_(before),
        after_(after),
        plan_(plan),
        raw_(raw) {}

  std::string Verdict() {
    for (auto law :
         {&Trial::Numbers, &Trial::Capabilities, &Trial::Capacity,
          &Trial::Admission, &Trial::Constraints, &Trial::Waves, &Trial::Limits,
          &Trial::Minimum, &Trial::Victims, &Trial::Useful, &Trial::Purpose,
          &Trial::Fifo, &Trial::Holds}) {
      if (std::string broken = (this->*law)(); !broken.empty()) return broken;
    }
    return "";
  }

 private:
  // By queue and kind.
  using Usage = std::map<std::string, std::vector<int64_t>>;

  std::string Numbers() {
    uint64_t seq = before_state_.next_seq;
    for (const DecisionRecord& d : plan_.decisions) {
      if (d.seq != seq++) return "numbers: " + Printer::Text(d);
    }
    if (after_state_.next_seq != seq) return "numbers: next_seq";
    if (plan_.based_on != before_state_.version) return "numbers: based_on";
    const uint64_t budget = before_state_.config.work_budget;
    if (budget > 0 && plan_.steps > budget) return "numbers: over the budget";
    return "";
  }

  // Nothing is asked that the host cannot do.
  std::string Capabilities() {
    const HostCapabilities& host = before_state_.config.host;
    for (const DecisionRecord& d : plan_.decisions) {
      const bool bad = (d.kind == DecisionKind::kShrink && !host.shrink) ||
                       (d.kind == DecisionKind::kSuspend && !host.suspend) ||
                       (d.kind == DecisionKind::kResume && !host.suspend) ||
                       d.kind == DecisionKind::kMigrate ||
                       d.kind == DecisionKind::kReserve ||
                       (d.grace > 0 && !host.grace);
      if (bad) return "capabilities: " + Printer::Text(d);
    }
    for (const Decision& d : raw_.decisions) {
      if (d.kind == DecisionKind::kNominate && !host.nominate) {
        return "capabilities: a nomination is told";
      }
      for (const PlannedTask& t : raw_.TasksOf(d)) {
        if (t.devices != 0 && !host.choose_devices) {
          return "capabilities: devices are chosen";
        }
      }
    }
    return "";
  }

  // What was placed fits: now, if it starts; and beside all that is promised.
  std::string Capacity() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* g = after_.gang(d.gang);
      if (!Places(d.kind) || g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const TaskState* t = Find(*g, p.task);
        if (t == nullptr || t->node != p.node) continue;  // Withdrawn since.
        const NodeUse use = after_.UseOf(g->gang, *t);
        std::string over;
        if (t->phase != TaskPhase::kNominated) {
          over = after_.Exceeds(t->node, use, after_.Now(t->node));
        }
        if (over.empty() && t->phase != TaskPhase::kReleasing) {
          over = after_.Exceeds(t->node, use, after_.Later(t->node));
        }
        if (!over.empty()) return "capacity: " + over + " by " + Text(d);
      }
    }
    return "";
  }

  // The nodes take the tasks, and the devices are of the kind asked for.
  std::string Admission() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* g = before_.gang(d.gang);
      if (!Places(d.kind) || g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const std::string wrong =
            Refusal(g->gang, AsState(p), d.kind == DecisionKind::kResume);
        if (!wrong.empty()) return "admission: " + wrong + " in " + Text(d);
      }
    }
    return "";
  }

  std::string Refusal(const Gang& gang, const TaskState& t, bool resume) {
    const NodeState* n = before_.node(t.node);
    if (n == nullptr) return "no such node";
    if (n->down || n->draining || n->spot_notice != kForever) {
      return "node out of work";
    }
    const TaskShape& shape = Books::ShapeOf(gang, t);
    for (uint32_t d = 0; d < 64; ++d) {
      if ((t.devices >> d & 1) == 0) continue;
      if (d >= n->node.devices.size()) return "no such device";
      if (!n->node.devices[d].healthy) return "unhealthy device";
    }
    if (resume) return "";
    const Role& role = gang.roles[t.task.role];
    if (!n->node.schedulable) return "node is cordoned";
    if (!TaintsTolerated(n->node, role)) return "taint";
    if (!SelectorHolds(n->node, shape.selector)) return "selector";
    for (const std::string& key : role.node_sets) {
      const NodeSet* set = before_.node_set(key);
      if (std::find(set->nodes.begin(), set->nodes.end(), t.node) ==
          set->nodes.end()) {
        return "node set";
      }
    }
    uint32_t count = 0;
    for (uint32_t d = 0; d < 64; ++d) {
      if ((t.devices >> d & 1) == 0) continue;
      ++count;
      const std::vector<std::string>& models = shape.devices.models;
      if (!models.empty() &&
          std::find(models.begin(), models.end(), n->node.devices[d].model) ==
              models.end()) {
        return "device model";
      }
    }
    if (count != shape.devices.count) return "device count";
    return "";
  }

  // A role's wave is the length of the longest way to it over start_after.
  std::string Waves() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* g = before_.gang(d.gang);
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

  // Required levels and slices, of gangs placed as a whole in this plan.
  std::string Constraints() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* was = before_.gang(d.gang);
      const bool whole = d.kind == DecisionKind::kNominate ||
                         (d.kind == DecisionKind::kStart && was != nullptr &&
                          was->phase == GangPhase::kWaiting);
      if (!whole) continue;
      const Gang& gang = was->gang;
      for (size_t r = 0; r < gang.roles.size(); ++r) {
        const auto in_role = [r](const PlannedTaskRecord& p) {
          return p.task.role == r;
        };
        const std::string wrong = Apart(gang.roles[r].topology, d, in_role);
        if (!wrong.empty()) return "constraint: " + wrong;
        const std::string cut = Sliced(gang.roles[r].topology, d, in_role);
        if (!cut.empty()) return "constraint: " + cut;
        const std::string crowd = Crowded(gang.roles[r].topology, d, in_role);
        if (!crowd.empty()) return "constraint: " + crowd;
      }
      for (size_t g = 0; g < gang.groups.size(); ++g) {
        const auto below = [&](const PlannedTaskRecord& p) {
          uint32_t at = gang.roles[p.task.role].group;
          while (at != g && at != 0) at = gang.groups[at].parent;
          return at == g;
        };
        const std::string wrong = Apart(gang.groups[g].topology, d, below);
        if (!wrong.empty()) return "constraint: " + wrong;
        const std::string crowd = Crowded(gang.groups[g].topology, d, below);
        if (!crowd.empty()) return "constraint: " + crowd;
      }
    }
    return "";
  }

  template <class Of>
  std::string Apart(const TopologyConstraint& c, const DecisionRecord& d,
                    const Of& of) {
    if (c.required.empty()) return "";
    std::set<std::string> domains;
    for (const PlannedTaskRecord& p : d.tasks) {
      if (of(p)) domains.insert(before_.DomainOf(p.node, c, c.required));
    }
    if (domains.size() > 1 || domains.contains("")) {
      return "not in one " + c.required + ": " + Text(d);
    }
    return "";
  }

  template <class Of>
  std::string Sliced(const TopologyConstraint& c, const DecisionRecord& d,
                     const Of& of) {
    for (const Slice& slice : c.slices) {
      std::map<TaskId, std::string> nodes;
      for (const PlannedTaskRecord& p : d.tasks) {
        if (of(p)) nodes[p.task] = p.node;
      }
      std::set<std::string> domains;
      uint32_t in_slice = 0;
      for (const auto& [id, node] : nodes) {
        domains.insert(before_.DomainOf(node, c, slice.level));
        if (domains.size() > 1) return "a slice is cut: " + Text(d);
        if (++in_slice % slice.size == 0) domains.clear();
      }
    }
    return "";
  }

  // Of the skew, what needs no knowledge of empty domains.
  template <class Of>
  std::string Crowded(const TopologyConstraint& c, const DecisionRecord& d,
                      const Of& of) {
    const Spread& s = c.spread;
    if (s.level.empty()) return "";
    std::map<std::string, uint32_t> counts;
    uint32_t tasks = 0;
    for (const PlannedTaskRecord& p : d.tasks) {
      if (!of(p)) continue;
      ++counts[before_.DomainOf(p.node, c, s.level)];
      ++tasks;
    }
    if (tasks == 0) return "";
    if (counts.contains("")) return "outside " + s.level + ": " + Text(d);
    uint32_t most = 0;
    uint32_t fewest = tasks;
    for (const auto& [domain, count] : counts) {
      most = std::max(most, count);
      fewest = std::min(fewest, count);
    }
    if (s.max_per_domain > 0 && most > s.max_per_domain) {
      return "too many in one " + s.level + ": " + Text(d);
    }
    if (s.max_skew > 0 && most > fewest + s.max_skew) {
      return "too uneven over " + s.level + ": " + Text(d);
    }
    if (counts.size() < std::min(s.min_domains, tasks)) {
      return "too few of " + s.level + ": " + Text(d);
    }
    return "";
  }

  // No queue is taken over its limit by what starts, grows or is promised.
  std::string Limits() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* g = after_.gang(d.gang);
      if (!Places(d.kind) || g == nullptr) continue;
      for (const PlannedTaskRecord& p : d.tasks) {
        const TaskState* t = Find(*g, p.task);
        if (t == nullptr || t->phase == TaskPhase::kReleasing) continue;
        const std::vector<int64_t> use = KindsOf(after_.UseOf(g->gang, *t));
        // What starts respects what still holds its share, too.
        std::string over = OverLimit(g->gang.queue, use, &Books::QueueLater);
        if (over.empty() && t->phase == TaskPhase::kStarting) {
          over = OverLimit(g->gang.queue, use, &Books::QueueNow);
        }
        if (!over.empty()) return over + " by " + Text(d);
      }
    }
    return "";
  }

  std::string OverLimit(const std::string& queue,
                        const std::vector<int64_t>& use,
                        std::vector<int64_t> (Books::*sum)(const std::string&)
                            const) const {
    for (const std::string& q : after_.Path(queue)) {
      const std::vector<int64_t> total = (after_.*sum)(q);
      for (const Quota& quota : after_.queue(q)->quotas) {
        const size_t k = KindNamed(quota.resource);
        if (quota.limit && use[k] > 0 && total[k] > *quota.limit) {
          return "limit of queue " + q + ": " + std::to_string(total[k]);
        }
      }
    }
    return "";
  }

  // After every pass what runs is whole.
  std::string Minimum() {
    for (const GangState& g : after_state_.gangs) {
      const bool runs =
          g.phase == GangPhase::kStarting || g.phase == GangPhase::kRunning;
      if (runs && !MeetsMinimum(g.gang, LiveTasks(g))) {
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

  // The law of preemption, decision by decision in their order.
  std::string Victims() {
    Usage change;
    std::vector<Usage> taken;  // By each victim of one winner.
    for (size_t i = 0; i < plan_.decisions.size(); ++i) {
      const DecisionRecord& d = plan_.decisions[i];
      const GangState* g = before_.gang(d.gang);
      if (g == nullptr) continue;
      if (d.on_behalf_of.empty()) {
        Record(d, *g, change);
        continue;
      }
      if (const std::string wrong = UnlawfulVictim(d, *g); !wrong.empty()) {
        return "victim: " + wrong + ": " + Text(d);
      }
      Record(d, *g, taken.emplace_back());
      if (i + 1 < plan_.decisions.size() &&
          plan_.decisions[i + 1].on_behalf_of == d.on_behalf_of) {
        continue;
      }
      const std::string wrong = ReclaimsWrongly(change, d.on_behalf_of, taken);
      if (!wrong.empty()) return "victim: " + wrong + ": " + Text(d);
      for (const Usage& t : taken) {
        for (const auto& [q, use] : t) {
          change[q].resize(use.size());
          for (size_t k = 0; k < use.size(); ++k) change[q][k] += use[k];
        }
      }
      taken.clear();
    }
    return "";
  }

  std::string UnlawfulVictim(const DecisionRecord& d, const GangState& victim) {
    const GangState* winner = before_.gang(d.on_behalf_of);
    if (winner == nullptr) return "for nobody";
    if (!Stops(d.kind)) return "of a kind that stops nothing";
    if (!before_state_.config.preemption) return "preemption is off";
    const PriorityClass mine =
        before_.priority_class(winner->gang.priority_class);
    const PriorityClass its =
        before_.priority_class(victim.gang.priority_class);
    if (!mine.may_preempt) return "its class may not preempt";
    if (!victim.gang.preemptible) return "it is not preemptible";
    if (victim.phase != GangPhase::kNominated) {
      for (const TaskState& t : victim.tasks) {
        const bool leaves =
            d.kind == DecisionKind::kShrink
                ? std::ranges::any_of(
                      d.tasks, [&](const auto& s) { return s.task == t.task; })
                : t.phase == TaskPhase::kStarting ||
                      t.phase == TaskPhase::kRunning;
        if (leaves && !victim.gang.roles[t.task.role].preemptible) {
          return "it holds a task that is not preemptible";
        }
      }
    }
    if (its.on_preempted == OnPreempted::kNever) return "its class is immune";
    if (victim.phase == GangPhase::kRunning &&
        plan_.now < victim.started + its.min_runtime) {
      return "it is protected still";
    }
    if (d.kind == DecisionKind::kCancel &&
        its.on_preempted != OnPreempted::kCancel) {
      return "its class is not cancelled";
    }
    if (victim.gang.queue == winner->gang.queue) {
      if (its.value > mine.value) return "of higher priority";
      const bool shed = d.kind == DecisionKind::kShrink;
      if (its.value == mine.value && !shed) return "not of lower priority";
    }
    return "";  // Of another queue: see ReclaimsWrongly.
  }

  // What a queue is guaranteed by kind; -1: nothing is said of it.
  std::vector<int64_t> Guarantees(const std::string& q) const {
    const Queue& queue = *before_.queue(q);
    std::vector<int64_t> all(before_state_.config.resources.size(),
                             queue.quotas.empty() ? 0 : -1);
    for (const Quota& quota : queue.quotas) {
      if (quota.guarantee) all[KindNamed(quota.resource)] = *quota.guarantee;
    }
    return all;
  }

  // Between a victim and what it shares with the winner, every queue holds
  // more than its guarantee until the last of the winner's victims goes: there
  // is an order in which each of them is taken from a queue above its own.
  std::string ReclaimsWrongly(const Usage& change, const std::string& winner,
                              const std::vector<Usage>& taken) {
    const std::vector<std::string> mine =
        before_.Path(before_.gang(winner)->gang.queue);
    std::set<std::string> queues;
    for (const Usage& t : taken) {
      for (const auto& [q, use] : t) {
        if (std::find(mine.begin(), mine.end(), q) == mine.end()) {
          queues.insert(q);
        }
      }
    }
    for (const std::string& q : queues) {
      std::vector<int64_t> left = before_.QueueLater(q);
      Add(change, q, &left);
      for (const Usage& t : taken) Add(t, q, &left);
      const std::vector<int64_t> guarantees = Guarantees(q);
      bool over = false;
      for (const Usage& last : taken) {
        if (!last.contains(q)) continue;
        for (size_t k = 0; k < left.size(); ++k) {
          over |= guarantees[k] >= 0 && left[k] - last.at(q)[k] > guarantees[k];
        }
      }
      if (!over) return "queue " + q + " is within its guarantee";
    }
    return "";
  }

  static void Add(const Usage& change, const std::string& q,
                  std::vector<int64_t>* use) {
    const auto c = change.find(q);
    if (c == change.end()) return;
    for (size_t k = 0; k < use->size(); ++k) (*use)[k] += c->second[k];
  }

  // What the decision changes in the queues' usage.
  void Record(const DecisionRecord& d, const GangState& g, Usage& change) {
    int64_t sign = 0;
    std::vector<TaskState> tasks;
    if (Stops(d.kind)) {
      sign = -1;
      if (g.phase == GangPhase::kNominated) tasks = g.tasks;
      if (d.tasks.empty() && promised_.contains(d.gang)) {
        tasks = promised_[d.gang];
      }
    } else if (Places(d.kind) && g.phase != GangPhase::kNominated) {
      sign = 1;
    }
    for (const PlannedTaskRecord& p : d.tasks) tasks.push_back(AsState(p));
    if (d.kind == DecisionKind::kNominate) promised_[d.gang] = tasks;
    for (const TaskState& t : tasks) {
      const std::vector<int64_t> use = KindsOf(before_.UseOf(g.gang, t));
      for (const std::string& q : before_.Path(g.gang.queue)) {
        std::vector<int64_t>& sum = change[q];
        sum.resize(use.size());
        for (size_t k = 0; k < use.size(); ++k) sum[k] += sign * use[k];
      }
    }
  }

  // What is shed for another gang leaves no group or role with a part of what
  // it needs, unless it had no more before: children go whole.
  std::string Useful() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* g = before_.gang(d.gang);
      if (d.kind != DecisionKind::kShrink || d.on_behalf_of.empty()) continue;
      const std::vector<uint32_t> had = LiveTasks(*g);
      std::vector<uint32_t> left = had;
      for (const PlannedTaskRecord& t : d.tasks) --left[t.task.role];
      for (const std::string& part : PartsInVain(g->gang, left)) {
        const std::vector<std::string> then = PartsInVain(g->gang, had);
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
    for (const DecisionRecord& d : plan_.decisions) {
      if (d.on_behalf_of.empty()) continue;
      const bool placed =
          std::any_of(plan_.decisions.begin(), plan_.decisions.end(),
                      [&](const DecisionRecord& o) {
                        return o.seq > d.seq && o.gang == d.on_behalf_of &&
                               (o.kind == DecisionKind::kNominate ||
                                o.kind == DecisionKind::kStart);
                      });
      if (!placed) return "purpose: evicted for nothing: " + Text(d);
      const GangState* winner = after_.gang(d.on_behalf_of);
      if (winner == nullptr || (winner->phase != GangPhase::kNominated &&
                                winner->phase != GangPhase::kStarting)) {
        return "purpose: evicted in vain: " + Text(d);
      }
    }
    return "";
  }

  // Of equal gangs the older starts first.
  std::string Fifo() {
    for (const DecisionRecord& d : plan_.decisions) {
      if (d.kind != DecisionKind::kStart && d.kind != DecisionKind::kNominate) {
        continue;
      }
      const GangState* b = before_.gang(d.gang);
      if (b == nullptr || b->phase != GangPhase::kWaiting) continue;
      for (const GangState& a : before_state_.gangs) {
        if (a.phase != GangPhase::kWaiting || !Waits(a)) continue;
        const GangState* later = after_.gang(a.gang.key);
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
           std::max(g.gang.not_before, g.backoff_until) <= plan_.now;
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
    return a == b;
  }

  // What is held does not start.
  std::string Holds() {
    for (const DecisionRecord& d : plan_.decisions) {
      const GangState* g = before_.gang(d.gang);
      if (g == nullptr || !Places(d.kind) || d.kind == DecisionKind::kGrow) {
        continue;
      }
      bool held = g->gang.held || g->gang.not_before > plan_.now;
      for (const std::string& q : before_.Path(g->gang.queue)) {
        held |= before_.queue(q)->held;
      }
      if (held) return "holds: held gang starts: " + Text(d);
    }
    return "";
  }

  static const TaskState* Find(const GangState& g, TaskId id) {
    for (const TaskState& t : g.tasks) {
      if (t.task == id) return &t;
    }
    return nullptr;
  }
  size_t KindNamed(const std::string& name) const {
    const std::vector<std::string>& kinds = before_state_.config.resources;
    return static_cast<size_t>(std::find(kinds.begin(), kinds.end(), name) -
                               kinds.begin());
  }
  // By kind, the devices' thousandths included.
  std::vector<int64_t> KindsOf(const NodeUse& use) const {
    std::vector<int64_t> kinds = use.amount;
    const size_t gpu = KindNamed(before_state_.config.device_resource);
    for (const auto& [d, share] : use.devices) kinds[gpu] += share.milli;
    return kinds;
  }
  static std::string Text(const DecisionRecord& d) { return Printer::Text(d); }

  const SchedulerState& before_state_;
  const SchedulerState& after_state_;
  const Books before_;
  const Books after_;
  const PlanRecord& plan_;
  const Plan& raw_;
  std::map<std::string, std::vector<TaskState>> promised_;  // In this plan.
};

}  // namespace

std::string BrokenLaw(const SchedulerState& before, const PlanRecord& plan,
                      const Plan& raw, const SchedulerState& after) {
  return Trial(before, plan, raw, after).Verdict();
}

}  // namespace muster
