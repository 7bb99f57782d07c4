// Which lists a gang stands in: a function of its state, kept by taking it out
// before a change and putting it back after.
#include <algorithm>

#include "lib/scheduler/impl.h"

namespace muster {

GangRank Scheduler::Impl::RankOf(GangIndex g) const {
  const GangRecord& r = gangs.at(g);
  return {PriorityOf(r), r.submitted, r.key, g};
}

// A gang that refused to stop is left alone for a while.
Time Scheduler::Impl::SparedUntil(const GangRecord& r) {
  return r.failures == 0 ? r.backoff_until : 0;
}

Time Scheduler::Impl::OverdueAt(const GangRecord& r) {
  return std::max(r.started + r.max_runtime, SparedUntil(r));
}

void Scheduler::Impl::Enlist(GangIndex g) {
  GangRecord& r = gangs.at(g);
  const GangRank rank = RankOf(g);
  bool holds = false;
  for (const TaskRecord& task : r.tasks) {
    holds |= task.phase <= TaskPhase::kRunning;
  }
  if (holds) {
    holding_.insert(rank);
    if (holding_in_.size() < queues.limit()) holding_in_.resize(queues.limit());
    holding_in_[r.queue].insert(rank);
    ++started_version_;
    r.counted_as_holding = true;
    r.holding_priority = rank.priority;
    ++queues.at(r.queue).holding[rank.priority];
    if (config.host.shrink && gangs.description(r.description).elastic) {
      r.counted_as_elastic = true;
      ++queues.at(r.queue).elastic[rank.priority];
    }
  }
  if (r.trouble != ReasonCode::kNone ||
      (r.cancel && r.phase != GangPhase::kStopping)) {
    troubled_.insert(rank);
  }
  switch (r.phase) {
    case GangPhase::kWaiting:
    case GangPhase::kSuspended: {
      if (r.held) break;
      const Time until = std::max(r.not_before, r.backoff_until);
      if (until > now) {
        r.parked_until = until;
        parked_.insert({until, g});
        break;
      }
      const uint32_t description = r.phase == GangPhase::kSuspended
                                       ? WaitingList::kAlone | g
                                       : r.description;
      r.waiting_in = waiting.Add(r.queue, r.priority_class, description, rank);
      break;
    }
    case GangPhase::kNominated:
      nominated_.insert(rank);
      break;
    case GangPhase::kRunning:
      if (r.tasks.size() < gangs.description(r.description).most_tasks) {
        growable_.insert(rank);
      }
      if (r.max_runtime > 0) overdue_.insert({OverdueAt(r), g});
      break;
    default:
      break;
  }
}

void Scheduler::Impl::Delist(GangIndex g) {
  GangRecord& r = gangs.at(g);
  const GangRank rank = RankOf(g);
  if (r.counted_as_holding) {
    const auto discount = [&](std::map<int32_t, uint32_t>& counts) {
      const auto it = counts.find(r.holding_priority);
      if (--it->second == 0) counts.erase(it);
    };
    discount(queues.at(r.queue).holding);
    if (r.counted_as_elastic) discount(queues.at(r.queue).elastic);
    r.counted_as_holding = r.counted_as_elastic = false;
    holding_.erase(rank);
    holding_in_[r.queue].erase(rank);
    ++started_version_;
  }
  troubled_.erase(rank);
  nominated_.erase(rank);
  growable_.erase(rank);
  if (r.max_runtime > 0) overdue_.erase({OverdueAt(r), g});
  if (r.parked_until > 0) {
    parked_.erase({r.parked_until, g});
    r.parked_until = 0;
  }
  if (r.waiting_in != kNoClass) {
    waiting.Remove(r.waiting_in, rank);
    r.waiting_in = kNoClass;
  }
}

// The gang stands in no list and holds nothing.
void Scheduler::Impl::RemoveGang(GangIndex g) {
  GangRecord& r = gangs.at(g);
  for (const OpenRecord& open : r.open) open_.erase(open.seq);
  --queues.at(r.queue).gangs;
  gangs.Unref(r.description, cluster);
  gangs.Remove(g);
}

}  // namespace muster
