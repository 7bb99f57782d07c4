// One pass: repair gangs and nodes, start nominated gangs, serve waiting gangs
// in order, then let elastic gangs grow. Or do what a recorded one did.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "lib/queue/queue_position.h"
#include "lib/queue/turns.h"
#include "lib/scheduler/make_room.h"
#include "lib/scheduler/pass_context.h"
#include "muster/plan.h"

namespace muster {

// Updates gangs whose time has come: those that wait enter their classes, the
// check of those to be repaired is due. Questions that were to be tried again
// by now are active.
void Wake(SchedulerTables& tables);
// The first time at which there is something to wake, or kForever. O(1).
Time NextDue(const SchedulerTables& tables);
// The round is over, when all active questions have been asked: what it placed
// may be a victim from now on, and what was put off for that is active.
void EndRound(SchedulerTables& tables);

// --- The phases, each in a file of its own -----------------------------------

// Whether it ran for as long as it may, and is not spared.
bool IsOverdue(const SchedulerTables& tables, const GangRecord& r);

// Clears check_due, and the repair_reason if no decision is needed for it. True
// if none is needed now. It makes no search, so that a pass that is followed
// and one that is made agree on it.
bool RepairWithoutDecision(SchedulerTables& tables, GangIndex g);

// Repairs the gangs whose check is due (GangLists::check_due) and that are not
// nominated, and overcommitted nodes. What the budget leaves is left to the
// next pass. Keeps its memory between passes.
class Repair : public Phase {
 public:
  using Phase::Phase;
  void Run();

 private:
  void Cancel(GangIndex g, ReasonCode why);
  void CancelOverdue();
  void RepairGang(GangIndex g);
  bool IsReplaceable(const GangRecord& r);
  bool Replace(GangIndex g, const GangSpec& spec, ReasonCode why);
  bool PlaceRest(GangIndex g, const GangSpec& spec, Ledger ledger);
  void PlaceRaised(GangIndex g);
  bool MayBeShed(GangIndex g) const;
  bool GivesWay(const GangRecord& r, const TaskRecord& task) const;
  ReasonCode WhyEnds(const GangRecord& r, bool whole);
  void RepairDue();
  void ShedFromOvercommitted();
  bool ReleaseOne(NodeIndex n);
  GangIndex LastToGo(NodeIndex n, bool nominated);

  MakeRoom make_room_{pass_};
  std::vector<uint32_t> counts_;
  PlacementResult placement_;
  Resources room_;
};

// Checks the nominated gangs whose check is due: those whose capacity is free
// now start; one whose capacity cannot become free any more waits again (or, if
// it runs, lacks its raised minimum without it), and ends the phase, since what
// it was nominated for may make other checks due.
class Promote : public Phase {
 public:
  using Phase::Phase;
  void Run();

 private:
  // Whether its nomination was not undone.
  bool PromoteGang(GangIndex g);
  bool MayStillStart(const GangRecord& r, const Resources& used) const;

  std::vector<Assignment> tasks_;
};

// Asks the active questions, in the order of the queues, until none is left
// that may be asked or the budget is spent. A pass that finds none active
// searches further for one class whose no is not proven. A gang that is placed
// leaves its class; a class whose first gang gets no for an answer is inactive.
// An answer that makes the check of other gangs due ends the phase.
// Each step depends on the state alone: it does not matter in how many passes
// they are made.
class Serve : public Phase {
 public:
  using Phase::Phase;
  void Run();
  // Nothing is left of the last pass.
  void Forget();

 private:
  // "No room" for a spec, while nothing has been freed.
  struct NoRoom {
    uint64_t pass = 0;
    uint64_t epoch = 0;
    uint32_t effort = 0;
    bool cut_short = false;
    Reason reason{};
  };

  void Refresh(QueueIndex leaf);
  void ServeClass(GangClassIndex c, uint8_t active, uint32_t effort);
  void FollowChanges(QueueIndex leaf);
  void AskAgain();
  void AnswerOthers(SpecIndex spec);
  bool IsReported(GangClassIndex c, const Reason& reason) const;
  bool QuotaBlocks(const GangRecord& r, Reason* reason) const;
  bool TryStart(GangIndex g, uint32_t effort, Reason* reason);
  bool Place(GangIndex g, const PlacementRequest& request, Reason* reason);
  bool TryResume(GangIndex g, Reason* reason);

  MakeRoom make_room_{pass_};
  Turns turns_{tables_.queues, tables_.order};
  uint64_t passes_ = 0;
  std::vector<NoRoom> no_room_;         // By spec.
  std::vector<GangClassIndex> others_;  // Of AnswerOthers.
  PlacementResult placement_;
  bool cut_short_ = false;         // There is room, or there is not: not known.
  bool none_has_room_ = false;     // No class of the spec that was asked.
  std::optional<bool> held_back_;  // QueueTree::AnyHoldsBack, once asked.
  Resources room_;
};

// By turns. Whose turn it is: between queues as with gangs that wait, with what
// each holds by then; in a queue the higher priority, then the gang with the
// fewest tasks beyond its least, then queue position. A turn is one task, or
// what comes whole. So a queue's share rises until others are as near to
// theirs, and gangs of equal priority share alike. O(log) and one question to
// the solver a turn.
//
// No gang grows into nominated capacity, nor before all waiting gangs have been
// tried; what is grown is surplus, which gives way again (make_room.h).
class Grow : public Phase {
 public:
  using Phase::Phase;
  void Run();
  // Nothing is left of the last pass.
  void Forget();

 private:
  void Refresh(QueueIndex leaf);
  const Resources& NextDemand(GangIndex g);
  void GrowFirst(GangClassIndex c);
  Reason WhyNot(GangIndex g);

  Turns turns_{tables_.queues, tables_.order};
  std::vector<uint32_t> counts_;
  PlacementResult placement_;
  Resources room_;
};

// --- The pass ----------------------------------------------------------------

// A *round* is the passes from the first that has something to ask to the one
// that leaves nothing active; without a work budget, one pass. What is placed
// in a round is no victim in it, so that no plan starts what it stops.
class Pass {
 public:
  explicit Pass(PassContext& pass) : pass_(pass) {}

  // Makes a plan, at SchedulerTables::now, and takes it as done.
  void Run(Plan* plan);
  // The last pass was taken back. What its phases still have of it is dropped,
  // which the next pass would have to do.
  void Forget();

 private:
  // Whether gangs are to be repaired or promoted, and may be in this pass.
  bool AnyCheckDue() const;
  void RepairAndServe();

  PassContext& pass_;
  Repair repair_{pass_};
  Promote promote_{pass_};
  Serve serve_{pass_};
  Grow grow_{pass_};
};

// Does what a pass did, at the price of its decisions: nothing is asked. After
// an error (FAILED_PRECONDITION names the decision) part of the plan has been
// taken: the caller takes it back.
absl::Status FollowPlan(PassContext& pass, const PlanRecord& record);

}  // namespace muster
