// Making room: who may lawfully be stopped for whom.
//
// Inside a queue, lower priority makes room for higher. Across queues, a queue
// that stays within its guarantee takes back from queues above theirs,
// whatever the priorities. Both orders are strict, and a victim could not take
// back what it lost by the same rule: no two gangs evict each other in turn.
//
// Tasks that a gang can do without make room for gangs of equal priority in
// its queue, too: what some need to run goes before what others would like.
// Where such tasks are enough, no gang is stopped.
#include <algorithm>
#include <limits>

#include "lib/scheduler/impl.h"
#include "lib/scheduler/surplus.h"

namespace muster {

// The law for one preemptor, over the candidates of the pass.
class Scheduler::Impl::Rules final : public VictimRules {
 public:
  Rules(Impl& impl, GangIndex preemptor, const Resources& demand)
      : impl_(impl),
        queue_(impl.gangs.at(preemptor).queue),
        demand_(demand),
        taken_(impl.candidates_.size()) {}

  bool Add(uint32_t i, uint32_t tasks) override {
    const VictimCandidate& c = impl_.candidates_[i];
    const QueueIndex leaf = impl_.gangs.at(impl_.candidate_gangs_[i]).queue;
    if (leaf != queue_ && !Reclaimable(leaf)) return false;
    Resources amount;
    const size_t first = c.tasks.size() - tasks;
    for (const Assignment& a : c.tasks.subspan(first)) {
      amount.Add(impl_.UsageOf(a.at));
    }
    Shift(leaf, amount, 1);
    taken_[i] = std::move(amount);
    return true;
  }

  void Remove(uint32_t i) override {
    const QueueIndex leaf = impl_.gangs.at(impl_.candidate_gangs_[i]).queue;
    Shift(leaf, taken_[i], -1);
    taken_[i] = Resources();
  }

  bool QuotaSuffices() const override { return QuotaSufficesFor(demand_); }

  // With the victims of the set gone.
  bool QuotaSufficesFor(const Resources& demand) const {
    for (QueueIndex q = queue_; q != kNoQueue; q = impl_.queues.at(q).parent) {
      const QueueTree::Entry& e = impl_.queues.at(q);
      const Resources* minus = Minus(q);
      for (ResourceKind k = 0; k < demand.size(); ++k) {
        if (demand[k] <= 0 || e.limit[k] == QueueTree::kUnbounded) continue;
        const int64_t gone = minus == nullptr ? 0 : (*minus)[k];
        if (e.usage[k] - gone + demand[k] > e.limit[k]) return false;
      }
    }
    return true;
  }

 private:
  // Every queue between the victim and what it shares with the preemptor must
  // hold more than its guarantee still.
  bool Reclaimable(QueueIndex leaf) const {
    const QueueIndex top = impl_.queues.CommonAncestor(leaf, queue_);
    for (QueueIndex q = leaf; q != top; q = impl_.queues.at(q).parent) {
      if (!impl_.queues.OverGuarantee(q, demand_, Minus(q))) return false;
    }
    return true;
  }

  void Shift(QueueIndex q, const Resources& amount, int64_t sign) {
    for (; q != kNoQueue; q = impl_.queues.at(q).parent) {
      minus_[q].AddTimes(amount, sign);
    }
  }

  const Resources* Minus(QueueIndex q) const {
    const auto it = minus_.find(q);
    return it == minus_.end() ? nullptr : &it->second;
  }

  Impl& impl_;
  const QueueIndex queue_;
  const Resources& demand_;
  std::vector<Resources> taken_;
  std::map<QueueIndex, Resources> minus_;
};

// Whether a queue may take back from another one's leaf for this gang.
bool Scheduler::Impl::MayReclaim(const GangRecord& r, const Resources& demand,
                                 QueueIndex victim) const {
  const QueueIndex top = queues.CommonAncestor(r.queue, victim);
  bool guaranteed = false;
  for (QueueIndex q = r.queue; q != top; q = queues.at(q).parent) {
    const bool has_say = HasGuarantee(q, demand);
    if (has_say && !queues.WithinGuarantee(q, demand)) return false;
    guaranteed |= has_say;
  }
  if (!guaranteed) return false;
  for (QueueIndex q = victim; q != top; q = queues.at(q).parent) {
    if (!queues.OverGuarantee(q, demand)) return false;
  }
  return true;
}

bool Scheduler::Impl::HasGuarantee(QueueIndex q,
                                   const Resources& demand) const {
  const QueueTree::Entry& e = queues.at(q);
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] > 0 && e.guarantee[k] >= 0) return true;
  }
  return false;
}

