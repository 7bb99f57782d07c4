#include <algorithm>
#include <optional>

#include "lib/scheduler/pass.h"

namespace muster {

void Serve::Forget() {
  turns_.Clear();
  held_back_.reset();
  tables_.lists.waiting().ForgetChangedQueues();
}

void Serve::Run() {
  GangClassList& waiting = tables_.lists.waiting();
  ++passes_;
  Forget();
  for (const QueueIndex leaf : waiting.ActiveLeaves()) Refresh(leaf);
  if (turns_.next() == kNoQueue) AskAgain();
  while (turns_.next() != kNoQueue && !pass_.budget.exhausted() &&
         tables_.lists.check_due().empty()) {
    const QueueIndex leaf = turns_.next();
    const GangClassIndex c = tables_.lists.FirstToAsk(waiting, leaf);
    ServeClass(c, waiting.questions(c).active, 0);
    FollowChanges(leaf);
  }
  if (turns_.next() == kNoQueue) waiting.SettleRooms();
}

// A class of the leaf was asked.
void Serve::FollowChanges(QueueIndex leaf) {
  RefreshChanged(tables_.lists.waiting(), leaf,
                 [this](QueueIndex changed) { Refresh(changed); });
  for (const QueueIndex q : make_room_.touched()) turns_.UsageChanged(q);
}

// The leaf puts its first active class forward.
void Serve::Refresh(QueueIndex leaf) {
  GangClassList& waiting = tables_.lists.waiting();
  const GangClassIndex c = tables_.lists.FirstToAsk(waiting, leaf);
  if (c == kNoClass) return turns_.Withdraw(leaf);
  const GangSpec& spec = tables_.specs.at(waiting.at(c).key().spec);
  turns_.Set(leaf, {waiting.at(c).first(), &LeastOf(spec, tables_.cluster)});
}

// Unless the round began with something else, in this pass or in one before,
// which its budget ended.
void Serve::AskAgain() {
  if (tables_.round_open || pass_.budget.spent() > 0) return;
  const GangClassIndex c = tables_.lists.FirstToAskAgain();
  if (c == kNoClass) return;
  const QueueIndex leaf = tables_.lists.waiting().at(c).key().queue;
  ServeClass(c, Questions::kRoom | Questions::kVictims,
             tables_.lists.waiting().questions(c).effort);
  FollowChanges(leaf);
}

// Tries the first gang of the class: its active questions. If it must wait, so
// must the class.
void Serve::ServeClass(GangClassIndex c, uint8_t active, uint32_t effort) {
  GangClassList& waiting = tables_.lists.waiting();
  const GangClass& cls = waiting.at(c);
  const GangIndex g = cls.first().gang;
  const GangRecord& r = tables_.gangs.at(g);
  Reason reason = cls.reason();
  // That none were found is no reason any more where there are none.
  if (reason.code == ReasonCode::kNotFound) active |= Questions::kRoom;
  // Whose tasks could be taken was not asked while it could never fit.
  if (IsHopeless(reason.code) && (active & Questions::kRoom) != 0 &&
      tables_.config.preemption) {
    active |= Questions::kVictims;
  }
  cut_short_ = none_has_room_ = false;
  make_room_.Begin();
  pass_.budget.Charge(1, kClassNs);
  if (r.phase == GangPhase::kSuspended) {
    if (TryResume(g, &reason)) return;
  } else {
    // Victims alone, too, may be asked for with a limit in the way that was not
    // there when there was no room.
    const bool blocked = QuotaBlocks(r, &reason);
    if ((active & Questions::kRoom) != 0 && !blocked &&
        TryStart(g, effort, &reason)) {
      return;
    }
    if ((active & Questions::kVictims) != 0 &&
        make_room_.Try(g, reason.code,
                       tables_.config.search.victim_steps * (1 + effort))) {
      return;
    }
  }
  Questions answer = waiting.questions(c);
  answer.reason = WithQueue(tables_, r, Ledger::kBoth, reason);
  answer.active &= Questions::kPutOff;
  const uint32_t most = tables_.config.search.most_effort;
  answer.effort = 0;
  if (cut_short_ || make_room_.unproven()) {
    answer.reason.code = ReasonCode::kNotFound;
    if (effort < most && (cut_short_ || make_room_.worth_more())) {
      answer.active |= Questions::kAgain;
      answer.effort = std::min(2 * effort + 1, most);
    }
  }
  if ((active & Questions::kVictims) != 0) {
    if (make_room_.put_off()) answer.active |= Questions::kPutOff;
    answer.retry_at = make_room_.retry_at();
  }
  pass_.plan.Answer(waiting, c, answer);
  if (none_has_room_) AnswerOthers(r.spec);
}

// What the solver said of a spec it says of each of its classes. Those to whom
// that is nothing new are not asked.
void Serve::AnswerOthers(SpecIndex spec) {
  const Reason& reason = no_room_[spec].reason;
  GangClassList& waiting = tables_.lists.waiting();
  pass_.budget.Charge(waiting.OfSpec(spec).size(), kScopeNs);
  if (!held_back_) held_back_ = tables_.queues.AnyHoldsBack();
  const bool all_at_once = tables_.config.work_budget == 0 && !*held_back_;
  others_.clear();
  if (!all_at_once || !waiting.DeactivateRoomOf(spec, reason, &others_)) {
    const GangClassList::Classes& all = waiting.OfSpec(spec);
    others_.assign(all.begin(), all.end());
  }
  for (const GangClassIndex c : others_) {
    if (!IsReported(c, reason)) continue;
    waiting.Deactivate(c, Questions::kRoom);
    pass_.plan.Note(waiting, c, false);
  }
}

// Whether the class, were it asked, would get the reason that was reported
// last.
bool Serve::IsReported(GangClassIndex c, const Reason& reason) const {
  const GangClassList& waiting = tables_.lists.waiting();
  const GangClass& cls = waiting.at(c);
  const uint8_t active = waiting.questions(c).active;
  const uint8_t others = Questions::kVictims | Questions::kAgain;
  if ((active & Questions::kRoom) == 0 || (active & others) != 0 ||
      cls.key().alone != kNoGang || !tables_.lists.MayAsk(c)) {
    return false;
  }
  if (IsSame(cls.reason(), reason)) return true;
  Reason quota;
  return cls.reason().code == ReasonCode::kQueueLimit &&
         QuotaBlocks(tables_.gangs.at(cls.first().gang), &quota) &&
         IsSame(cls.reason(), quota);
}

bool Serve::QuotaBlocks(const GangRecord& r, Reason* reason) const {
  const GangSpec& spec = tables_.SpecOf(r);
  if (!spec.least_is_exact) return false;  // The solver keeps to the room.
  const Resources& least = LeastOf(spec, tables_.cluster);
  LimitExcess excess = tables_.quota.NeverWithin(r.queue, least);
  const bool never = static_cast<bool>(excess);
  if (!never) excess = tables_.quota.OverLimit(r.queue, least, Ledger::kLater);
  if (!excess) return false;
  *reason = ReasonOf(
      excess, never ? ReasonCode::kOverLimitAlways : ReasonCode::kQueueLimit);
  return true;
}

bool Serve::TryStart(GangIndex g, uint32_t effort, Reason* reason) {
  const GangRecord& r = tables_.gangs.at(g);
  const SpecIndex spec = r.spec;
  if (spec >= no_room_.size()) no_room_.resize(spec + 1);
  const NoRoom& known = no_room_[spec];
  if (known.pass == passes_ && known.epoch == tables_.activator.freed_epoch() &&
      known.effort >= effort) {
    *reason = known.reason;
    cut_short_ = known.cut_short;
    return false;
  }
  bool bounded = false;
  for (const Ledger ledger : {Ledger::kBoth, Ledger::kLater}) {
    if (ledger == Ledger::kLater && tables_.nodes.releasing() == 0) break;
    PlacementRequest request = RequestFor(tables_, g, ledger, &room_);
    request.effort = effort;
    bounded = request.headroom != nullptr;
    if (Place(g, request, reason)) return true;
  }
  // With a limit in the way the answer may be the queue's alone.
  if (!bounded || tables_.specs.at(spec).least_is_exact) {
    no_room_[spec] = {passes_, tables_.activator.freed_epoch(), effort,
                      cut_short_, *reason};
    none_has_room_ = tables_.specs.at(spec).least_is_exact && !cut_short_;
  }
  return false;
}

bool Serve::Place(GangIndex g, const PlacementRequest& request,
                  Reason* reason) {
  placement_.Clear();
  pass_.solver.Place(tables_.cluster, request, &placement_);
  pass_.Spend(placement_);
  const bool starts = request.ledger == Ledger::kBoth;
  if (placement_.fit != Fit::kFits) {
    if (starts) *reason = placement_.reason;
    cut_short_ |= placement_.cut_short;
    return false;
  }
  pass_.decisions.Place(
      g, starts ? DecisionKind::kStart : DecisionKind::kNominate,
      placement_.tasks,
      {.code = starts ? ReasonCode::kFits : ReasonCode::kWaitingForRelease});
  return true;
}

// A suspended gang resumes where it was, when all of it has room again.
bool Serve::TryResume(GangIndex g, Reason* reason) {
  const GangRecord& r = tables_.gangs.at(g);
  const Cluster::Mark mark = tables_.cluster.Begin();
  bool room = true;
  Resources demand(tables_.queues.kinds());
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kSuspended) continue;
    const std::optional<Allocation> kept = KeptOf(tables_.SpecOf(r), task.at);
    if (!kept) continue;
    tables_.cluster.Credit(*kept, Ledger::kBoth);
    demand.Subtract(tables_.holdings.UsageOf(*kept));
  }
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kSuspended) continue;
    if (!tables_.cluster.Fits(task.at, Ledger::kBoth) ||
        BorneUntil(tables_.cluster, task) != kForever) {
      *reason = {.code = ReasonCode::kSuspendedWaits,
                 .object_kind = ReasonObject::kNode,
                 .object = task.at.node};
      room = false;
      break;
    }
    tables_.cluster.Charge(task.at, Ledger::kBoth);
    demand.Add(tables_.holdings.UsageOf(task.at));
  }
  tables_.cluster.Rollback(mark);
  pass_.budget.Charge(r.tasks.size(), kTaskNs);
  if (!room) return false;
  if (const LimitExcess excess =
          tables_.quota.OverLimit(r.queue, demand, Ledger::kBoth)) {
    *reason = ReasonOf(excess, ReasonCode::kQueueLimit);
    return false;
  }
  pass_.decisions.Resume(g);
  return true;
}

}  // namespace muster
