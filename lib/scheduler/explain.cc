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
void CountQuota(const SchedulerTables& tables, GangIndex g, Reason* reason) {
  const GangRecord& r = tables.gangs.at(g);
  const Resources& least = LeastOf(tables.SpecOf(g), tables.cluster);
  const LimitExcess excess =
      reason->code == ReasonCode::kOverLimitAlways
          ? tables.quota.NeverWithin(r.queue, least)
          : tables.quota.OverLimit(r.queue, least, Ledger::kLater);
  if (!excess || excess.queue != reason->object) return;
  *reason = ReasonOf(excess, reason->code);
}

// Why there is no room for the gang, asked again.
void CountRoom(SchedulerTables& tables, GangSolver& solver, GangIndex g,
               Reason* reason) {
  Resources room;
  PlacementRequest request = RequestFor(tables, g, Ledger::kBoth, &room);
  request.dry_run = true;
  PlacementResult result;
  solver.Place(tables.cluster, request, &result);
  if (result.fit != Fit::kFits && result.reason.code == reason->code) {
    *reason = result.reason;
  }
}

Reason WhyWaits(SchedulerTables& tables, GangSolver& solver, GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  if (r.held || tables.queues.IsHeld(r.queue))
    return {.code = ReasonCode::kHeld};
  GangClassList& waiting = tables.lists.waiting();
  const GangClassIndex c = tables.lists.ClassOf(g, false);
  if (c == kNoClass) {
    const bool early = r.not_before > tables.now;
    return {.code = early ? ReasonCode::kNotBefore : ReasonCode::kBackoff,
            .needed = std::max(r.not_before, r.backoff_until),
            .available = tables.now};
  }
  const GangIndex head = waiting.HeadOf(r.queue);
  if (tables.queues.IsStrict(r.queue) && waiting.at(c).first().gang != head) {
    return {.code = ReasonCode::kBehindHead,
            .object_kind = ReasonObject::kGang,
            .object = head};
  }
  Reason reason = waiting.at(c).reason();
  if (reason.code == ReasonCode::kNone && tables.config.work_budget > 0) {
    reason.code = ReasonCode::kBudget;  // Not asked yet.
  }
  if (reason.code == ReasonCode::kQueueLimit ||
      reason.code == ReasonCode::kOverLimitAlways) {
    CountQuota(tables, g, &reason);
  } else if (IsAboutRoom(reason.code)) {
    CountRoom(tables, solver, g, &reason);
  }
  return reason;
}

}  // namespace

Explanation ExplainGang(SchedulerTables& tables, GangSolver& solver,
                        GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  Explanation e;
  e.phase = r.phase;
  e.tasks = StateOf(tables, g).tasks;
  Reason reason;
  if (r.phase == GangPhase::kNominated) {
    reason.code = ReasonCode::kWaitingForRelease;
  } else if (r.phase == GangPhase::kWaiting ||
             r.phase == GangPhase::kSuspended) {
    reason = WhyWaits(tables, solver, g);
    e.ahead = tables.lists.CountAhead(g);
  }
  e.reason = Named(tables, reason, g);
  if (r.held) e.held_why = r.held_why;
  return e;
}

}  // namespace muster
