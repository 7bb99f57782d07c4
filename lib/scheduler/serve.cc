#include "lib/scheduler/serve.h"

#include <algorithm>
#include <optional>

namespace muster {

void Serve::Run(PassContext& pass) {
  Core& core = pass.core;
  ClassList& waiting = core.lists.waiting();
  ++passes_;
  turns_.Clear();
  waiting.TakeChangedQueues();
  for (const QueueIndex leaf : waiting.open_queues()) Refresh(core, leaf);
  while (turns_.next() != kNoQueue && !pass.budget.exhausted()) {
    const QueueIndex leaf = turns_.next();
    ServeClass(pass, core.lists.FirstToAsk(waiting, leaf));
    for (const QueueIndex changed : waiting.TakeChangedQueues()) {
      Refresh(core, changed);
    }
    Refresh(core, leaf);
    for (const QueueIndex q : make_room_.touched()) turns_.UsageChanged(q);
  }
}

// The leaf puts its first open class forward.
void Serve::Refresh(Core& core, QueueIndex leaf) {
  ClassList& waiting = core.lists.waiting();
  const ClassIndex c = core.lists.FirstToAsk(waiting, leaf);
  if (c == kNoClass) return turns_.Withdraw(leaf);
  const GangSpec& spec = core.specs.at(waiting.at(c).key().spec);
  turns_.Set(leaf, {waiting.at(c).first(), &LeastOf(spec, core.cluster)});
}

// Tries the first gang of the class. If it must wait, so must the class.
void Serve::ServeClass(PassContext& pass, ClassIndex c) {
  Core& core = pass.core;
  ClassList& waiting = core.lists.waiting();
  GangClass& cls = waiting.at(c);
  const GangIndex g = cls.first().gang;
  const GangRecord& r = core.gangs.at(g);
  uint8_t open = cls.questions().open;
  const uint32_t effort = cls.questions().effort;
  Reason reason = cls.questions().reason;
  // Whose tasks could be taken was not asked while it could never fit.
  if (IsHopeless(reason.code) && (open & Questions::kRoom) != 0 &&
      core.config.preemption) {
    open |= Questions::kVictims;
  }
  cut_short_ = false;
  make_room_.Begin();
  pass.budget.Charge(1, kClassNs);
  if (r.phase == GangPhase::kSuspended) {
    if (TryResume(pass, g, &reason)) return;
  } else {
    if ((open & Questions::kRoom) != 0 && !QuotaBlocks(core, r, &reason) &&
        TryStart(pass, g, effort, &reason)) {
      return;
    }
    if ((open & Questions::kVictims) != 0 &&
        make_room_.Try(pass, g, reason.code,
                       core.config.search.max_steps * (1 + effort))) {
      return;
    }
  }
  Questions answer = cls.questions();
  answer.reason = reason;
  answer.open &= Questions::kPutOff;
  answer.effort = cut_short_ || make_room_.cut_short()
                      ? std::min(2 * effort + 1, ClassState::kMostEffort)
                      : 0;
  if ((open & Questions::kVictims) != 0) {
    if (make_room_.put_off()) answer.open |= Questions::kPutOff;
    answer.retry_at = make_room_.retry_at();
  }
  pass.plan.Answer(waiting, c, answer);
}

bool Serve::QuotaBlocks(const Core& core, const GangRecord& r,
                        Reason* reason) const {
  const GangSpec& spec = core.specs.at(r.spec);
  if (!spec.least_is_exact) return false;  // The solver keeps to the room.
  const Resources& least = LeastOf(spec, core.cluster);
  LimitExcess excess = core.law.NeverWithin(r.queue, least);
  const bool never = static_cast<bool>(excess);
  if (!never) excess = core.law.OverLimit(r.queue, least, Ledger::kLater);
  if (!excess) return false;
  *reason = ReasonOf(
      excess, never ? ReasonCode::kOverLimitAlways : ReasonCode::kQueueLimit);
  return true;
}

bool Serve::TryStart(PassContext& pass, GangIndex g, uint32_t effort,
                     Reason* reason) {
  Core& core = pass.core;
  const GangRecord& r = core.gangs.at(g);
  const SpecIndex spec = r.spec;
  if (spec >= no_room_.size()) no_room_.resize(spec + 1);
  const NoRoom& known = no_room_[spec];
  if (known.pass == passes_ && known.epoch == core.opener.freed_epoch() &&
      known.effort >= effort) {
    *reason = known.reason;
    cut_short_ = reason->code == ReasonCode::kBudget;
    return false;
  }
  bool bounded = false;
  for (const Ledger ledger : {Ledger::kBoth, Ledger::kLater}) {
    if (ledger == Ledger::kLater && core.nodes.releasing() == 0) break;
    PlacementRequest request = RequestFor(core, g, ledger, &room_);
    request.exact_steps *= 1 + effort;
    bounded = request.headroom != nullptr;
    if (Place(pass, g, request, reason)) return true;
  }
  // With a limit in the way the answer may be the queue's alone.
  if (!bounded || core.specs.at(spec).least_is_exact) {
    no_room_[spec] = {passes_, core.opener.freed_epoch(), effort, *reason};
  }
  return false;
}

bool Serve::Place(PassContext& pass, GangIndex g,
                  const PlacementRequest& request, Reason* reason) {
  placement_.Clear();
  pass.solver.Place(pass.core.cluster, request, &placement_);
  pass.Spend(placement_);
  const bool starts = request.ledger == Ledger::kBoth;
  if (placement_.fit != Fit::kFits) {
    if (starts) *reason = placement_.reason;
    cut_short_ |= placement_.reason.code == ReasonCode::kBudget;
    return false;
  }
  pass.decisions.Place(
      g, starts ? DecisionKind::kStart : DecisionKind::kNominate,
      placement_.tasks,
      {.code = starts ? ReasonCode::kFits : ReasonCode::kWaitingForRelease});
  return true;
}

// A suspended gang resumes where it was, when all of it has room again.
bool Serve::TryResume(PassContext& pass, GangIndex g, Reason* reason) {
  Core& core = pass.core;
  const GangRecord& r = core.gangs.at(g);
  const Cluster::Mark mark = core.cluster.Begin();
  bool room = true;
  Resources demand(core.queues.kinds());
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kSuspended) continue;
    const std::optional<Allocation> kept =
        KeptOf(core.specs.at(r.spec), task.at);
    if (!kept) continue;
    core.cluster.Credit(*kept, Ledger::kBoth);
    demand.Subtract(holdings_.UsageOf(*kept));
  }
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kSuspended) continue;
    if (!core.cluster.Fits(task.at, Ledger::kBoth) ||
        BorneUntil(core.cluster, task) != kForever) {
      *reason = {.code = ReasonCode::kSuspendedWaits,
                 .object_kind = ReasonObject::kNode,
                 .object = task.at.node};
      room = false;
      break;
    }
    core.cluster.Charge(task.at, Ledger::kBoth);
    demand.Add(holdings_.UsageOf(task.at));
  }
  core.cluster.Rollback(mark);
  pass.budget.Charge(r.tasks.size(), kTaskNs);
  if (!room) return false;
  if (const LimitExcess excess =
          core.law.OverLimit(r.queue, demand, Ledger::kBoth)) {
    *reason = ReasonOf(excess, ReasonCode::kQueueLimit);
    return false;
  }
  pass.decisions.Resume(g);
  return true;
}

}  // namespace muster
