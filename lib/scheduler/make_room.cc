#include "lib/scheduler/make_room.h"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>
#include <utility>

#include "lib/scheduler/eviction_backoff.h"
#include "lib/scheduler/surplus.h"

namespace muster {
namespace {

// What is thrown away, in device-milliseconds, by stopping the last task of
// `tasks`, the last two, ... and all. Devices are what counts, if the gang
// holds any, else cores.
void StopCosts(const SchedulerTables& tables, const GangRecord& r,
               std::span<const Assignment> tasks, std::vector<int64_t>* costs) {
  const Duration lost =
      UnsavedWork(r, tables.now) +
      StopCost::RestartOf(tables.config.preemption_costs, r.restart_cost);
  // What is suspended holds less than it would lose.
  const bool suspended = r.phase == GangPhase::kSuspended;
  const auto demand = [&](const Assignment& a) -> const Resources& {
    return tables.cluster.demand(suspended ? FindTask(r, a.task)->at.shape
                                           : a.at.shape);
  };
  ResourceKind kind = tables.cluster.device_kind();
  if (std::ranges::none_of(
          tasks, [&](const Assignment& a) { return demand(a)[kind] > 0; })) {
    kind = 0;
  }
  costs->clear();
  int64_t amount = 0;
  for (size_t i = tasks.size(); i-- > 0;) {
    amount += demand(tasks[i])[kind];
    costs->push_back(StopCost::CostOf(amount, lost));
  }
}

// How many candidates a search begins with, and how many times more it takes in
// where that were too few.
constexpr size_t kFirst = 4;
constexpr size_t kMore = 4;
// How many more it looks at for something better than what it found: for each
// task, where that costs something.
constexpr size_t kBeyond = 32;
constexpr size_t kMostBeyond = 512;

}  // namespace

void MakeRoom::Begin() {
  touched_.clear();
  pool_.Forget();
  unproven_ = worth_more_ = false;
}

bool MakeRoom::Try(GangIndex g, ReasonCode why, uint64_t victim_steps) {
  victim_steps_ = victim_steps;
  if (IsHopeless(why)) return false;
  asked_ = AskedInAll(tables_, g);
  return MakeFor(g);
}

bool MakeRoom::TryRaised(GangIndex g) {
  victim_steps_ = tables_.config.search.victim_steps;
  const GangRecord& r = tables_.gangs.at(g);
  const Remaining rest(r, tables_.specs.at(r.wanted));
  asked_ = AskedBesides(tables_, g, rest);
  return MakeFor(g);
}

bool MakeRoom::MakeFor(GangIndex g) {
  if (!IsWorthIt(tables_.gangs.at(g))) return false;
  bound_ = 0;
  if (TooLittleInAll(g) || !Find(g)) return false;
  if (asked_.rest != nullptr) asked_.rest->Rename(&result_.tasks);
  ReportPreemption(g);
  FindSuspended(g);
  for (size_t i = 0; i < result_.victims.size(); ++i) {
    StopVictim(g, result_.victims[i], suspended_[i]);
  }
  PlacePreemptor(g);
  return true;
}

// A cheap look at whether there can be any victim at all.
bool MakeRoom::IsWorthIt(const GangRecord& r) {
  if (!tables_.config.preemption ||
      !tables_.classes.at(r.priority_class).may_preempt ||
      MayMakeNoRoom(tables_, r)) {
    return false;
  }
  return AnyVictim(tables_, r.queue, tables_.PriorityOf(r), asked_.least);
}

// Whether it asks more devices than are free and preemption can give at all:
// what its own queue uses, and of others what they hold beyond their guarantees
// and the last gang that they lose on the way there.
bool MakeRoom::TooLittleInAll(GangIndex g) {
  const GangRecord& r = tables_.gangs.at(g);
  const GangSpec& spec = *asked_.spec;
  const ResourceKind kind = tables_.cluster.device_kind();
  const Resources& least = asked_.least;
  if (!asked_.least_is_exact || least[kind] == 0) return false;
  int64_t lacks = least[kind] - tables_.queues.at(r.queue).used[kind];
  lacks -= FreeFor(spec, kind);
  pass_.budget.Charge(tables_.queues.limit(), kScopeNs);
  // By other kinds, queues may lose devices down to the last.
  const bool alone = tables_.quota.IsJudgedByAlone(r.queue, kind, least);
  for (QueueIndex q = 0; q < tables_.queues.limit() && lacks > 0; ++q) {
    if (q == r.queue || tables_.lists.holding(q).empty() ||
        !tables_.quota.MayReclaim(r.queue, q, least)) {
      continue;
    }
    lacks -= alone ? MostFrom(q, kind) : tables_.queues.at(q).used[kind];
  }
  return lacks > 0;
}

int64_t MakeRoom::MostFrom(QueueIndex q, ResourceKind kind) const {
  const QueueTree::Entry& e = tables_.queues.at(q);
  int64_t largest = 0;
  for (const auto& [priority, holders] : tables_.lists.holding(q)) {
    for (const Holders::Row& row : holders.rows()) {
      if (row.amount == StopCost::kUnknown) return e.used[kind];
      largest = std::max(largest, StopCost::Unrounded(row.amount));
    }
  }
  const int64_t beyond = e.used[kind] - std::max<int64_t>(0, e.guarantee[kind]);
  return std::min(e.used[kind], beyond - 1 + largest);
}

// The gangs drawn are the candidates.
void MakeRoom::Collect() {
  candidates_.clear();
  sorted_.clear();
  for (const GangIndex victim : pool_.gangs()) {
    const GangRecord& r = tables_.gangs.at(victim);
    sorted_.push_back({tables_.PriorityOf(r), TextKey(r.key), victim});
  }
  std::ranges::sort(sorted_, {}, [](const Drawn& drawn) {
    return std::tie(drawn.priority, drawn.key);
  });
  if (tasks_.size() < sorted_.size()) {
    tasks_.resize(sorted_.size());
    shrink_sizes_.resize(sorted_.size());
    stop_costs_.resize(sorted_.size());
  }
  for (const Drawn& drawn : sorted_) AddCandidate(drawn.gang);
  // Who stays and has nothing to give is none.
  std::erase_if(candidates_, [](const auto& c) { return c.tasks.empty(); });
  pass_.budget.Charge(candidates_.size(), kScopeNs);
  for (const VictimCandidate& c : candidates_) {
    pass_.budget.Charge(c.tasks.size(), kTaskNs);
  }
}

void MakeRoom::AddCandidate(GangIndex g) {
  const size_t i = candidates_.size();
  const GangRecord& r = tables_.gangs.at(g);
  std::vector<Assignment>& tasks = tasks_[i];
  TakeableTasks(r, tables_.SpecOf(r), &tasks);
  VictimCandidate& c = candidates_.emplace_back();
  c.gang = tables_.gangs.id(g);
  c.priority = tables_.PriorityOf(r);
  const bool nominated = r.phase == GangPhase::kNominated;
  if (!nominated && r.listing.elastic && tasks.size() > 1) {
    const GangSpec& spec = tables_.SpecOf(r);
    CountTasks(r, spec, &counts_);
    c.surplus = PutSurplusLast(spec, counts_, &tasks, &shrink_sizes_[i]);
  }
  if (!nominated && !tasks.empty()) {
    std::vector<int64_t>& costs = stop_costs_[i];
    StopCosts(tables_, r, tasks, &costs);
    c.cost = costs.back() + tables_.config.preemption_costs.gang;
    c.surplus_costs = std::span(costs).first(c.surplus);
  }
  if (c.surplus > 0) c.shrink_sizes = shrink_sizes_[i];
  c.tasks = tasks;
  const bool stays =
      pool_.spare_only() || HoldsFirm(r) || pool_.GivesSurplusOnly(g);
  if (!nominated && stays) LeaveOnlySurplus(c);
}

// The gang stays; what it can do without is all there is to take.
void MakeRoom::LeaveOnlySurplus(VictimCandidate& c) {
  c.stoppable = false;
  c.tasks = c.tasks.last(c.surplus);
}

// Whether a task that must not be preempted starts or runs.
bool MakeRoom::HoldsFirm(const GangRecord& r) {
  const std::vector<Role>& roles = tables_.SpecOf(r).gang().roles;
  return std::ranges::any_of(r.tasks, [&](const TaskRecord& t) {
    return !roles[t.task.role].preemptible &&
           (t.phase == TaskPhase::kStarting || t.phase == TaskPhase::kRunning);
  });
}

// No gang is stopped where what elastic gangs can do without is enough, if that
// is wanted.
bool MakeRoom::Find(GangIndex g) {
  const int64_t lacks = LacksOnANode(*asked_.spec);
  pool_.Begin(asked_, lacks, false);
  if (pool_.elastic() && tables_.config.preemption_costs.surplus_first) {
    pool_.Begin(asked_, lacks, true);
    if (FindCheapest(g)) return true;
    pool_.Begin(asked_, lacks, false);
  }
  return FindCheapest(g);
}

// How much of a device, at the least, a gang of one task lacks on each node: no
// node has more free than all together.
int64_t MakeRoom::LacksOnANode(const GangSpec& spec) {
  if (!asked_.least_is_exact || spec.least_tasks != 1 ||
      spec.shapes.size() != 1) {
    return 0;
  }
  const ShapeId shape = spec.shapes[0];
  const ResourceKind kind = tables_.cluster.device_kind();
  const int64_t lacks = tables_.cluster.demand(shape)[kind];
  if (lacks == 0) return 0;
  const int64_t free = free_.Get(tables_.cluster, shape, Ledger::kLater)[kind];
  return std::max<int64_t>(0, lacks - free);
}

// Whether the nodes on which somebody helps, and what is free elsewhere, have
// too little room for all tasks, whichever of the drawn gangs were stopped.
bool MakeRoom::TooFewSlots(const GangSpec& spec) {
  if (!asked_.least_is_exact || spec.shapes.size() != 1) return false;
  const ShapeId shape = spec.shapes[0];
  const ResourceKind kind = tables_.cluster.device_kind();
  const int64_t each = tables_.cluster.demand(shape)[kind];
  if (each == 0) return false;
  const int64_t free = free_.Get(tables_.cluster, shape, Ledger::kLater)[kind];
  return pool_.slots() + free / each < int64_t{spec.least_tasks};
}

// Most victims are few, and of the cheapest: so the search begins with those,
// and takes in more while it finds nothing. Then it looks once more, with those
// who could be part of something better.
bool MakeRoom::FindCheapest(GangIndex g) {
  for (size_t count = kFirst;; count *= kMore) {
    pool_.Draw(count);
    if (TooFewSlots(*asked_.spec)) {
      if (pool_.done()) return false;
      continue;
    }
    Collect();
    if (Choose(g)) break;
    if (pool_.done()) return false;
  }
  const size_t few = pool_.gangs().size();
  bound_ = result_.bound;
  const auto found = std::pair(TopPriority(), result_.cost);
  const bool breaks_few = AreFewest();
  const size_t tasks = result_.cost > 0 ? result_.tasks.size() : 1;
  pool_.DrawForLess(found.first, found.second - breaks_few,
                    std::min(kBeyond * tasks, kMostBeyond));
  if (pool_.gangs().size() > few && !FindBetter(g, found)) {
    pool_.Keep(few);
    Collect();
  }
  bound_ = std::min(bound_, pool_.LeastBeyond());
  return true;
}

// Whether victims among those drawn by now are as good as those found before,
// which stay the result otherwise.
bool MakeRoom::FindBetter(GangIndex g,
                          const std::pair<int32_t, int64_t>& found) {
  std::swap(result_, few_);
  Collect();
  const bool better =
      Choose(g) && std::pair(TopPriority(), result_.cost) <= found;
  bound_ = better ? result_.bound : 0;
  if (better) return true;
  std::swap(result_, few_);
  return false;
}

// Whether no others could be fewer: each gives back no more than the most that
// anybody holds who gives way.
bool MakeRoom::AreFewest() {
  const int64_t victims = std::ssize(result_.victims);
  if (victims <= 1) return true;
  const GangSpec& spec = *asked_.spec;
  const ResourceKind kind = tables_.cluster.device_kind();
  const int64_t least = asked_.least[kind];
  const int64_t most = pool_.most_amount();
  return asked_.least_is_exact && least > 0 && most != StopCost::kUnknown &&
         least - FreeFor(spec, kind) > (victims - 1) * most;
}

// No less than what is free of the kind where its tasks may go: filters may
// share nodes.
int64_t MakeRoom::FreeFor(const GangSpec& spec, ResourceKind kind) {
  int64_t free = 0;
  std::vector<uint64_t> filters;
  for (const ShapeId shape : spec.shapes) {
    const uint64_t filter = tables_.cluster.filter_serial(shape);
    if (std::ranges::count(filters, filter) > 0) continue;
    filters.push_back(filter);
    free += free_.Get(tables_.cluster, shape, Ledger::kLater)[kind];
  }
  return free;
}

// How good the victims are. There are none where what is being released already
// is enough.
void MakeRoom::ReportPreemption(GangIndex g) {
  if (result_.victims.empty()) return;
  const Preemption report{
      .victims = static_cast<uint32_t>(result_.victims.size()),
      .priority = TopPriority(),
      .cost = result_.cost,
      .bound = bound_,
      .runner_up = result_.runner_up};
  pass_.plan.Preempts(g, report);
}

// The highest priority of the victims found.
int32_t MakeRoom::TopPriority() const {
  int32_t top = std::numeric_limits<int32_t>::min();
  for (const Victim& victim : result_.victims) {
    top = std::max(top, candidates_[victim.candidate].priority);
  }
  return top;
}

// Allowed victims among the candidates; the cluster stays as it is. Where the
// placement may use more than the least demand, by alternatives, groups or
// devices that differ, others are sought whose quota bears what it uses. What
// bounds all of them is the first question alone: those that follow ask for
// more than the gang must have.
bool MakeRoom::Choose(GangIndex g) {
  worth_more_ = false;
  if (candidates_.empty()) return false;
  const Resources& least = asked_.least;
  if (ChooseFor(g, least, nullptr)) return true;
  if (asked_.least_is_exact || result_.fit != Fit::kFits) return false;
  const std::pair bound(TopPriority(), result_.bound);
  unproven_ = !ChooseWithin(g, least);
  if (unproven_) return false;
  const bool same = TopPriority() == bound.first;
  result_.bound = same ? std::min(bound.second, result_.bound) : 0;
  return true;
}

// The first placement found uses more than quotas allow: the better of one that
// keeps to the queue's room, to what the queue is owed, or uses the least, and
// of victims for what it would use.
bool MakeRoom::ChooseWithin(GangIndex g, const Resources& least) {
  const Resources used = tables_.holdings.UsageOf(result_.tasks);
  const QueueIndex queue = tables_.gangs.at(g).queue;
  Resources room(tables_.queues.kinds());
  bool found = tables_.quota.Room(queue, Ledger::kLater, &room) &&
               (ChooseFor(g, least, &room) || ChooseFor(g, least, &least));
  if (!found && ClipToOwed(queue, used, &room)) {
    found = ChooseFor(g, least, &room);
  }
  if (found && result_.victims.empty()) return true;
  const std::pair within(TopPriority(), result_.cost);
  std::swap(result_, within_);
  if (ChooseForMore(g, least, used) &&
      (!found || std::pair(TopPriority(), result_.cost) < within)) {
    return true;
  }
  std::swap(result_, within_);
  return found;
}

// Whether the queue is owed less than is used of some kind, which is all that
// there is room for then.
bool MakeRoom::ClipToOwed(QueueIndex queue, const Resources& used,
                          Resources* room) const {
  bool clipped = false;
  for (ResourceKind k = 0; k < used.size(); ++k) {
    const int64_t owed = tables_.quota.MostToReclaim(queue, k);
    if (owed <= 0 || owed >= std::min(used[k], (*room)[k])) continue;
    room->Set(k, owed);
    clipped = true;
  }
  return clipped;
}

// Victims for ever more, until quotas allow what the placement uses.
bool MakeRoom::ChooseForMore(GangIndex g, Resources demand, Resources used) {
  while (!used.FitsIn(demand)) {
    for (ResourceKind k = 0; k < demand.size(); ++k) {
      demand.Set(k, std::max(demand[k], used[k]));
    }
    if (ChooseFor(g, demand, nullptr)) return true;
    if (result_.fit != Fit::kFits) return false;
    used = tables_.holdings.UsageOf(result_.tasks);
  }
  return false;
}

// Victims that free quota for `demand`, and a placement that uses at most
// `headroom` (null: whatever it uses); whether quotas allow both.
bool MakeRoom::ChooseFor(GangIndex g, const Resources& demand,
                         const Resources* headroom) {
  const GangRecord& r = tables_.gangs.at(g);
  QueueVictimPolicy policy(tables_, r, demand, candidates_);
  result_.Clear();
  unproven_ = false;
  if (!policy.MaySuffice()) return false;
  PreemptionRequest request;
  request.placement = RequestFor(tables_, g, Ledger::kLater, nullptr);
  request.placement.headroom = headroom;
  if (asked_.rest != nullptr) {
    request.placement.gang = &asked_.rest->gang();
    request.placement.fixed = asked_.rest->fixed();
  }
  request.candidates = candidates_;
  request.rules = &policy;
  request.victim_steps = victim_steps_;
  const Cluster::Mark mark = tables_.cluster.Begin();
  pass_.victim_search.Choose(tables_.cluster, pass_.solver, request, &result_);
  tables_.cluster.Rollback(mark);
  unproven_ = result_.fit != Fit::kFits && !result_.optimal;
  worth_more_ |= unproven_;
  pass_.budget.Spend(result_.steps);
  pass_.budget.Charge(result_.victims.size() + result_.tasks.size(), kTaskNs);
  return result_.fit == Fit::kFits &&
         (asked_.least_is_exact || IsAllowedAsPlaced(g, policy));
}

// Whether quota and guarantees bear what the placement does use.
bool MakeRoom::IsAllowedAsPlaced(GangIndex g, const QueueVictimPolicy& policy) {
  const GangRecord& r = tables_.gangs.at(g);
  const Resources demand = tables_.holdings.UsageOf(result_.tasks);
  if (!policy.QuotaSufficesFor(demand)) return false;
  return std::ranges::all_of(result_.victims, [&](const Victim& v) {
    const VictimCandidate& c = candidates_[v.candidate];
    const QueueIndex leaf = tables_.gangs.at(c.gang.index).queue;
    return leaf == r.queue ||
           tables_.quota.MayLose(
               leaf, r.queue, demand,
               tables_.holdings.UsageOf(c.tasks.last(v.tasks)),
               {tables_.PriorityOf(r), c.priority});
  });
}

// Which of the victims are suspended: those of which that is wanted, one after
// the other, as long as what they keep leaves the gang its places and its
// quota.
void MakeRoom::FindSuspended(GangIndex g) {
  const size_t victims = result_.victims.size();
  suspended_.resize(victims);
  for (size_t i = 0; i < victims; ++i) {
    suspended_[i] = Suspends(result_.victims[i]);
  }
  if (tables_.config.host.suspended_keeps.empty()) return;
  const QueueIndex queue = tables_.gangs.at(g).queue;
  const Resources demand = tables_.holdings.UsageOf(result_.tasks);
  QuotaOverlay overlay(tables_.queues);
  const Cluster::Mark mark = tables_.cluster.Begin();
  for (const Victim& v : result_.victims) {
    const auto gone = candidates_[v.candidate].tasks.last(v.tasks);
    for (const Assignment& a : gone)
      tables_.cluster.Credit(a.at, Ledger::kLater);
    overlay.Charge(tables_.gangs.at(candidates_[v.candidate].gang.index).queue,
                   tables_.holdings.UsageOf(gone), -1);
  }
  for (const Assignment& a : result_.tasks) {
    tables_.cluster.Charge(a.at, Ledger::kLater);
  }
  for (size_t i = 0; i < victims; ++i) {
    suspended_[i] = suspended_[i] && LeavesRoom(i, queue, demand, &overlay);
  }
  tables_.cluster.Rollback(mark);
}

// Whether a victim that is stopped whole is one to be suspended.
bool MakeRoom::Suspends(const Victim& victim) const {
  const VictimCandidate& c = candidates_[victim.candidate];
  const GangRecord& r = tables_.gangs.at(c.gang.index);
  return tables_.config.host.suspend && c.stoppable &&
         victim.tasks == c.tasks.size() && IsLive(r) &&
         OnPreemptedOf(tables_, r) == OnPreempted::kSuspend;
}

// Charges what the victim keeps, if there is room for it.
bool MakeRoom::LeavesRoom(size_t victim, QueueIndex queue,
                          const Resources& demand, QuotaOverlay* overlay) {
  const VictimCandidate& c = candidates_[result_.victims[victim].candidate];
  const GangRecord& r = tables_.gangs.at(c.gang.index);
  const Cluster::Mark mark = tables_.cluster.Begin();
  Resources kept(tables_.queues.kinds());
  bool room = true;
  for (const Assignment& a : c.tasks) {
    const auto at = KeptOf(tables_.SpecOf(r), a.at);
    if (!at) continue;
    room &= tables_.cluster.Fits(*at, Ledger::kLater);
    tables_.cluster.Charge(*at, Ledger::kLater);
    kept.Add(tables_.holdings.UsageOf(*at));
  }
  overlay->Charge(r.queue, kept, 1);
  if (room &&
      !tables_.quota.OverLimit(queue, demand, Ledger::kLater, overlay)) {
    tables_.cluster.Commit(mark);
    return true;
  }
  overlay->Charge(r.queue, kept, -1);
  tables_.cluster.Rollback(mark);
  return false;
}

void MakeRoom::StopVictim(GangIndex g, const Victim& victim, bool suspend) {
  const VictimCandidate& c = candidates_[victim.candidate];
  const GangIndex loser = c.gang.index;
  const GangRecord& r = tables_.gangs.at(loser);
  touched_.push_back(r.queue);
  const bool same_queue = r.queue == tables_.gangs.at(g).queue;
  const Reason reason{
      .code = same_queue ? ReasonCode::kMadeRoom : ReasonCode::kReclaimed,
      .object_kind = ReasonObject::kGang,
      .object = g};
  if (victim.tasks < c.tasks.size() || !c.stoppable) {
    std::vector<TaskId> shrunk;
    for (const Assignment& a : c.tasks.last(victim.tasks)) {
      shrunk.push_back(a.task);
    }
    pass_.decisions.Shrink(loser, shrunk, reason, g);
    return;
  }
  DecisionKind kind = suspend ? DecisionKind::kSuspend : DecisionKind::kEvict;
  if (r.phase != GangPhase::kNominated &&
      OnPreemptedOf(tables_, r) == OnPreempted::kCancel) {
    kind = DecisionKind::kCancel;
  }
  pass_.decisions.Stop(loser, kind, reason, g);
}

// The gang is nominated for what the victims hold; it starts, or grows, at once
// if they were nominations only.
void MakeRoom::PlacePreemptor(GangIndex g) {
  Cluster& cluster = tables_.cluster;
  bool room = !tables_.quota.OverLimit(tables_.gangs.at(g).queue,
                                       tables_.holdings.UsageOf(result_.tasks),
                                       Ledger::kBoth);
  for (const Assignment& a : result_.tasks) {
    cluster.Charge(a.at, Ledger::kLater);
  }
  const Cluster::Mark mark = cluster.Begin();
  for (const Assignment& a : result_.tasks) {
    room &= cluster.Fits(a.at, Ledger::kNow);
    cluster.Charge(a.at, Ledger::kNow);
  }
  room ? cluster.Commit(mark) : cluster.Rollback(mark);
  if (room && asked_.rest != nullptr) {
    pass_.decisions.Grow(g, result_.tasks, {.code = ReasonCode::kPreempts});
    return;
  }
  pass_.decisions.Place(g,
                        room ? DecisionKind::kStart : DecisionKind::kNominate,
                        result_.tasks, {.code = ReasonCode::kPreempts});
}

}  // namespace muster
