#include "lib/scheduler/victim_pool.h"

#include <algorithm>
#include <limits>

#include "lib/index/free_on.h"
#include "lib/scheduler/eviction_backoff.h"
#include "lib/scheduler/scheduler_tables.h"
#include "lib/scheduler/unnamed_devices.h"

namespace muster {

void VictimPool::Forget() {
  put_off_ = false;
  retry_at_ = kForever;
}

void VictimPool::Begin(const RoomAsked& asked, int64_t lacks, bool spare_only) {
  const GangRecord& r = tables_.gangs.at(asked.gang);
  preemptor_ = asked.gang;
  spec_ = asked.spec;
  spare_only_ = spare_only;
  // What it uses where it is placed may be more than its least.
  all_help_ = !asked.least_is_exact ||
              tables_.quota.OverLimit(r.queue, asked.least, Ledger::kLater);
  drawn_.resize(tables_.gangs.limit(), 0);
  all_fresh_ = AllAreFresh();
  ++question_;
  could_hold_.resize(tables_.cluster.node_limit(), 0);
  gangs_.clear();
  slots_ = 0;
  order_.Begin(asked, spare_only);
  // Of an elastic gang less may go than it has.
  least_amount_ = elastic() ? lacks : std::max(lacks, order_.least_amount());
}

// Then one who would help is enough to put the question off. O(placed in this
// round), where they are as many as hold something.
bool VictimPool::AllAreFresh() {
  const size_t holders = tables_.lists.holders();
  if (tables_.placed.size() < holders) return false;
  ++question_;
  size_t fresh = 0;
  for (const GangIndex g : tables_.placed) {
    const GangRecord& r = tables_.gangs.at(g);
    if (!r.exists || !r.listing.holds || !tables_.IsFresh(r)) continue;
    fresh += drawn_[g] != question_;
    drawn_[g] = question_;
  }
  return fresh == holders;
}

void VictimPool::Draw(size_t count) {
  while (count > 0 && !done()) count -= TakeNext();
}

void VictimPool::DrawForLess(int32_t priority, int64_t cost, size_t most) {
  const auto could = [&] {
    if (order_.priority() != priority) return order_.priority() < priority;
    return StopCost::CostOf(least_amount_, order_.rate()) <= cost;
  };
  while (most > 0 && !done() && could()) most -= TakeNext();
}

int64_t VictimPool::LeastBeyond() const {
  // The rate counts that a gang is broken, which is not so where it shrinks.
  if (elastic() && tables_.config.preemption_costs.gang > 0) return 0;
  return order_.done() ? std::numeric_limits<int64_t>::max()
                       : StopCost::CostOf(least_amount_, order_.rate());
}

// Whether the next one helps. One that came with another brings others, too: so
// no candidate is left on a node beside one that is cheaper by the device.
bool VictimPool::TakeNext() {
  const GangIndex g = order_.Take();
  bool helps = all_help_;
  const NodeIndex n = tables_.lists.precedence(g).node;
  if (n != GangLists::Precedence::kManyNodes) {
    helps |= DrawsOn(n);
  } else {
    for (const TaskRecord& task : tables_.gangs.at(g).tasks) {
      // What succeeded is nowhere.
      if (task.phase == TaskPhase::kSucceeded) continue;
      helps |= DrawsOn(task.at.node);
    }
  }
  if (helps) Add(g);
  return helps;
}

void VictimPool::Add(GangIndex g) {
  if (drawn_[g] == question_) return;
  drawn_[g] = question_;
  if (g != preemptor_ && order_.Has(g) && MayStop(g)) gangs_.push_back(g);
}

// Whether a gang that gives way may be a victim now; else from when on.
bool VictimPool::MayStop(GangIndex g) {
  const GangRecord& r = tables_.gangs.at(g);
  const bool nominated = r.phase == GangPhase::kNominated;
  const bool suspended = r.phase == GangPhase::kSuspended;
  if (!nominated && !suspended && !IsLive(r)) return false;
  if (r.cancel || r.repair_reason != ReasonCode::kNone ||
      OnPreemptedOf(tables_, r) == OnPreempted::kNever ||
      !tables_.SpecOf(r).gang().preemptible) {
    return false;
  }
  if (tables_.IsFresh(r)) {
    put_off_ |= HasToGive(g);
    return false;
  }
  Time free_at = nominated ? Time{0} : SparedUntil(r);
  const Duration protection = ProtectionOf(tables_, r);
  if (protection > 0 && !nominated && !suspended) {
    // Its answer comes first.
    if (r.phase == GangPhase::kStarting) return false;
    free_at = std::max(free_at, r.started + protection);
  }
  free_at = std::max(free_at, LeavesToOthersUntil(tables_, r));
  if (free_at <= tables_.now) return true;
  retry_at_ = std::min(retry_at_, free_at);
  return false;
}

// Whether a gang of this round, which gives way, could be more of a victim in
// the next. An equal that has not grown gives nothing; what it grows into is
// room that there was when the question was asked.
bool VictimPool::HasToGive(GangIndex g) const {
  const GangRecord& r = tables_.gangs.at(g);
  return !order_.GivesSurplusOnly(g) ||
         r.tasks.size() > tables_.SpecOf(r).least_tasks;
}

// Whether it could hold a task with all gone who give way; they are drawn then.
bool VictimPool::DrawsOn(NodeIndex n) {
  uint64_t& known = could_hold_[n];
  if (known / 2 == question_) return (known & 1) != 0;
  const bool could_hold = FitsWithoutThem(n);
  known = 2 * question_ + (could_hold ? 1 : 0);
  if (!could_hold) return false;
  for (const NodeTask& task : tables_.nodes.tasks(n)) {
    if (order_.Has(task.gang)) Add(task.gang);
  }
  return true;
}

// By amounts: no node is said not to have room that does.
bool VictimPool::FitsWithoutThem(NodeIndex n) {
  index::FreeOn(tables_.cluster, n, Ledger::kLater, &freed_);
  for (const NodeTask& ref : tables_.nodes.tasks(n)) {
    if (order_.Has(ref.gang)) freed_.Add(tables_.holdings.UsageOf(ref));
  }
  if (!AnyFits(*spec_, tables_.cluster, n, freed_)) return false;
  slots_ += SlotsIn(freed_);
  return true;
}

// Of the preemptor's first shape.
int64_t VictimPool::SlotsIn(const Resources& amount) const {
  const Resources& demand = tables_.cluster.demand(spec_->shapes[0]);
  int64_t slots = Gang::kMaxTasks;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] > 0) slots = std::min(slots, amount[k] / demand[k]);
  }
  return slots;
}

}  // namespace muster
