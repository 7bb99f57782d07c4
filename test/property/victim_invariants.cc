#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/scheduler/least_demand.h"
#include "test/property/trial.h"

namespace muster {
namespace {

class QueueVictimPolicy {
 public:
  explicit QueueVictimPolicy(const Trial& trial) : trial_(trial) {}

  // The invariant of preemption, decision by decision in their order.
  std::string Victims() {
    if (const std::string wrong = Budgets(); !wrong.empty()) return wrong;
    Usage change;
    std::vector<Usage> taken;  // By each victim of one preemptor.
    for (size_t i = 0; i < trial_.plan.decisions.size(); ++i) {
      const DecisionRecord& d = trial_.plan.decisions[i];
      const GangState* g = trial_.before.gang(d.gang);
      if (g == nullptr) continue;
      if (d.on_behalf_of.empty()) {
        Record(d, *g, change);
        continue;
      }
      if (const std::string wrong = ForbiddenVictim(d, *g); !wrong.empty()) {
        return "victim: " + wrong + ": " + Text(d);
      }
      Record(d, *g, taken.emplace_back());
      if (i + 1 < trial_.plan.decisions.size() &&
          trial_.plan.decisions[i + 1].on_behalf_of == d.on_behalf_of) {
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

 private:
  // No budget gives more than it has, and each says what is left.
  std::string Budgets() {
    for (const DisruptionBudget& b : trial_.before_state.disruption_budgets) {
      int64_t taken = 0;
      for (const DecisionRecord& d : trial_.plan.decisions) {
        const GangState* g = trial_.before.gang(d.gang);
        taken += g != nullptr && g->phase != GangPhase::kNominated &&
                 !d.on_behalf_of.empty() && d.kind != DecisionKind::kShrink &&
                 std::ranges::find(b.gangs, d.gang) != b.gangs.end();
      }
      if (taken > b.allowed) return "victim: budget " + b.key + " is overdrawn";
      DisruptionBudget left = b;
      left.allowed -= taken;
      if (std::ranges::find(trial_.after_state.disruption_budgets, left) ==
          trial_.after_state.disruption_budgets.end()) {
        return "victim: budget " + b.key + " is counted wrongly";
      }
    }
    return "";
  }

  // By queue and kind.
  using Usage = std::map<std::string, std::vector<int64_t>>;

  static bool Names(const DecisionRecord& d, TaskId task) {
    return std::ranges::any_of(d.tasks,
                               [&](const auto& t) { return t.task == task; });
  }

  // By an earlier decision of the plan: it leaves in any case.
  bool IsShrunkBefore(const DecisionRecord& d, TaskId task) {
    return std::ranges::any_of(
        trial_.plan.decisions, [&](const DecisionRecord& before) {
          return before.seq < d.seq && before.gang == d.gang &&
                 before.kind == DecisionKind::kShrink && Names(before, task);
        });
  }

  std::string ForbiddenVictim(const DecisionRecord& d,
                              const GangState& victim) {
    const GangState* preemptor = trial_.before.gang(d.on_behalf_of);
    if (preemptor == nullptr) return "for no gang";
    if (!Stops(d.kind)) return "of a kind that stops nothing";
    if (!trial_.before_state.config.preemption) return "preemption is off";
    const PriorityClass mine =
        trial_.before.priority_class(preemptor->gang.priority_class);
    const PriorityClass its =
        trial_.before.priority_class(victim.gang.priority_class);
    if (!mine.may_preempt) return "its class may not preempt";
    if (!victim.gang.preemptible) return "it is not preemptible";
    if (victim.phase != GangPhase::kNominated) {
      for (const TaskState& t : victim.tasks) {
        const bool leaves = d.kind == DecisionKind::kShrink
                                ? Names(d, t.task)
                                : (t.phase == TaskPhase::kStarting ||
                                   t.phase == TaskPhase::kRunning) &&
                                      !IsShrunkBefore(d, t.task);
        if (leaves && !victim.gang.roles[t.task.role].preemptible) {
          return "it holds a task that is not preemptible";
        }
      }
    }
    const OnPreempted what =
        victim.gang.on_preempted.value_or(its.on_preempted);
    if (what == OnPreempted::kNever) return "it is immune";
    const EvictionBackoff& b = trial_.before_state.config.eviction_backoff;
    const Duration protection = std::max(
        its.min_runtime,
        Doubled(victim.evictions, b.protection_base, b.protection_max));
    if (victim.phase == GangPhase::kRunning &&
        trial_.plan.now < victim.started + protection) {
      return "it is protected still";
    }
    if (trial_.NobodyGivesWayTo(*preemptor)) {
      return "for one that has made room before, or was evicted";
    }
    if (d.kind == DecisionKind::kCancel && what != OnPreempted::kCancel) {
      return "it is not cancelled";
    }
    if (victim.gang.queue != preemptor->gang.queue) {
      return MayTake(*preemptor, mine.value, its.value, true) ||
                     MayTake(*preemptor, mine.value, its.value, false)
                 ? ""  // See ReclaimsWrongly.
                 : "its priority is too high for that queue's policy";
    }
    const PreemptWithin within =
        Policy(preemptor->gang.queue, &PreemptionPolicy::within,
               PreemptWithin::kLower);
    if (within == PreemptWithin::kNever)
      return "of its own queue, that forbids it";
    if (its.value > mine.value) return "of higher priority";
    const bool newer = within == PreemptWithin::kLowerOrNewerEqual &&
                       preemptor->gang.submitted < victim.gang.submitted;
    if (its.value == mine.value && d.kind != DecisionKind::kShrink && !newer) {
      return "not of lower priority";
    }
    return "";
  }

  template <class T>
  T Policy(const std::string& queue, std::optional<T> PreemptionPolicy::* what,
           T otherwise) const {
    for (const std::string& q : trial_.before.Path(queue)) {
      if (const auto said = trial_.before.queue(q)->preemption.*what) {
        return *said;
      }
    }
    return otherwise;
  }

  // Whether a gang may take one of this priority of another queue, for what its
  // queue is owed, or borrows.
  bool MayTake(const GangState& preemptor, int32_t mine, int32_t its,
               bool owed) const {
    const std::string& q = preemptor.gang.queue;
    if (!owed) {
      return Policy(q, &PreemptionPolicy::borrowing,
                    PreemptBorrowing::kNever) == PreemptBorrowing::kLower &&
             its < mine &&
             its <= Policy(q, &PreemptionPolicy::borrowing_threshold,
                           std::numeric_limits<int32_t>::max());
    }
    const PreemptAcross across =
        Policy(q, &PreemptionPolicy::across, PreemptAcross::kAny);
    return across == PreemptAcross::kAny ||
           (across == PreemptAcross::kLower && its < mine);
  }

  // What a queue is guaranteed of a kind: nothing, if it does not say.
  int64_t Guarantee(const std::string& q, size_t kind) const {
    int64_t guarantee = 0;
    for (const Quota& quota : trial_.before.queue(q)->quotas) {
      if (quota.guarantee && trial_.KindNamed(quota.resource) == kind) {
        guarantee = *quota.guarantee;
      }
    }
    return guarantee;
  }

  // The least that the gang asks, by kind.
  std::vector<int64_t> LeastOf(const Gang& gang) const {
    const size_t kinds = trial_.before_state.config.resources.size();
    Gang rooted = gang;
    if (rooted.groups.empty()) rooted.groups.emplace_back();
    std::vector<int64_t> asked(kinds);
    for (size_t k = 0; k < kinds; ++k) {
      std::vector<int64_t> each;
      for (const Role& role : gang.roles) {
        each.push_back(Asks(role.shape, k));
        for (const TaskShape& shape : role.alternatives) {
          each.back() = std::min(each.back(), Asks(shape, k));
        }
      }
      asked[k] = LeastAmount(rooted, each);
    }
    return asked;
  }

  int64_t Asks(const TaskShape& shape, size_t kind) const {
    return shape.resources[kind] +
           (kind == Gpu() ? int64_t{shape.devices.count} : 0);
  }

  size_t Gpu() const {
    return trial_.KindNamed(trial_.before_state.config.device_kind);
  }

  // The highest from q to below what its path shares with the other that is
  // guaranteed something of the kind; empty: none.
  std::string Stating(const std::string& q,
                      const std::vector<std::string>& other,
                      size_t kind) const {
    std::string highest;
    for (const std::string& above : trial_.before.Path(q)) {
      if (std::ranges::find(other, above) != other.end()) break;
      for (const Quota& quota : trial_.before.queue(above)->quotas) {
        if (quota.guarantee && trial_.KindNamed(quota.resource) == kind) {
          highest = above;
        }
      }
    }
    return highest;
  }

  // Whether the gang's queue ends within what it is guaranteed of the kind. Of
  // one that holds tasks it is not known what it asked.
  bool IsWithin(const GangState& gang, const std::string& stating, size_t kind,
                int64_t asked, const Usage& change) const {
    if (!gang.tasks.empty()) return true;
    std::vector<int64_t> used = trial_.before.QueueLater(stating);
    Add(change, stating, &used);
    return used[kind] + asked <= Guarantee(stating, kind);
  }

  // Between a victim and what it shares with the preemptor, every queue holds
  // more than its guarantee until the last of the preemptor's victims goes, of
  // a kind that both the preemptor asks and the victim holds, and of no such
  // kind the preemptor's queue ends beyond: there is an order in which each of
  // them is taken from a queue above its own.
  std::string ReclaimsWrongly(const Usage& change, const std::string& preemptor,
                              const std::vector<Usage>& taken) {
    const GangState& gang = *trial_.before.gang(preemptor);
    const std::vector<std::string> mine = trial_.before.Path(gang.gang.queue);
    const std::vector<int64_t> asked = LeastOf(gang.gang);
    std::set<std::string> queues;
    for (const Usage& t : taken) {
      for (const auto& [q, use] : t) {
        if (std::find(mine.begin(), mine.end(), q) == mine.end()) {
          queues.insert(q);
        }
      }
    }
    for (const std::string& q : queues) {
      const std::vector<std::string> its = trial_.before.Path(q);
      std::vector<int64_t> left = trial_.before.QueueLater(q);
      Add(change, q, &left);
      for (const Usage& t : taken) Add(t, q, &left);
      bool over = false;
      for (const Usage& last : taken) {
        if (!last.contains(q)) continue;
        for (size_t k = 0; k < left.size(); ++k) {
          const int64_t held = -last.at(q)[k];
          const std::string says = Stating(gang.gang.queue, its, k);
          if (asked[k] == 0 || held <= 0 || says.empty()) continue;
          const bool borrows =
              Policy(gang.gang.queue, &PreemptionPolicy::borrowing,
                     PreemptBorrowing::kNever) == PreemptBorrowing::kLower;
          if (!borrows && !IsWithin(gang, says, k, asked[k], change)) {
            return "queue " + says + " is not owed what it takes";
          }
          over |= left[k] + held > Guarantee(q, k);
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
    std::vector<TaskState>& nominated = NominatedOf(g);
    const bool kept = Stops(d.kind) && g.phase == GangPhase::kSuspended;
    if (Stops(d.kind)) {
      sign = -1;
      // Of a suspended gang: what it keeps, not what it had.
      if (kept) tasks = g.tasks;
      // What shrinks keeps what it is nominated for.
      if (d.kind != DecisionKind::kShrink) {
        tasks.insert(tasks.end(), nominated.begin(), nominated.end());
        nominated.clear();
      }
    } else if (Places(d.kind)) {
      sign = 1;
    }
    for (const PlannedTaskRecord& p : d.tasks) {
      const bool had = sign > 0 && std::erase_if(nominated, [&](const auto& t) {
                                     return t.task == p.task;
                                   }) > 0;
      if (!kept && !had) tasks.push_back(AsState(p));
    }
    if (d.kind == DecisionKind::kNominate) nominated = tasks;
    for (const TaskState& t : tasks) {
      const NodeUse all = trial_.before.UseOf(g.gang, t);
      const std::vector<int64_t> use =
          trial_.KindsOf(kept ? trial_.before.KeptOf(all) : all);
      for (const std::string& q : trial_.before.Path(g.gang.queue)) {
        std::vector<int64_t>& sum = change[q];
        sum.resize(use.size());
        for (size_t k = 0; k < use.size(); ++k) sum[k] += sign * use[k];
      }
    }
  }

  // What the gang is nominated for by now.
  std::vector<TaskState>& NominatedOf(const GangState& g) {
    const auto [it, is_new] = nominated_.try_emplace(g.gang.key);
    if (is_new) {
      std::ranges::copy_if(
          g.tasks, std::back_inserter(it->second),
          [](const TaskState& t) { return t.phase == TaskPhase::kNominated; });
    }
    return it->second;
  }

  const Trial& trial_;
  // In this plan.
  std::map<std::string, std::vector<TaskState>> nominated_;
};

}  // namespace

std::string BrokenVictimInvariant(const Trial& trial) {
  return QueueVictimPolicy(trial).Victims();
}

}  // namespace muster
