// Why a gang is where it is.
#include <algorithm>

#include "lib/scheduler/names.h"
#include "lib/scheduler/snapshot.h"

namespace muster {
namespace {

bool IsAboutRoom(ReasonCode code) {
  return code == ReasonCode::kInsufficient ||
         code == ReasonCode::kNoNodeAdmits || code == ReasonCode::kNoDomain ||
         code == ReasonCode::kNoMatchingDevice ||
         code == ReasonCode::kNeverFits || code == ReasonCode::kConstraint;
}

// The numbers of a queue's limit.
void CountQuota(const Core& core, GangIndex g, Reason* reason) {
  const GangRecord& r = core.gangs.at(g);
  const Resources& least = LeastOf(core.SpecOf(g), core.cluster);
  const LimitExcess excess =
      reason->code == ReasonCode::kOverLimitAlways
          ? core.quota.NeverWithin(r.queue, least)
          : core.quota.OverLimit(r.queue, least, Ledger::kLater);
  if (!excess || excess.queue != reason->object) return;
  *reason = ReasonOf(excess, reason->code);
}

// Why there is no room for the gang, asked again.
void CountRoom(Core& core, GangSolver& solver, GangIndex g, Reason* reason) {
  Resources room;
  PlacementRequest request = RequestFor(core, g, Ledger::kBoth, &room);
  request.dry_run = true;
  PlacementResult result;
  solver.Place(core.cluster, request, &result);
  if (result.fit != Fit::kFits && result.reason.code == reason->code) {
    *reason = result.reason;
  }
}

Reason WhyWaits(Core& core, GangSolver& solver, GangIndex g) {
  const GangRecord& r = core.gangs.at(g);
  if (r.held || core.queues.IsHeld(r.queue)) return {.code = ReasonCode::kHeld};
  GangClassList& waiting = core.lists.waiting();
  const GangClassIndex c = core.lists.ClassOf(g, false);
  if (c == kNoClass) {
    const bool early = r.not_before > core.now;
    return {.code = early ? ReasonCode::kNotBefore : ReasonCode::kBackoff,
            .needed = std::max(r.not_before, r.backoff_until),
            .available = core.now};
  }
  const GangIndex head = waiting.HeadOf(r.queue);
  if (core.queues.IsStrict(r.queue) && waiting.at(c).first().gang != head) {
    return {.code = ReasonCode::kBehindHead,
            .object_kind = ReasonObject::kGang,
            .object = head};
  }
  Reason reason = waiting.at(c).reason();
  if (reason.code == ReasonCode::kNone && core.config.work_budget > 0) {
    reason.code = ReasonCode::kBudget;  // Not asked yet.
  }
  if (reason.code == ReasonCode::kQueueLimit ||
      reason.code == ReasonCode::kOverLimitAlways) {
    CountQuota(core, g, &reason);
  } else if (IsAboutRoom(reason.code)) {
    CountRoom(core, solver, g, &reason);
  }
  return reason;
}

}  // namespace

Explanation ExplainGang(Core& core, GangSolver& solver, GangIndex g) {
  const GangRecord& r = core.gangs.at(g);
  Explanation e;
  e.phase = r.phase;
  e.tasks = StateOf(core, g).tasks;
  Reason reason;
  if (r.phase == GangPhase::kNominated) {
    reason.code = ReasonCode::kWaitingForRelease;
  } else if (r.phase == GangPhase::kWaiting ||
             r.phase == GangPhase::kSuspended) {
    reason = WhyWaits(core, solver, g);
    e.ahead = core.lists.waiting().CountAhead(r.queue, core.lists.RankOf(g));
  }
  e.reason = Named(core, reason, g);
  if (r.held) e.held_why = r.held_why;
  return e;
}

}  // namespace muster
