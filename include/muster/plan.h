// Plan: everything one pass decided, in the order to apply it. And PlanRecord,
// the same as a value that means something in another process.
#ifndef MUSTER_PLAN_H_
#define MUSTER_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/decision.h"
#include "muster/gang_class_state.h"
#include "muster/ids.h"
#include "muster/reason.h"
#include "muster/runner_up.h"

namespace muster {

// Why gangs of one class (same queue, priority class and spec) wait.
// Scheduler::Explain answers for each single gang.
struct Waiting {
  // The class's for as long as it has a gang, and no other's in this scheduler,
  // which may be moved; a restored one has others. Never 0. In a what-if's plan
  // only those of classes that are there mean something.
  uint64_t gang_class_id = 0;
  QueueId queue{};
  // The first of them, in the queue's order; its key.
  GangId gang{};
  TextRef gang_key{};
  // How many of the class wait, `gang` included. 0: none does any more, and
  // nothing else is said of it.
  uint32_t count = 0;
  // Of the first of them. docs/reasons.md says what each one means.
  Reason reason{};
};

// What a pass found for a class of gangs, or left active: for records
// (PlanRecord). A host has no use for it. The members are those of
// GangClassState.
struct GangClassResult {
  TextRef gang_key{};
  bool grows = false;
  uint32_t active = 0;
  Reason reason{};
  Time retry_at = kForever;
  uint32_t effort = 0;
};

// Room that is made for a gang, and how good that is: which gangs are stopped
// is in the decisions with this gang as on_behalf_of. Costs are those of
// PreemptionCosts: device-milliseconds of work that is thrown away.
struct Preemption {
  GangId gang{};
  TextRef gang_key{};
  // Gangs that are stopped, suspended or shrunk for it.
  uint32_t victims = 0;
  // The highest of their priority classes' values. It is kept low first, then
  // the cost.
  int32_t priority = 0;
  int64_t cost = 0;
  // No allowed victims with that highest priority cost less.
  int64_t bound = 0;
  RunnerUp runner_up{};

  // By how much the victims may cost more than the cheapest ones. 0: they are
  // proven to be the cheapest.
  int64_t gap() const { return cost - bound; }
};

// A submission through Submit() that was refused, with the error's text, which
// names the field. The gang is in no state; the host tells its owner.
struct Refused {
  TextRef gang_key{};
  TextRef error{};
};

// Plain data, which the caller owns. Pass the same Plan to every Schedule(): it
// keeps its capacity, so that a steady-state pass allocates nothing. Handles in
// it are those of the scheduler that made it; keys are in `text`. A host that
// hands the plan to another thread copies it, or gives it away and begins a new
// one.
struct Plan {
  // SchedulerState::version of the state that the plan was made from.
  uint64_t based_on = 0;
  // The time of the pass: the largest that the scheduler was given.
  Time now = 0;
  // What to do, in the order in which to do it: what makes room comes before
  // what it makes room for.
  std::vector<Decision> decisions{};
  // The tasks of all decisions, one decision's side by side: see TasksOf.
  std::vector<PlannedTask> tasks{};
  // Nominations and their withdrawals that are not reported to the host
  // (HostCapabilities::nominate is false): for records.
  std::vector<Decision> unreported{};
  // What has changed in why gangs wait: classes with another code, object or
  // resource than was reported before, then those that are gone. What is not
  // listed has not changed; a change of `count` or of the reason's numbers
  // alone is not reported. WaitingMirror follows it, from what
  // Scheduler::AllWaiting reports.
  std::vector<Waiting> waiting{};
  // In the order of the decisions: one for each gang that was nominated or
  // started in the place of victims.
  std::vector<Preemption> preemptions{};
  // What became of gangs handed in by Submit() that this pass took: those that
  // the scheduler knows from now on, and those that it refused. Accepted ones
  // are in the journal when the plan is: then they may be acknowledged.
  std::vector<GangId> accepted{};
  std::vector<Refused> refused{};
  // Submissions are left for the next pass: the work budget did not go so far.
  // A host calls Schedule() again at once.
  bool inbox_left = false;
  // The next time at which a pass could decide otherwise without a new event;
  // kForever if there is none. A host calls Schedule() then, and after events.
  Time next_wakeup = kForever;
  // SchedulerConfig::work_budget ended the pass: questions are left active, and
  // next_wakeup is now.
  bool budget_exhausted = false;
  // Work steps that the pass took: see SchedulerConfig::work_budget.
  uint64_t steps = 0;
  // For records: what PlanRecord says of them.
  std::vector<GangClassResult> class_results{};
  std::vector<TextRef> check_due{};
  std::vector<TextRef> checked{};
  bool grew = false;
  std::string text{};  // What the TextRefs refer to.

  // Of this plan, as it was made. Another plan's reference or decision means
  // nothing here; where it lies outside, the result is empty. What
  // they return is valid until the plan is changed. O(1).
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
  // Appends to `text`. For those who make plans: a host need not.
  TextRef AddText(std::string_view s) {
    const TextRef ref{static_cast<uint32_t>(text.size()),
                      static_cast<uint32_t>(s.size())};
    text.append(s);
    return ref;
  }
  // Back to an empty plan; keeps its memory. Schedule() does so by itself.
  void Clear() {
    based_on = 0;
    now = 0;
    decisions.clear();
    tasks.clear();
    unreported.clear();
    waiting.clear();
    preemptions.clear();
    accepted.clear();
    refused.clear();
    inbox_left = false;
    next_wakeup = kForever;
    budget_exhausted = false;
    steps = 0;
    class_results.clear();
    check_due.clear();
    checked.clear();
    grew = false;
    text.clear();
  }
};

// What a journal keeps of a pass: the decisions, with keys, and what else it
// changed in the state. After a pass all questions are inactive that may be
// asked (those of gangs that may grow, if `grew`), and no gang's check is due;
// `class_results` says where it is otherwise, or where more has changed. Of a
// pass that ended with its budget, `class_results` are all that it deactivated.
//
// Scheduler::Record makes it, Journal::Planned gets it, Scheduler::Follow takes
// it instead of deciding: so a journal is replayed by a version that would
// decide otherwise. Members as in Plan.
struct PlanRecord {
  Time now = 0;
  uint64_t based_on = 0;
  std::vector<DecisionRecord> decisions{};
  Time next_wakeup = kForever;
  bool budget_exhausted = false;
  uint64_t steps = 0;
  std::vector<GangClassState> class_results{};
  std::vector<std::string> check_due{};  // GangState::check_due, by key.
  // Of these, those that this pass has checked, and that are due again.
  std::vector<std::string> checked{};
  bool grew = false;  // Gangs were asked whether they can grow.

  friend bool operator==(const PlanRecord&, const PlanRecord&) = default;
};

}  // namespace muster

#endif  // MUSTER_PLAN_H_
