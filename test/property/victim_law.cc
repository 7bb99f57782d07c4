#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "test/property/trial.h"

namespace muster {
namespace {

class VictimLaw {
 public:
  explicit VictimLaw(const Trial& trial) : trial_(trial) {}

  // The law of preemption, decision by decision in their order.
  std::string Victims() {
    Usage change;
    std::vector<Usage> taken;  // By each victim of one winner.
    for (size_t i = 0; i < trial_.plan.decisions.size(); ++i) {
      const DecisionRecord& d = trial_.plan.decisions[i];
      const GangState* g = trial_.before.gang(d.gang);
      if (g == nullptr) continue;
      if (d.on_behalf_of.empty()) {
        Record(d, *g, change);
        continue;
      }
      if (const std::string wrong = UnlawfulVictim(d, *g); !wrong.empty()) {
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
  // By queue and kind.
  using Usage = std::map<std::string, std::vector<int64_t>>;

  std::string UnlawfulVictim(const DecisionRecord& d, const GangState& victim) {
    const GangState* winner = trial_.before.gang(d.on_behalf_of);
    if (winner == nullptr) return "for nobody";
    if (!Stops(d.kind)) return "of a kind that stops nothing";
    if (!trial_.before_state.config.preemption) return "preemption is off";
    const PriorityClass mine =
        trial_.before.priority_class(winner->gang.priority_class);
    const PriorityClass its =
        trial_.before.priority_class(victim.gang.priority_class);
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
        trial_.plan.now < victim.started + its.min_runtime) {
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
    const Queue& queue = *trial_.before.queue(q);
    std::vector<int64_t> all(trial_.before_state.config.resources.size(),
                             queue.quotas.empty() ? 0 : -1);
    for (const Quota& quota : queue.quotas) {
      if (quota.guarantee)
        all[trial_.KindNamed(quota.resource)] = *quota.guarantee;
    }
    return all;
  }

  // Between a victim and what it shares with the winner, every queue holds
  // more than its guarantee until the last of the winner's victims goes: there
  // is an order in which each of them is taken from a queue above its own.
  std::string ReclaimsWrongly(const Usage& change, const std::string& winner,
                              const std::vector<Usage>& taken) {
    const std::vector<std::string> mine =
        trial_.before.Path(trial_.before.gang(winner)->gang.queue);
    std::set<std::string> queues;
    for (const Usage& t : taken) {
      for (const auto& [q, use] : t) {
        if (std::find(mine.begin(), mine.end(), q) == mine.end()) {
          queues.insert(q);
        }
      }
    }
    for (const std::string& q : queues) {
      std::vector<int64_t> left = trial_.before.QueueLater(q);
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
      const std::vector<int64_t> use =
          trial_.KindsOf(trial_.before.UseOf(g.gang, t));
      for (const std::string& q : trial_.before.Path(g.gang.queue)) {
        std::vector<int64_t>& sum = change[q];
        sum.resize(use.size());
        for (size_t k = 0; k < use.size(); ++k) sum[k] += sign * use[k];
      }
    }
  }

  const Trial& trial_;
  std::map<std::string, std::vector<TaskState>> promised_;  // In this plan.
};

}  // namespace

std::string BrokenVictimLaw(const Trial& trial) {
  return VictimLaw(trial).Victims();
}

}  // namespace muster
