// Plan: everything one pass decided, in the order to apply it.
#ifndef MUSTER_PLAN_H_
#define MUSTER_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/class_state.h"
#include "muster/decision.h"
#include "muster/ids.h"
#include "muster/reason.h"

namespace muster {

// Why gangs of one class (same queue, priority class and description) wait.
// Scheduler::Explain answers for each single gang.
struct Waiting {
  // The class's for as long as it has a gang, and no other's in this scheduler,
  // which may be moved; a restored one has others. Never 0. In a what-if's plan
  // only those of classes that are there mean something.
  uint64_t class_id = 0;
  QueueId queue{};
  GangId gang{};  // The first of them.
  TextRef gang_key{};
  // How many of the class wait, `gang` included. 0: none does any more, and
  // nothing else is said of it.
  uint32_t count = 0;
  Reason reason{};
};

// What a pass answered to a class, or left open: for records (PlanRecord).
struct ClassAnswer {
  TextRef gang_key{};
  bool grows = false;
  uint32_t open = 0;
  Reason reason{};
  Time retry_at = kForever;
  uint32_t effort = 0;
};

// Room that is made for a gang, and how good that is. Costs are those of
// VictimCandidate: device-milliseconds of work that is thrown away.
struct Preemption {
  // The best other victims that were found: without the dearest of these.
  struct RunnerUp {
    uint32_t victims = 0;  // 0: none were found, or SearchLimits::runner_up
                           // says not to look.
    int32_t priority = 0;  // The highest of them.
    int64_t cost = 0;
  };

  GangId gang{};
  TextRef gang_key{};
  uint32_t victims = 0;  // Gangs that are stopped or shrunk for it.
  int32_t priority = 0;  // The highest of them.
  int64_t cost = 0;
  // No lawful victims with that highest priority cost less.
  int64_t bound = 0;
  RunnerUp runner_up{};

  // By how much the victims may be dearer than the cheapest ones.
  int64_t gap() const { return cost - bound; }
};

// A submission through Submit() that was refused, with the error's text.
struct Refused {
  TextRef gang_key{};
  TextRef error{};
};

// Plain data. Pass the same Plan to every Schedule(): it keeps its capacity,
// so that a steady-state pass allocates nothing.
struct Plan {
  uint64_t based_on = 0;  // State version the plan was made from.
  Time now = 0;
  std::vector<Decision> decisions{};
  std::vector<PlannedTask> tasks{};
  // Nominations, where the host does not want to be told of them: for records.
  std::vector<Decision> untold{};
  // What has changed in why gangs wait: classes with another code, object or
  // resource than was told of them before, then those that are gone. What is
  // not told has not changed; `count` and the reason's numbers are not told
  // again. WaitingMirror follows it, from what Scheduler::AllWaiting tells.
  std::vector<Waiting> waiting{};
  // In the order of the decisions: one for each gang that was nominated or
  // started in the place of victims.
  std::vector<Preemption> preemptions{};
  std::vector<Refused> refused{};
  // Submissions are left for the next pass: the work budget did not go so far.
  // A host calls Schedule() again at once.
  bool inbox_left = false;
  // The next time at which a pass could decide otherwise without a new event;
  // kForever if there is none.
  Time next_wakeup = kForever;
  bool budget_exhausted = false;
  uint64_t steps = 0;  // Of the work budget.
  // For records: what PlanRecord says of them.
  std::vector<ClassAnswer> answers{};
  std::vector<TextRef> asking{};
  bool grew = false;
  std::string text{};  // What the TextRefs refer to.

  // Of this plan, as it was made. What another plan's reference or decision
  // means here is not told; where it lies outside, the answer is empty.
  std::string_view Text(TextRef ref) const {
    const std::string_view all = text;
    return ref.offset <= all.size() ? all.substr(ref.offset, ref.length)
                                    : std::string_view();
  }
  std::span<const PlannedTask> TasksOf(const Decision& d) const {
    const std::span<const PlannedTask> all = tasks;
    if (d.first_task > all.size()) return {};
    const size_t rest = all.size() - d.first_task;
    return all.subspan(d.first_task, std::min<size_t>(d.task_count, rest));
  }
  TextRef AddText(std::string_view s) {
    const TextRef ref{static_cast<uint32_t>(text.size()),
                      static_cast<uint32_t>(s.size())};
    text.append(s);
    return ref;
  }
  void Clear() {
    based_on = 0;
    now = 0;
    decisions.clear();
    tasks.clear();
    untold.clear();
    waiting.clear();
    preemptions.clear();
    refused.clear();
    inbox_left = false;
    next_wakeup = kForever;
    budget_exhausted = false;
    steps = 0;
    answers.clear();
    asking.clear();
    grew = false;
    text.clear();
  }
};

// What a journal keeps of a pass: the decisions, with keys, and what else it
// changed in the state. After a pass all questions are closed that may be asked
// (those of gangs that may grow, if `grew`), and no gang asks to be looked at;
// `answers` says where it is otherwise, or where more has changed. Of a pass
// that ended with its budget, `answers` are all that it closed.
struct PlanRecord {
  Time now = 0;
  uint64_t based_on = 0;
  std::vector<DecisionRecord> decisions{};
  Time next_wakeup = kForever;
  bool budget_exhausted = false;
  uint64_t steps = 0;
  std::vector<ClassState> answers{};
  std::vector<std::string> asking{};  // Gangs that ask still, by key.
  bool grew = false;                  // Gangs were asked whether they can grow.

  friend bool operator==(const PlanRecord&, const PlanRecord&) = default;
};

}  // namespace muster

#endif  // MUSTER_PLAN_H_
