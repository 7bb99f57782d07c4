#include "lib/scheduler/gang_lists.h"

#include <algorithm>

#include "lib/scheduler/core.h"
#include "lib/scheduler/life.h"

namespace muster {

GangRank GangLists::Rank(GangIndex g, const GangRecord& r, const Listing& l,
                         uint32_t surplus) const {
  return {l.priority, surplus, l.submitted, r.key, g};
}

GangRank GangLists::RankOf(GangIndex g) const {
  const GangRecord& r = core_.gangs.at(g);
  return {core_.PriorityOf(r), 0, r.submitted, r.key, g};
}

// When time alone makes the next pass look at it.
Time GangLists::WakeAt(const GangRecord& r) const {
  const auto after_now = [&](Time at) {
    return at > core_.now ? at : kForever;
  };
  if (r.phase == GangPhase::kWaiting || r.phase == GangPhase::kSuspended) {
    const Time until =
        r.held ? kForever : after_now(std::max(r.not_before, r.backoff_until));
    if (r.phase == GangPhase::kWaiting) return until;
    return std::min(until, after_now(SuspendedUntil(core_.config, r)));
  }
  if (!IsLive(r)) return kForever;
  Time at = after_now(r.backoff_until);
  if (Lacks(r)) {
    at = std::min(at, after_now(r.since + core_.config.replacement_timeout));
  }
  if (core_.specs.at(r.spec).bears_for_a_time) {
    at = std::min(at, after_now(BorneUntil(core_, r)));
  }
  if (r.max_runtime > 0 && r.phase == GangPhase::kRunning) {
    at = std::min(at, std::max(r.started + r.max_runtime, SparedUntil(r)));
  }
  return at;
}

// Whether it runs, below what it desires, and nothing keeps it from growing but
// room.
bool GangLists::MayGrow(const GangRecord& r) const {
  const GangSpec& spec = core_.specs.at(r.spec);
  const bool just_started =
      r.phase == GangPhase::kStarting && r.placed_seq >= core_.round_seq;
  return (r.phase == GangPhase::kRunning || just_started) &&
         r.tasks.size() < spec.most_tasks && r.trouble == ReasonCode::kNone &&
         !r.cancel && r.backoff_until <= core_.now &&
         !HasTask(r, TaskPhase::kReleasing) &&
         !(spec.sliced && HasTask(r, TaskPhase::kSucceeded));
}

Listing GangLists::ListingOf(GangIndex g, const GangRecord& r) const {
  const GangSpec& spec = core_.specs.at(r.spec);
  Listing l;
  l.queue = r.queue;
  l.priority = core_.PriorityOf(r);
  l.submitted = r.submitted;
  l.holds = std::any_of(r.tasks.begin(), r.tasks.end(), [](const auto& task) {
    return task.phase <= TaskPhase::kRunning;
  });
  l.elastic = l.holds && core_.config.host.shrink && spec.elastic;
  l.nominated = r.phase == GangPhase::kNominated;
  l.asks = r.look;
  l.lacks = Lacks(r) && !r.look;
  l.wake_at = WakeAt(r);
  if (r.phase == GangPhase::kRunning) {
    for (const Duration length : {r.max_runtime, r.expected_runtime}) {
      if (length > 0) l.ends_at = std::min(l.ends_at, r.started + length);
    }
  }
  const bool rests =
      r.phase == GangPhase::kWaiting || r.phase == GangPhase::kSuspended;
  if (rests && !r.held && !r.cancel && r.trouble == ReasonCode::kNone &&
      std::max(r.not_before, r.backoff_until) <= core_.now) {
    const bool alone = r.phase == GangPhase::kSuspended;
    l.waiting = {r.queue, r.priority_class, r.spec, alone ? g : kNoGang};
  }
  if (MayGrow(r)) {
    l.growing = {
        r.queue, r.priority_class, r.spec,
        spec.grows_nearby || HasTask(r, TaskPhase::kSucceeded) ? g : kNoGang};
    const auto tasks = static_cast<uint32_t>(r.tasks.size());
    l.surplus = tasks > spec.least_tasks ? tasks - spec.least_tasks : 0;
  }
  return l;
}

void GangLists::Update(GangIndex g, GangRecord& r) {
  const Listing next = ListingOf(g, r);
  if (next == r.listing) return;
  Leave(g, r, next);
  Enter(g, r, next);
  timeline_.SetWake(g, r.listing.wake_at, next.wake_at);
  timeline_.SetEnd(g, r.listing.ends_at, next.ends_at);
  r.listing = next;
}

void GangLists::Remove(GangIndex g, GangRecord& r) {
  Leave(g, r, Listing());
  timeline_.SetWake(g, r.listing.wake_at, kForever);
  timeline_.SetEnd(g, r.listing.ends_at, kForever);
  r.listing = Listing();
}

// Takes it out of the lists in which `next` does not want it, or under another
// rank.
void GangLists::Leave(GangIndex g, const GangRecord& r, const Listing& next) {
  const Listing& l = r.listing;
  const bool moves = l.priority != next.priority || l.queue != next.queue ||
                     l.submitted != next.submitted;
  const GangRank rank = Rank(g, r, l, 0);
  if (l.holds && (moves || !next.holds || l.elastic != next.elastic)) {
    Unhold(g, l);
  }
  if (l.nominated && (moves || !next.nominated)) nominated_.erase(rank);
  if (l.asks && (moves || !next.asks)) asking_.erase(rank);
  if (l.lacks && (moves || !next.lacks)) lacking_.erase(rank);
  if (l.waiting.queue != kNoQueue && (moves || !(l.waiting == next.waiting))) {
    waiting_.Remove(waiting_.Find(l.waiting), g);
  }
  if (l.growing.queue != kNoQueue &&
      (moves || !(l.growing == next.growing) || l.surplus != next.surplus)) {
    growing_.Remove(growing_.Find(l.growing), g);
  }
}

// Puts it into those in which it stands not yet.
void GangLists::Enter(GangIndex g, const GangRecord& r, const Listing& next) {
  const Listing& l = r.listing;
  const bool moves = l.priority != next.priority || l.queue != next.queue ||
                     l.submitted != next.submitted;
  const GangRank rank = Rank(g, r, next, 0);
  if (next.holds && (moves || !l.holds || l.elastic != next.elastic)) {
    Hold(g, next);
  }
  if (next.nominated && (moves || !l.nominated)) nominated_.insert(rank);
  if (next.asks && (moves || !l.asks)) asking_.insert(rank);
  if (next.lacks && (moves || !l.lacks)) lacking_.insert(rank);
  if (next.waiting.queue != kNoQueue &&
      (moves || !(l.waiting == next.waiting))) {
    waiting_.Add(next.waiting, rank, Questions::kRoom | Questions::kVictims);
  }
  if (next.growing.queue != kNoQueue &&
      (moves || !(l.growing == next.growing) || l.surplus != next.surplus)) {
    growing_.Add(next.growing, Rank(g, r, next, next.surplus),
                 Questions::kRoom);
  }
}

void GangLists::Hold(GangIndex g, const Listing& l) {
  if (l.queue >= holding_.size()) holding_.resize(l.queue + 1);
  if (g >= held_at_.size()) held_at_.resize(g + 1);
  Holders& holders = holding_[l.queue][l.priority];
  holders.elastic += l.elastic;
  held_at_[g] = static_cast<uint32_t>(holders.gangs.size());
  holders.gangs.push_back(g);
}

// The last takes its place.
void GangLists::Unhold(GangIndex g, const Listing& l) {
  const auto it = holding_[l.queue].find(l.priority);
  Holders& holders = it->second;
  holders.elastic -= l.elastic;
  const GangIndex last = holders.gangs.back();
  holders.gangs[held_at_[g]] = last;
  held_at_[last] = held_at_[g];
  holders.gangs.pop_back();
  if (holders.gangs.empty()) holding_[l.queue].erase(it);
}

const GangLists::Holding& GangLists::holding(QueueIndex q) const {
  static const Holding kNobody;
  return q < holding_.size() ? holding_[q] : kNobody;
}

bool GangLists::Stands(GangIndex g) const {
  const GangRecord& r = core_.gangs.at(g);
  return r.edits == 0 && ListingOf(g, r) == r.listing;
}

std::vector<size_t> GangLists::Sizes() const {
  std::vector<size_t> sizes = {nominated_.size(), asking_.size(),
                               lacking_.size(), timeline_.wakes().size(),
                               timeline_.ends().size()};
  size_t holding = 0, elastic = 0, waiting = 0, growing = 0;
  for (const Holding& by_priority : holding_) {
    for (const auto& [priority, holders] : by_priority) {
      holding += holders.gangs.size();
      elastic += holders.elastic;
    }
  }
  waiting_.ForEach([&](ClassIndex) { ++waiting; });
  growing_.ForEach([&](ClassIndex) { ++growing; });
  sizes.insert(sizes.end(), {holding, elastic, waiting, growing});
  return sizes;
}

}  // namespace muster
