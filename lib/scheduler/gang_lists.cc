#include "lib/scheduler/gang_lists.h"

#include <algorithm>
#include <utility>

#include "lib/cluster/needs.h"
#include "lib/scheduler/eviction_backoff.h"
#include "lib/scheduler/life.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/scheduler_tables.h"

namespace muster {
namespace {

Holders::Spare SpareOf(const Listing& l) {
  if (l.promised) return Holders::Spare::kPromised;
  return l.elastic ? Holders::Spare::kSurplus : Holders::Spare::kNothing;
}

QueuePosition PositionIn(GangIndex g, const GangRecord& r, const Listing& l) {
  return {l.priority, 0, l.submitted, r.key, g};
}

// Devices are what counts, if the gang holds any, else cores.
StopCost StopCostOf(const SchedulerTables& tables, const GangRecord& r) {
  const GangSpec& spec = tables.SpecOf(r);
  const ResourceKind device = tables.cluster.device_kind();
  int64_t devices = 0, cores = 0;
  bool varies = false;
  // Of tasks that follow each other, most have one shape.
  const Resources* demand = nullptr;
  bool alike = true;
  ShapeId of = 0;
  for (const TaskRecord& task : r.tasks) {
    if (!TakeableOf(r, spec, task)) continue;
    if (demand == nullptr || task.at.shape != of) {
      of = task.at.shape;
      demand = &tables.cluster.demand(of);
      alike = UsesAlike(tables.cluster.device_request(of));
    }
    cores += (*demand)[0];
    if (alike) {
      devices += (*demand)[device];
    } else {
      varies = true;  // With the devices that there are.
    }
  }
  const int64_t amount = varies        ? StopCost::kUnknown
                         : devices > 0 ? devices
                                       : cores;
  StopCost stop_cost{.amount = StopCost::Rounded(amount)};
  if (r.phase == GangPhase::kNominated) return stop_cost;
  const auto [before, since] = UnsavedOf(r);
  stop_cost.accrues = since != kForever;
  stop_cost.lost =
      StopCost::RestartOf(tables.config.preemption_costs, r.restart_cost) +
      before - (stop_cost.accrues ? since : 0);
  return stop_cost;
}

NodeIndex NodeOf(const GangRecord& r) {
  constexpr NodeIndex kManyNodes = GangLists::Precedence::kManyNodes;
  NodeIndex node = kManyNodes;
  for (const TaskRecord& task : r.tasks) {
    // What succeeded is nowhere.
    if (task.phase == TaskPhase::kSucceeded || task.at.node == node) continue;
    if (node != kManyNodes) return kManyNodes;
    node = task.at.node;
  }
  return node;
}

// What `was` in the set at `from` is in it at `to` now, if it `is`.
template <class Set, class Place = typename Set::value_type>
void MoveIn(Set& set, bool was, const Place& from, bool is, const Place& to) {
  if (was && is && from == to) return;
  if (was) set.erase(from);
  if (is) set.insert(to);
}

}  // namespace

QueuePosition GangLists::PositionOf(GangIndex g) const {
  const GangRecord& r = tables_.gangs.at(g);
  return {tables_.PriorityOf(r), 0, r.submitted, r.key, g};
}

uint32_t GangLists::CountAhead(GangIndex g) {
  const GangRecord& r = tables_.gangs.at(g);
  const bool waits =
      r.phase == GangPhase::kWaiting || r.phase == GangPhase::kSuspended;
  return waits ? waiting().CountAhead(r.queue, PositionOf(g)) : 0;
}

// When time alone makes a check of it due.
Time GangLists::WakeAt(const GangRecord& r) const {
  const auto after_now = [&](Time at) {
    return at > tables_.now ? at : kForever;
  };
  if (r.phase == GangPhase::kWaiting || r.phase == GangPhase::kSuspended) {
    const Time until =
        r.held ? kForever
               : std::min(after_now(std::max(r.not_before, r.backoff_until)),
                          after_now(WaitsToMakeRoomUntil(tables_, r)));
    if (r.phase == GangPhase::kWaiting) return until;
    return std::min(until, after_now(SuspendedUntil(tables_.config, r)));
  }
  if (!IsLive(r)) return kForever;
  Time at = after_now(r.backoff_until);
  if (LooksForRaised(tables_, r)) {
    at = std::min(at, after_now(WaitsToMakeRoomUntil(tables_, r)));
  }
  if (Lacks(r)) {
    at = std::min(at, after_now(r.since + tables_.config.replacement_timeout));
  }
  if (tables_.SpecOf(r).bears_for_a_time) {
    at = std::min(at, after_now(BorneUntil(tables_, r)));
  }
  if (r.max_runtime > 0 && r.phase == GangPhase::kRunning) {
    at = std::min(at, std::max(r.started + r.max_runtime, SparedUntil(r)));
  }
  return at;
}

// Whether it runs, below what it desires, and nothing keeps it from growing but
// room.
bool GangLists::MayGrow(const GangRecord& r) const {
  const GangSpec& spec = tables_.SpecOf(r);
  const bool just_started =
      r.phase == GangPhase::kStarting && tables_.IsFresh(r);
  return (r.phase == GangPhase::kRunning || just_started) &&
         r.tasks.size() < spec.most_tasks &&
         r.repair_reason == ReasonCode::kNone && !r.cancel &&
         (r.wanted == kNoSpec || r.spec == r.wanted) &&
         r.backoff_until <= tables_.now && !HasTask(r, TaskPhase::kReleasing) &&
         !(spec.sliced && HasTask(r, TaskPhase::kSucceeded));
}

Listing GangLists::ListingOf(GangIndex g, const GangRecord& r) const {
  const GangSpec& spec = tables_.SpecOf(r);
  Listing l;
  l.queue = r.queue;
  l.priority = tables_.PriorityOf(r);
  l.submitted = r.submitted;
  const bool runs = std::ranges::any_of(
      r.tasks, [](const auto& t) { return t.phase <= TaskPhase::kRunning; });
  l.holds = runs || (r.phase == GangPhase::kSuspended && !spec.kept.empty());
  l.elastic = runs && tables_.config.host.shrink && spec.elastic;
  if (l.holds) l.stop_cost = StopCostOf(tables_, r);
  l.nominated = IsNominated(r);
  l.promised = r.phase == GangPhase::kNominated;
  l.check_due = r.check_due;
  l.lacks = !r.check_due &&
            (Lacks(r) || (LooksForRaised(tables_, r) && !l.nominated));
  l.wake_at = WakeAt(r);
  if (r.phase == GangPhase::kRunning) {
    for (const Duration length : {r.max_runtime, r.expected_runtime}) {
      if (length > 0) l.ends_at = std::min(l.ends_at, r.started + length);
    }
  }
  const bool rests =
      r.phase == GangPhase::kWaiting || r.phase == GangPhase::kSuspended;
  if (rests && !r.held && !r.cancel && r.repair_reason == ReasonCode::kNone &&
      std::max(r.not_before, r.backoff_until) <= tables_.now) {
    const bool alone = r.phase == GangPhase::kSuspended;
    l.waiting = {r.queue, r.priority_class, r.spec, alone ? g : kNoGang,
                 MayMakeNoRoom(tables_, r)};
  }
  l.made_room = HasMadeRoom(tables_, r) &&
                (l.waiting.queue != kNoQueue || LooksForRaised(tables_, r));
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
  Move(g, r, ListingOf(g, r));
  if (r.listing.holds) precedence_[g].node = NodeOf(r);
}

void GangLists::Remove(GangIndex g, GangRecord& r) { Move(g, r, Listing()); }

// From the lists in which it stands to those of `next`.
void GangLists::Move(GangIndex g, GangRecord& r, const Listing& next) {
  const Listing l = r.listing;
  if (next == l) return;
  const QueuePosition from = PositionIn(g, r, l), to = PositionIn(g, r, next);
  const bool holds_on = l.holds && next.holds && l.queue == next.queue &&
                        l.priority == next.priority &&
                        SpareOf(l) == SpareOf(next) &&
                        l.stop_cost == next.stop_cost;
  if (l.holds && !holds_on) Unhold(r.key, l);
  if (next.holds && !holds_on) Hold(g, r.key, next);
  if (g >= precedence_.size()) precedence_.resize(g + 1);
  precedence_[g] = {
      .queue = next.queue, .priority = next.priority, .spare = SpareOf(next)};
  MoveIn(nominated_, l.nominated, from, next.nominated, to);
  MoveIn(check_due_, l.check_due, from, next.check_due, to);
  MoveIn(lacking_, l.lacks, from, next.lacks, to);
  MoveIn(made_room_, l.made_room, from, next.made_room, to);
  times_.SetWake(g, l.wake_at, next.wake_at);
  times_.SetEnd(g, l.ends_at, next.ends_at);
  // A gang is in one of the two at a time, so it leaves both first. Where it
  // stays, what is remembered of its class is kept.
  const bool waits_anew = from != to || l.waiting != next.waiting;
  const bool grows_anew =
      from != to || l.growing != next.growing || l.surplus != next.surplus;
  if (waits_anew && l.waiting.queue != kNoQueue) {
    waiting_.Remove(waiting_.Find(l.waiting), g);
  }
  if (grows_anew && l.growing.queue != kNoQueue) {
    growing_.Remove(growing_.Find(l.growing), g);
  }
  if (waits_anew && next.waiting.queue != kNoQueue) {
    waiting_.Add(next.waiting, to, Questions::kRoom | Questions::kVictims);
  }
  if (grows_anew && next.growing.queue != kNoQueue) {
    QueuePosition position = to;
    position.surplus = next.surplus;
    growing_.Add(next.growing, position, Questions::kRoom);
  }
  r.listing = next;
}

void GangLists::Hold(GangIndex g, std::string_view key, const Listing& l) {
  if (l.queue >= holding_.size()) holding_.resize(l.queue + 1);
  ++holders_;
  holding_[l.queue][l.priority].Add(l.stop_cost, SpareOf(l), key, g);
}

void GangLists::Unhold(std::string_view key, const Listing& l) {
  const auto it = holding_[l.queue].find(l.priority);
  --holders_;
  it->second.Remove(l.stop_cost, SpareOf(l), key);
  if (it->second.empty()) holding_[l.queue].erase(it);
}

const GangLists::Holding& GangLists::holding(QueueIndex q) const {
  static const Holding kNobody;
  return q < holding_.size() ? holding_[q] : kNobody;
}

GangClassIndex GangLists::ClassOf(GangIndex g, bool grows) const {
  if (g == kNoGang) return kNoClass;
  const Listing& l = tables_.gangs.at(g).listing;
  return grows ? growing_.Find(l.growing) : waiting_.Find(l.waiting);
}

GangClassIndex GangLists::FirstToAsk(GangClassList& list,
                                     QueueIndex leaf) const {
  if (tables_.queues.IsHeld(leaf)) return kNoClass;
  return list.First(leaf, &list == &waiting_ && tables_.queues.IsStrict(leaf));
}

bool GangLists::MayAsk(GangClassIndex c) const {
  const GangClass& cls = waiting_.at(c);
  const QueueIndex leaf = cls.key().queue;
  return !tables_.queues.IsHeld(leaf) &&
         (!tables_.queues.IsStrict(leaf) ||
          waiting_.HeadOf(leaf) == cls.first().gang);
}

GangClassIndex GangLists::FirstToAskAgain() {
  const auto position = [&](GangClassIndex c) {
    return std::pair(waiting_.questions(c).effort, waiting_.at(c).first());
  };
  GangClassIndex least = kNoClass;
  for (const GangClassIndex c : waiting_.again()) {
    if (!MayAsk(c)) continue;
    if (least == kNoClass || position(c) < position(least)) least = c;
  }
  return least;
}

bool GangLists::Stands(GangIndex g) const {
  const GangRecord& r = tables_.gangs.at(g);
  return r.edits == 0 && ListingOf(g, r) == r.listing &&
         (!r.listing.holds || precedence_[g].node == NodeOf(r));
}

std::vector<size_t> GangLists::Sizes() const {
  std::vector<size_t> sizes = {nominated_.size(),     check_due_.size(),
                               lacking_.size(),       made_room_.size(),
                               times_.wakes().size(), times_.ends().size()};
  size_t holding = 0, waiting = 0, growing = 0;
  for (const Holding& by_priority : holding_) {
    for (const auto& [priority, holders] : by_priority) {
      holders.ForEach([&](GangIndex) { ++holding; });
    }
  }
  waiting_.ForEach([&](GangClassIndex) { ++waiting; });
  growing_.ForEach([&](GangClassIndex) { ++growing; });
  sizes.insert(sizes.end(), {holding, waiting, growing});
  return sizes;
}

}  // namespace muster
