// Scheduler: turns events into plans.
#ifndef MUSTER_SCHEDULER_H_
#define MUSTER_SCHEDULER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/cluster_view.h"
#include "muster/config.h"
#include "muster/event.h"
#include "muster/export.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/plan.h"
#include "muster/queue_standing.h"
#include "muster/reason.h"
#include "muster/state.h"

namespace muster {

// Receives everything that changes a scheduler, in order: enough to build
// it again. muster::wire has one that writes a journal file. Called by the
// thread that schedules, from within Apply, Schedule and Follow: it may not
// call the scheduler, and does not throw.
class MUSTER_API Journal {
 public:
  virtual ~Journal() = default;
  // The event was applied (refused ones are not passed on). Submissions through
  // Submit() come as GangSubmitted, by key, before the pass that drained them.
  virtual void Applied(const Event& event) = 0;
  // A pass was made and its decisions took effect in the state.
  virtual void Planned(const PlanRecord& plan) = 0;
};

// What a Reconciled event changed.
struct ReconcileReport {
  uint32_t nodes_added = 0;
  uint32_t nodes_removed = 0;
  uint32_t nodes_changed = 0;
  uint32_t tasks_confirmed = 0;  // Ran, or was being released, as recorded.
  uint32_t tasks_found = 0;      // Runs, and was not recorded as running.
  uint32_t tasks_moved = 0;      // Runs elsewhere than recorded.
  uint32_t tasks_lost = 0;  // Was recorded as holding something, and is gone.
  // Pending decisions that are answered by it: refused are those of which a
  // task was to start and is not there, or was to stop and goes on.
  uint32_t decisions_applied = 0;
  uint32_t decisions_refused = 0;
};

// Why one gang is where it is.
struct Explanation {
  GangPhase phase = GangPhase::kWaiting;
  NamedReason reason{};  // For a gang that waits: why; else kNone.
  // Gangs that wait before it in its queue's order: by priority, submission and
  // key. Held ones, and those whose time has not come, are not among them. A
  // queue's place among its siblings is not in it. O(classes x log gangs).
  uint32_t ahead = 0;
  std::string held_why{};  // While it is held: what GangHeld said.
  std::vector<TaskState> tasks{};
};

// Not synchronised: one thread at a time owns a scheduler and calls it; only
// Submit() may be called from any thread at any time. It owns no thread,
// clock, lock, file or socket, and there are no globals: schedulers are
// independent. Equal calls give equal plans on every machine. One that was
// moved from may be assigned to and destroyed, and nothing else.
//
//   auto scheduler = muster::Scheduler::Create({});
//   scheduler->Apply({.at = 0, .what = muster::NodeChanged{node}});
//   scheduler->Apply({.at = 0, .what = muster::QueueChanged{queue}});
//   scheduler->Apply({.at = 0, .what = muster::GangSubmitted{gang}});
//   muster::Plan plan;
//   scheduler->Schedule(0, &plan);
//   for (const muster::Decision& d : plan.decisions) ...carry it out...
//   scheduler->Apply({.at = 5, .what = muster::DecisionApplied{seq}});
class MUSTER_API Scheduler {
 public:
  // INVALID_ARGUMENT names the field of the configuration that is wrong.
  static absl::StatusOr<Scheduler> Create(SchedulerConfig config);
  // Goes on from a state that State() gave: the same plans, the same hash.
  // INVALID_ARGUMENT if the state contradicts itself.
  static absl::StatusOr<Scheduler> Restore(const SchedulerState& state);

  Scheduler(Scheduler&&) noexcept;
  Scheduler& operator=(Scheduler&&) noexcept;
  ~Scheduler();

  // Records what happened; never decides. An error (INVALID_ARGUMENT: the
  // event is malformed; NOT_FOUND: it names something unknown; ALREADY_EXISTS;
  // FAILED_PRECONDITION; UNIMPLEMENTED: a field that is not supported yet)
  // names the field, and leaves the state as it was.
  absl::Status Apply(const Event& event);
  // The same for a Reconciled event, and tells what it changed. The event is
  // journalled like any other.
  absl::StatusOr<ReconcileReport> Reconcile(Time at, const Reconciled& whole);

  // Hands in a gang from any thread, lock-free but for the allocation of its
  // copy; not while the scheduler is moved or destroyed. It is looked at by the
  // next Schedule(), or by a later one where the work budget does not go so
  // far; that one tells of it in Plan::accepted or Plan::refused. The plan
  // depends on the set handed in, not on the order. Until it is taken the gang
  // is in no state and in no journal. RESOURCE_EXHAUSTED: config.inbox_limit
  // gangs wait already, and this one was not handed in.
  absl::Status Submit(Gang gang);

