// A random history of one scheduler and its host, checked after every step.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "muster/scheduler.h"
#include "muster/waiting_mirror.h"
#include "test/property/dice.h"
#include "test/property/host.h"

namespace muster {

// A step, told so that it means something in any state: what it is about is
// drawn from what is there, by the salt. A history stays one when steps are
// taken out of it.
enum class OpKind : uint8_t {
  kPass,        // The host asks for a plan.
  kWakeup,      // The same, at the time the last plan named.
  kAnswer,      // The host carries something out, in one of many ways.
  kDeliver,     // An answer that was held up arrives.
  kResend,      // An old answer arrives again.
  kSubmit,      //
  kSubmitMany,  // Several gangs through Submit(), in some order.
  kGangEvent,   // Cancel, finish, hold, another class, checkpoint.
  kNodeEvent,   // New, changed, down, up, removed, drained, spot, external
                // usage, sets.
  kQueueEvent,  // Queues and classes.
  kTaskEnds,    // A task fails or succeeds by itself.
  kReconcile,
  kBad,      // An event that must be refused.
  kCommute,  // Two events that share nothing, in both orders.
};
inline constexpr uint32_t kOpKinds = 14;

struct Op {
  OpKind kind = OpKind::kPass;
  uint64_t salt = 0;
};

Op RandomOp(Dice& dice);
std::string Text(const Op& op);

class World final : private Journal {
 public:
  // `trace`: keep a log of events and plans.
  World(uint64_t seed, bool trace);
  ~World() override;

  void Step(const Op& op);
  // The host does all it is asked until nothing is left to do; then all gangs
  // end, and the journal is replayed.
  void Finish();

  // "invariant: what happened", or empty.
  const std::string& failure() const { return failure_; }
  std::string invariant() const {
    return failure_.substr(0, failure_.find(':'));
  }
  const std::string& log() const { return log_; }

 private:
  // --- The journal, kept in memory -------------------------------------------
  void Applied(const Event& event) override { entries_.emplace_back(event); }
  void Planned(const PlanRecord& plan) override { entries_.emplace_back(plan); }

  // --- Steps
  // ------------------------------------------------------------------
  void SetUp(Dice& dice);
  void Answer(Dice& dice);
  void Submit(Dice& dice);
  void SubmitMany(Dice& dice);
  void TakeSubmissions(Scheduler& twin);
  void GangEvent(Dice& dice);
  void YieldGang(const std::string& key);
  void ChangeGang(Dice& dice, const std::string& key);
  void NodeEvent(Dice& dice);
  void QueueEvent(Dice& dice);
  void TaskEnds(Dice& dice);
  void Reconcile(Dice& dice);
  void MoveTasks(Dice& dice, const Reconciled& whole);
  void ReportTimes(Dice& dice, Reconciled* whole);
  void Bad(Dice& dice);
  void Commute(Dice& dice);
  EventBody SmallEvent(Dice& dice, std::set<std::string>* touched);
  void Touch(const std::string& gang, std::set<std::string>* touched) const;

  // Applies an event that may be refused; checks what holds either way.
  bool Apply(const EventBody& what);
  PlanRecord Pass(Time at, bool deep);
  void CheckDeeply(Time at, const SchedulerState& before,
                   const PlanRecord& whatif, const PlanRecord& plan);
  bool WillDecideAlike(const Scheduler& one, const Scheduler& two) const;
  void CheckBounded(Time at, const SchedulerState& before);
  void CheckQuiet(const PlanRecord& plan);
  void CheckAsked(Time at, const SchedulerState& before);
  void CheckInactive(Time at, const Scheduler& scheduler, bool quiet);
  void CheckSteady(const PlanRecord& plan);
  bool GrewBeside(const DecisionRecord& stop) const;
  bool OnlyStarts(const EventBody& what) const;
  void CheckGangs();
  void CheckMirror();
  void CheckUnnamed();
  void CheckTruth();
  void SettleDown();
  void EndEverything();
  void Replay();
  void Fail(const std::string& what);
  void Log(const std::string& line);

  const NodeState* AnyNode(Dice& dice) const;
  std::string AnyGang(Dice& dice) const;
  std::string AnyQueue(Dice& dice) const;
  std::string AnyParent(Dice& dice) const;

  bool trace_;
  std::string log_;
  std::string failure_;
  SchedulerConfig config_;        // Now.
  SchedulerConfig first_config_;  // At the beginning.
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<std::variant<Event, PlanRecord>> entries_;
  SchedulerState state_;  // As of the last step.
  Plan plan_;
  WaitingMirror mirror_;
  Host host_;
  Time now_ = 0;
  Time wakeup_ = kForever;
  // Tasks that grew, since when no time has passed and nothing has happened
  // but that tasks started as planned.
  std::set<std::pair<std::string, TaskId>> grown_;
  Time now_of_plan_ = 0;
  bool lost_ = false;  // An answer was lost: only Reconcile tells the truth.
  std::vector<EventBody> late_;  // Done, but not told yet.
  std::vector<EventBody> sent_;
  std::vector<std::string> leaves_;
  uint32_t gangs_made_ = 0;
  std::set<std::string> made_;    // Gangs handed in.
  std::set<std::string> known_;   // Gangs that must be there.
  std::set<std::string> may_go_;  // Of these, those that may be gone.
};

}  // namespace muster