// A cheap look at whether there can be any victim at all.
bool Scheduler::Impl::WorthPreempting(const GangRecord& r,
                                      const Template& t) const {
  if (!config.preemption || !classes[r.priority_class].may_preempt) {
    return false;
  }
  const auto& holding = queues.at(r.queue).holding;
  if (!holding.empty() && holding.begin()->first < PriorityOf(r)) return true;
  if (queues.at(r.queue).elastic.contains(PriorityOf(r))) return true;
  for (QueueIndex q = r.queue; q != kNoQueue; q = queues.at(q).parent) {
    if (HasGuarantee(q, LeastOf(t, cluster)) &&
        queues.WithinGuarantee(q, LeastOf(t, cluster))) {
      return true;
    }
  }
  return false;
}

// What would be thrown away, in device-milliseconds.
int64_t Scheduler::Impl::CostOf(const GangRecord& r,
                                std::span<const Assignment> tasks) const {
  int64_t milli = 0, cores = 0;
  for (const Assignment& a : tasks) {
    const Resources& demand = cluster.demand(a.at.shape);
    milli += demand[cluster.device_kind()];
    cores += cluster.resource_count() > 0 ? demand[0] : 0;
  }
  if (milli == 0) milli = std::max<int64_t>(cores, 1);
  const Time safe = std::max(r.started, r.checkpoint);
  const Duration unsaved =
      r.phase == GangPhase::kRunning ? std::max<Duration>(now - safe, 0) : 0;
  const int64_t lost_ms = (unsaved + r.restart_cost) / kMillisecond;
  const Wide cost = Wide{milli} * lost_ms / kWholeDevice;
  return static_cast<int64_t>(std::min<Wide>(cost, int64_t{1} << 52));
}

// How many tasks at the back of `tasks` the gang can do without. Orders them
// so that these are at the back; `cuts` as VictimCandidate has them.
uint32_t Scheduler::Impl::SurplusOf(const GangRecord& r,
                                    std::vector<Assignment>* tasks,
                                    std::vector<uint32_t>* cuts) {
  cuts->clear();
  const Template& t = gangs.description(r.description);
  if (!config.host.shrink || !t.elastic || tasks->size() <= 1) return 0;
  CountTasks(r, &counts_);
  const Surplus surplus(t, counts_, *tasks);
  const std::vector<TaskId>& gone = surplus.tasks();
  std::vector<Assignment> shed;
  for (auto id = gone.rbegin(); id != gone.rend(); ++id) {
    const auto it = std::find_if(tasks->begin(), tasks->end(),
                                 [&](const auto& a) { return a.task == *id; });
    shed.push_back(*it);
    tasks->erase(it);
  }
  tasks->insert(tasks->end(), shed.begin(), shed.end());
  if (surplus.cuts().size() < gone.size()) *cuts = surplus.cuts();
  return static_cast<uint32_t>(gone.size());
}

// Gangs in the winner's queue below it, and those of its own priority if they
// give surplus; all in queues from which it may reclaim.
void Scheduler::Impl::FindLawful(GangIndex g, const Template& t,
                                 Time* retry_at) {
  const GangRecord& winner = gangs.at(g);
  const int32_t priority = PriorityOf(winner);
  const Resources& least = LeastOf(t, cluster);
  for (QueueIndex q = 0; q < holding_in_.size(); ++q) {
    const RankSet& holding = holding_in_[q];
    if (holding.empty()) continue;
    auto rank = holding.begin();
    if (q == winner.queue) {
      rank = holding.lower_bound({priority, std::numeric_limits<Time>::min()});
    } else if (!MayReclaim(winner, least, q)) {
      continue;
    }
    for (; rank != holding.end(); ++rank) {
      const bool equal = q == winner.queue && rank->priority == priority;
      if (equal && !GivesSurplus(winner, gangs.at(rank->gang))) continue;
      if (CanBeStopped(rank->gang, retry_at)) {
        candidate_gangs_.push_back(rank->gang);
      }
    }
  }
}

// Whether a gang that is a lawful victim may be one now; else from when on.
bool Scheduler::Impl::CanBeStopped(GangIndex g, Time* retry_at) {
  const GangRecord& r = gangs.at(g);
  const PriorityClass& cls = classes[r.priority_class];
  const bool nominated = r.phase == GangPhase::kNominated;
  if (!nominated && r.phase != GangPhase::kStarting &&
      r.phase != GangPhase::kRunning) {
    return false;
  }
  if (r.cancel || r.trouble != ReasonCode::kNone ||
      cls.on_preempted == OnPreempted::kNever ||
      !gangs.description(r.description).prepared.gang.preemptible) {
    return false;
  }
  if (r.draft != kNoDraft) {  // Not in the pass that placed it.
    *retry_at = now;
    look_again_ = put_off_ = true;
    return false;
  }
  Time free_at = nominated ? Time{0} : SparedUntil(r);
  if (cls.min_runtime > 0 && !nominated) {
    // Its answer comes first.
    if (r.phase == GangPhase::kStarting) return false;
    free_at = std::max(free_at, r.started + cls.min_runtime);
  }
  if (free_at <= now) return true;
  *retry_at = std::min(*retry_at, free_at);
  return false;
}