  // Decides, and takes the decisions as made: *plan is overwritten. Where `now`
  // lies before the scheduler's time, or is no time that an event may have, the
  // scheduler's time counts.
  void Schedule(Time now, Plan* plan);

  // Takes a recorded plan instead of deciding (replay of a journal by another
  // version), at the price of its decisions. Errors leave the state as it was.
  absl::Status Follow(const PlanRecord& plan);

  // What would Schedule(now) decide if these events happened first? Changes
  // nothing: no later plan, not even a step count. Nothing is copied: the
  // events and the plan are taken back, at the price of what they change.
  // Belongs to the thread that schedules; others ask a Fork() of their own.
  // Gangs that were handed in by Submit() and not taken yet are not looked at.
  // Handles in *plan of what the events alone brought are invalid. An error is
  // that of the event that is refused; *plan is then as it was.
  absl::Status WhatIf(Time now, std::span<const Event> events, Plan* plan);

  // Why the gang is where it is. NOT_FOUND for an unknown key. Changes nothing;
  // belongs to the thread that schedules.
  absl::StatusOr<Explanation> Explain(std::string_view gang) const;

  // Lists in plan->waiting every class of gangs that wait, as plans reported it
  // last; the rest of *plan is empty. A host that keeps what plans report
  // begins with this: after Restore and after it called Follow, because then no
  // plan has reported it. A class that no pass has tried yet, behind the head
  // of a strict queue or an ended budget, is not among them. Numbers are as
  // they were when it was reported. O(classes).
  void AllWaiting(Plan* plan) const;
  // The class in which the gang waits: Waiting::gang_class_id; 0 where it does
  // not wait or may not be asked: it is held, too early, or a start failed.
  // Then Explain says why. O(1).
  uint64_t WaitingGangClass(GangId gang) const;

  // An independent copy, for what-ifs on another thread. It has no journal and
  // an empty inbox. An error would be a defect of the library: the state
  // contradicts itself. O(state).
  absl::StatusOr<Scheduler> Fork() const;

  // The whole state as a value: a snapshot, and a view that other threads may
  // read. O(state). Submissions not drained yet are not in it.
  SchedulerState State() const;
  std::shared_ptr<const SchedulerState> View() const;
  // Equal for equal states, on every machine. O(state).
  uint64_t StateHash() const;

  // Not owned; null: none. Outlives the scheduler or is reset before it goes.
  void SetJournal(Journal* journal);

  Time now() const;
  const SchedulerConfig& config() const;
  // Nodes, capacity and what is free, for reading. Valid until the scheduler is
  // changed, by Apply(), Schedule() or any other call that is not const.
  ClusterView cluster() const;
  // Handles to keys and back. A key is empty, a handle invalid, for what is
  // not there. Keys stay valid until the next Schedule() or Apply().
  std::string_view gang_key(GangId id) const;
  std::string_view queue_key(QueueId id) const;
  std::string_view node_key(NodeId id) const;
  GangId FindGang(std::string_view key) const;
  QueueId FindQueue(std::string_view key) const;
  NodeId FindNode(std::string_view key) const;
  // The gang as submitted, with its state; NOT_FOUND for an unknown key.
  absl::StatusOr<GangState> Find(std::string_view gang) const;
  // The gang's roles as submitted, without a copy; empty for an invalid handle.
  // Valid until the scheduler is changed. O(1).
  std::span<const Role> RolesOf(GangId gang) const;
  // How many gangs that wait in its queue are before it; 0 where it does not
  // wait, or the handle is invalid. Belongs to the thread that schedules.
  // O(log gangs).
  uint32_t CountAhead(GangId gang) const;
  // Number of gangs in each phase, by GangPhase.
  std::vector<uint32_t> PhaseCounts() const;
  // What the queue and all below it hold (kLater: nominated included,
  // releasing not).
  Resources QueueUsage(std::string_view queue) const;
  // Where the queue stands beside what it is guaranteed, and what of its quotas
  // cannot be kept. NOT_FOUND for an unknown key. O(kinds x (queues beside it +
  // right below it)).
  absl::StatusOr<QueueStanding> StandingOf(std::string_view queue) const;

  // Plan::decisions, with keys instead of handles: what the host carries out.
  std::vector<DecisionRecord> DecisionsOf(const Plan& plan) const;
  // The same of a whole plan, as journals hold it (Plan::unreported is among
  // its decisions), or of a reason.
  PlanRecord Record(const Plan& plan) const;
  NamedReason Named(const Reason& reason, GangId gang) const;

  // Re-derives what is kept incrementally and checks the design's invariants;
  // an InternalError names the first that does not hold. For tests. O(state).
  absl::Status Validate() const;

 private:
  class Impl;
  explicit Scheduler(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster

#endif  // MUSTER_SCHEDULER_H_