void Scheduler::Impl::CollectCandidates(GangIndex g, const Template& t,
                                        Time* retry_at) {
  const GangRecord& winner = gangs.at(g);
  candidates_.clear();
  candidate_gangs_.clear();
  FindLawful(g, t, retry_at);
  std::sort(candidate_gangs_.begin(), candidate_gangs_.end(),
            [this](GangIndex a, GangIndex b) {
              const GangRecord& ra = gangs.at(a);
              const GangRecord& rb = gangs.at(b);
              const int32_t pa = PriorityOf(ra), pb = PriorityOf(rb);
              return pa != pb ? pa < pb : ra.key < rb.key;
            });
  if (candidate_tasks_.size() < candidate_gangs_.size()) {
    candidate_tasks_.resize(candidate_gangs_.size());
    candidate_cuts_.resize(candidate_gangs_.size());
  }
  for (size_t i = 0; i < candidate_gangs_.size(); ++i) {
    const GangRecord& r = gangs.at(candidate_gangs_[i]);
    std::vector<Assignment>& tasks = candidate_tasks_[i];
    CurrentAssignments(r, &tasks);
    VictimCandidate& c = candidates_.emplace_back();
    c.gang = {candidate_gangs_[i], r.generation};
    c.priority = PriorityOf(r);
    const bool nominated = r.phase == GangPhase::kNominated;
    c.cost = nominated ? 0 : CostOf(r, tasks);
    c.surplus = nominated ? 0 : SurplusOf(r, &tasks, &candidate_cuts_[i]);
    if (c.surplus > 0) {
      c.surplus_cost = CostOf(r, std::span(tasks).last(1));
      c.cuts = candidate_cuts_[i];
    }
    c.tasks = tasks;
    const bool stays = HoldsFirm(r) || GivesSurplus(winner, r);
    if (!nominated && stays) LeaveOnlySurplus(c);
  }
  DropEmptyCandidates();
}

// Whether the gang gives tasks it can do without, though it is not below the
// winner.
bool Scheduler::Impl::GivesSurplus(const GangRecord& winner,
                                   const GangRecord& r) const {
  return r.queue == winner.queue && PriorityOf(r) == PriorityOf(winner) &&
         r.counted_as_elastic && r.phase != GangPhase::kNominated;
}

// The gang stays; what it can do without is all there is to take.
void Scheduler::Impl::LeaveOnlySurplus(VictimCandidate& c) {
  c.stoppable = false;
  c.tasks = c.tasks.last(c.surplus);
}

void Scheduler::Impl::DropEmptyCandidates() {
  size_t kept = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].tasks.empty()) continue;
    candidates_[kept] = candidates_[i];
    candidate_gangs_[kept++] = candidate_gangs_[i];
  }
  candidates_.resize(kept);
  candidate_gangs_.resize(kept);
}

// Whether a task that must not be preempted starts or runs.
bool Scheduler::Impl::HoldsFirm(const GangRecord& r) const {
  const std::vector<Role>& roles =
      gangs.description(r.description).prepared.gang.roles;
  return std::any_of(r.tasks.begin(), r.tasks.end(), [&](const TaskRecord& t) {
    return !roles[t.task.role].preemptible &&
           (t.phase == TaskPhase::kStarting || t.phase == TaskPhase::kRunning);
  });
}

bool Scheduler::Impl::TryPreempt(ClassIndex c, GangIndex g, Reason* reason) {
  const GangRecord& r = gangs.at(g);
  const Template& t = gangs.description(r.description);
  if (!WorthPreempting(r, t)) return false;
  if (reason->code == ReasonCode::kNeverFits ||
      reason->code == ReasonCode::kOverLimitAlways) {
    return false;
  }
  WaitingClass& cls = waiting.at(c);
  if (cls.no_victims_known && cls.no_victims_started == started_version_ &&
      cls.no_victims_until > now &&
      cls.no_victims_structure == cluster.structure_version() &&
      cluster.FreedSince(cls.no_victims_at, &freed_) && freed_.empty()) {
    NoteWakeup(cls.no_victims_until);
    return false;
  }
  Time retry_at = kForever;
  CollectCandidates(g, t, &retry_at);
  NoteWakeup(retry_at);
  if (!FindVictims(g, t)) {
    cls.no_victims_known = true;
    cls.no_victims_at = cluster.freed_version();
    cls.no_victims_structure = cluster.structure_version();
    cls.no_victims_started = started_version_;
    cls.no_victims_until = retry_at;
    return false;
  }
  CommitVictims(g, preemption_);
  return true;
}

// Nobody is stopped where what elastic gangs can do without is enough.
bool Scheduler::Impl::FindVictims(GangIndex g, const Template& t) {
  const auto stops = [this](const VictimCandidate& c) {
    return c.stoppable && gangs.at(c.gang.index).phase != GangPhase::kNominated;
  };
  const auto sheds = [](const VictimCandidate& c) { return c.surplus > 0; };
  if (std::ranges::any_of(candidates_, sheds) &&
      std::ranges::any_of(candidates_, stops)) {
    all_candidates_ = candidates_;
    all_candidate_gangs_ = candidate_gangs_;
    for (VictimCandidate& c : candidates_) {
      if (stops(c)) LeaveOnlySurplus(c);
    }
    DropEmptyCandidates();
    if (ChooseVictims(g, t)) return true;
    candidates_.swap(all_candidates_);
    candidate_gangs_.swap(all_candidate_gangs_);
  }
  return ChooseVictims(g, t);
}

// Lawful victims among the candidates; the cluster stays as it is.
bool Scheduler::Impl::ChooseVictims(GangIndex g, const Template& t) {
  if (candidates_.empty()) return false;
  Rules rules(*this, g, LeastOf(t, cluster));
  PreemptionRequest request;
  request.placement.gang = &t.prepared;
  request.placement.key = gangs.at(g).key;
  request.placement.ledger = Ledger::kLater;
  request.candidates = candidates_;
  request.rules = &rules;
  preemption_.Clear();
  const Cluster::Mark mark = cluster.Begin();
  preemptor_->Choose(cluster, *solver_, request, &preemption_);
  cluster.Rollback(mark);
  return preemption_.fit == Fit::kFits &&
         (t.least_is_exact || LawfulAsPlaced(g, rules, preemption_));
}

// Where the placement may use more than the least demand, by alternatives or
// groups: whether quota and guarantees bear what it does use.
bool Scheduler::Impl::LawfulAsPlaced(GangIndex g, const Rules& rules,
                                     const PreemptionResult& result) {
  const GangRecord& r = gangs.at(g);
  const Resources& demand = UsageOf(result.tasks);
  if (!rules.QuotaSufficesFor(demand)) return false;
  for (const Victim& v : result.victims) {
    const QueueIndex leaf = gangs.at(candidate_gangs_[v.candidate]).queue;
    if (leaf != r.queue && !MayReclaim(r, demand, leaf)) return false;
  }
  return true;
}

// Stops the victims, then promises what they hold to the gang; it starts at
// once if nothing has to be waited for.
void Scheduler::Impl::CommitVictims(GangIndex g,
                                    const PreemptionResult& result) {
  SpendSteps(result.victims.size());
  look_again_ = true;
  for (const Victim& v : result.victims) {
    const GangIndex victim = candidate_gangs_[v.candidate];
    touched_.push_back(gangs.at(victim).queue);
    const std::span<const Assignment> all = candidates_[v.candidate].tasks;
    const bool nominated = gangs.at(victim).phase == GangPhase::kNominated;
    const bool same_queue = gangs.at(victim).queue == gangs.at(g).queue;
    const Reason reason{
        .code = same_queue ? ReasonCode::kMadeRoom : ReasonCode::kReclaimed,
        .object_kind = ReasonObject::kGang,
        .object = g};
    if (v.tasks < all.size() || !candidates_[v.candidate].stoppable) {
      std::vector<TaskId> shed;
      for (const Assignment& a : all.last(v.tasks)) shed.push_back(a.task);
      CommitShrink(victim, shed, reason, g);
      continue;
    }
    const OnPreempted what =
        classes[gangs.at(victim).priority_class].on_preempted;
    DecisionKind kind = DecisionKind::kEvict;
    if (!nominated) {
      if (what == OnPreempted::kCancel) kind = DecisionKind::kCancel;
      if (what == OnPreempted::kSuspend && config.host.suspend) {
        kind = DecisionKind::kSuspend;
      }
    }
    CommitStop(victim, kind, reason, g);
  }
  ResourceKind kind = 0;
  bool room = queues.OverLimit(gangs.at(g).queue, UsageOf(result.tasks),
                               Ledger::kBoth, &kind) == kNoQueue;
  const Cluster::Mark mark = cluster.Begin();
  for (const Assignment& a : result.tasks) {
    room &= cluster.Fits(a.at, Ledger::kNow);
    cluster.Charge(a.at, Ledger::kBoth);
  }
  const Reason reason{.code = ReasonCode::kPreempts};
  if (room) {  // Its victims were nominations only.
    cluster.Commit(mark);
    CommitStart(g, result.tasks, reason);
    return;
  }
  cluster.Rollback(mark);
  for (const Assignment& a : result.tasks) {
    cluster.Charge(a.at, Ledger::kLater);
  }
  CommitNominate(g, result.tasks, reason);
}

}  // namespace muster
