#include "test/property/world.h"

#include <algorithm>
#include <utility>

#include "test/property/plan_invariants.h"
#include "test/property/print.h"
#include "test/property/random_world.h"
#include "test/property/state_usage.h"

namespace muster {

namespace {

constexpr const char* kOpNames[] = {
    "pass",      "wakeup",      "answer",     "deliver",    "resend",
    "submit",    "submit-many", "gang-event", "node-event", "queue-event",
    "task-ends", "reconcile",   "bad",        "commute"};
// How often each is drawn.
constexpr uint32_t kOpWeights[] = {24, 6, 30, 3, 3, 14, 1, 7, 7, 3, 6, 2, 2, 2};

}  // namespace

Op RandomOp(Dice& dice) {
  uint32_t all = 0;
  for (uint32_t w : kOpWeights) all += w;
  uint32_t at = dice.Below(all), kind = 0;
  while (at >= kOpWeights[kind]) at -= kOpWeights[kind++];
  return {static_cast<OpKind>(kind), dice.Next()};
}

std::string Text(const Op& op) {
  return std::string(kOpNames[static_cast<size_t>(op.kind)]) + " " +
         std::to_string(op.salt);
}

World::World(uint64_t seed, bool trace) : trace_(trace) {
  Dice dice(seed);
  first_config_ = config_ = RandomConfig(dice);
  Log("config " + Printer::Text(config_));
  scheduler_ = std::make_unique<Scheduler>(*Scheduler::Create(config_));
  scheduler_->SetJournal(this);
  SetUp(dice);
}

World::~World() = default;

void World::SetUp(Dice& dice) {
  const uint32_t nodes = 2 + dice.Below(7);
  for (uint32_t n = 0; n < nodes; ++n) {
    Apply(NodeChanged{RandomNode(dice, "n" + std::to_string(n))});
  }
  Apply(NodeSetChanged{RandomNodeSet(dice, "set")});
  for (const Queue& q : RandomQueues(dice, &leaves_)) Apply(QueueChanged{q});
  for (const char* key : {"c0", "c1", "c2"}) {
    Apply(PriorityClassChanged{RandomClass(dice, key)});
  }
}

void World::Step(const Op& op) {
  if (!failure_.empty()) return;
  Dice dice(op.salt);
  Log("-- " + Text(op));
  if (dice.OneIn(2)) now_ += dice.In(0, 5) * kSecond;
  switch (op.kind) {
    case OpKind::kPass: {
      Pass(now_, dice.OneIn(2));
      break;
    }
    case OpKind::kWakeup:
      if (wakeup_ != kForever) now_ = std::max(now_, wakeup_);
      Pass(now_, dice.OneIn(2));
      break;
    case OpKind::kAnswer:
      Answer(dice);
      break;
    case OpKind::kDeliver:
      if (late_.empty()) break;
      std::swap(late_[dice.Below(static_cast<uint32_t>(late_.size()))],
                late_.back());
      Apply(late_.back());
      sent_.push_back(late_.back());
      late_.pop_back();
      break;
    case OpKind::kResend:
      if (sent_.empty()) break;
      Apply(sent_[dice.Below(static_cast<uint32_t>(sent_.size()))]);
      break;
    case OpKind::kSubmit:
      Submit(dice);
      break;
    case OpKind::kSubmitMany:
      SubmitMany(dice);
      break;
    case OpKind::kGangEvent:
      GangEvent(dice);
      break;
    case OpKind::kNodeEvent:
      NodeEvent(dice);
      break;
    case OpKind::kQueueEvent:
      QueueEvent(dice);
      break;
    case OpKind::kTaskEnds:
      TaskEnds(dice);
      break;
    case OpKind::kReconcile:
      Reconcile(dice);
      break;
    case OpKind::kBad:
      Bad(dice);
      break;
    case OpKind::kCommute:
      Commute(dice);
      break;
  }
}

// --- Checks ------------------------------------------------------------------

void World::Fail(const std::string& what) {
  if (!failure_.empty()) return;
  failure_ = what;
  Log("FAILURE " + what);
}

void World::Log(const std::string& line) {
  if (trace_) log_ += line + "\n";
}

// Whether a role grew of which the decision stops nothing.
bool World::GrewBeside(const DecisionRecord& stop) const {
  return std::ranges::any_of(grown_, [&](const auto& grown) {
    return grown.first == stop.gang &&
           std::ranges::none_of(stop.tasks, [&](const PlannedTaskRecord& t) {
             return t.task.role == grown.second.role;
           });
  });
}

// Room is not made for another gang by stopping what has grown, and that alone,
// without an outside cause. (Growth may take a queue above its guarantee, so
// that others of its tasks may be taken, and what grew before them; and where
// another role grew, the gang may do without what it started with: who waits is
// served, and it happens once.)
void World::CheckSteady(const PlanRecord& plan) {
  if (plan.now > now_of_plan_) grown_.clear();
  now_of_plan_ = plan.now;
  std::map<std::string, bool> only_grown;  // By preemptor.
  for (const DecisionRecord& d : plan.decisions) {
    const bool grows =
        (d.kind == DecisionKind::kGrow || d.kind == DecisionKind::kStart) &&
        d.reason.code != ReasonCode::kTaskFailed;
    for (const PlannedTaskRecord& t : d.tasks) {
      if (grows) grown_.insert({d.gang, t.task});
      if (d.on_behalf_of.empty()) continue;
      bool& only = only_grown.try_emplace(d.on_behalf_of, true).first->second;
      only &= d.kind == DecisionKind::kShrink &&
              grown_.contains({d.gang, t.task}) && !GrewBeside(d);
    }
  }
  for (const auto& [preemptor, only] : only_grown) {
    if (only)
      Fail("oscillates: all that is stopped for " + preemptor + " grew");
  }
}

// Whether the event only says that what was to start has, as it should.
bool World::OnlyStarts(const EventBody& what) const {
  const auto* applied = std::get_if<DecisionApplied>(&what);
  if (applied == nullptr) return false;
  for (const GangState& g : state_.gangs) {
    for (const PendingDecision& pending : g.pending) {
      if (pending.seq != applied->seq) continue;
      return pending.kind == DecisionKind::kStart ||
             pending.kind == DecisionKind::kGrow;
    }
  }
  return true;  // Answered already.
}

bool World::Apply(const EventBody& what) {
  if (!failure_.empty()) return false;
  if (!OnlyStarts(what)) grown_.clear();
  const Event event{now_, what};
  const uint64_t hash = scheduler_->StateHash();
  const absl::Status status = scheduler_->Apply(event);
  Log("at " + std::to_string(now_ / kSecond) + "s " + Printer::Text(what) +
      (status.ok() ? "" : " -> " + status.ToString()));
  if (!status.ok() && scheduler_->StateHash() != hash) {
    Fail("refused event changed the state: " + status.ToString());
  }
  if (const absl::Status valid = scheduler_->Validate(); !valid.ok()) {
    Fail("validate: " + valid.ToString());
  }
  state_ = scheduler_->State();
  CheckGangs();
  CheckUnnamed();
  return status.ok();
}

// No gang is lost, none comes from nowhere.
void World::CheckGangs() {
  std::set<std::string> there;
  for (const GangState& g : state_.gangs) {
    there.insert(g.gang.key);
    known_.insert(g.gang.key);
    if (!made_.contains(g.gang.key)) {
      Fail("gang from nowhere: " + g.gang.key);
    }
  }
  for (auto it = known_.begin(); it != known_.end();) {
    if (there.contains(*it)) {
      ++it;
      continue;
    }
    if (!may_go_.contains(*it)) Fail("gang lost: " + *it);
    may_go_.erase(*it);
    host_.DropPending(*it);
    it = known_.erase(it);
  }
}

PlanRecord World::Pass(Time at, bool deep) {
  if (!failure_.empty()) return {};
  SchedulerState before = scheduler_->State();
  PlanRecord whatif;
  if (deep) {
    const uint64_t hash = scheduler_->StateHash();
    Plan trial;
    const Event gone{at, NodeDown{"n0"}};
    scheduler_->WhatIf(at, std::span(&gone, 1), &trial).IgnoreError();
    if (!scheduler_->WhatIf(at, {}, &trial).ok()) Fail("what-if: refused");
    whatif = scheduler_->Record(trial);
    for (const GangState& g : before.gangs) {
      if (!scheduler_->Explain(g.gang.key).ok()) Fail("explain: no answer");
    }
    if (scheduler_->StateHash() != hash) {
      Fail("what-if: asking changed the state");
    }
  }
  scheduler_->Schedule(at, &plan_);
  const PlanRecord plan = scheduler_->Record(plan_);
  Log("at " + std::to_string(at / kSecond) + "s plan " + Printer::Text(plan));
  for (const DecisionRecord& d : plan.decisions) {
    if (d.kind == DecisionKind::kCancel) may_go_.insert(d.gang);
  }
  state_ = scheduler_->State();
  if (std::string invariant = BrokenInvariant(before, plan, plan_, state_);
      !invariant.empty()) {
    Fail(invariant);
  }
  if (const absl::Status valid = scheduler_->Validate(); !valid.ok()) {
    Fail("validate: after a pass: " + valid.ToString());
  }
  CheckGangs();
  CheckUnnamed();
  CheckMirror();
  CheckSteady(plan);
  if (deep) CheckDeeply(at, before, whatif, plan);
  host_.Take(plan);
  wakeup_ = plan.next_wakeup;
  return plan;
}

// --- The end -----------------------------------------------------------------

void World::Finish() {
  if (!failure_.empty()) return;
  Log("-- the end");
  SettleDown();
  if (failure_.empty()) EndEverything();
  if (failure_.empty()) Replay();
}

// The host is faithful from now on: everything comes to rest, and no two gangs
// stop each other in turn.
void World::SettleDown() {
  if (lost_) {
    Dice dice(1);
    Reconcile(dice);
  }
  for (const EventBody& e : late_) Apply(e);
  late_.clear();
  const std::map<Host::Key, Host::Real> real = host_.real();
  for (const auto& [key, task] : real) {
    if (task.leaving) Apply(host_.End(key, TaskOutcome::kYielded));
  }
  std::set<std::pair<std::string, std::string>> evicted;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds && failure_.empty(); ++round) {
    const PlanRecord plan = Pass(now_, round % 4 == 0);
    for (const DecisionRecord& d : plan.decisions) {
      if (d.on_behalf_of.empty() || d.kind == DecisionKind::kShrink) continue;
      evicted.insert({d.on_behalf_of, d.gang});
      if (evicted.contains({d.gang, d.on_behalf_of})) {
        Fail("in turn: " + d.gang + " and " + d.on_behalf_of +
             " evict each other");
      }
    }
    const bool idle = host_.pending().empty();
    while (!host_.pending().empty() && failure_.empty()) {
      size_t next = 0;
      while (next < host_.pending().size() && !host_.Ready(next)) ++next;
      if (next == host_.pending().size()) {
        return Fail("waves: nothing that is to start may");
      }
      Apply(host_.DoReady(next));
    }
    if (!plan.decisions.empty() || !idle) continue;
    if (plan.next_wakeup == kForever) return CheckTruth();
    now_ = std::max(now_, plan.next_wakeup);
  }
  Fail("no rest: decisions without end");
}

// What the scheduler believes is what is.
void World::CheckTruth() {
  std::map<Host::Key, std::string> believed;
  for (const GangState& g : state_.gangs) {
    for (const TaskState& t : g.tasks) {
      if (t.phase == TaskPhase::kStarting || t.phase == TaskPhase::kReleasing) {
        Fail("truth: a faithful host leaves " + g.gang.key + " pending");
      }
      if (t.phase == TaskPhase::kRunning) {
        believed[{g.gang.key, t.task}] = t.node;
      }
    }
  }
  std::map<Host::Key, std::string> real;
  for (const auto& [key, task] : host_.real()) real[key] = task.node;
  if (believed == real) return;
  std::string text = "truth: believed";
  for (const auto& [key, node] : believed) text += " " + key.first + "@" + node;
  text += "; real";
  for (const auto& [key, node] : real) text += " " + key.first + "@" + node;
  Fail(text);
}

// Everything finishes: nothing is left, all capacity is free.
void World::EndEverything() {
  for (const std::string& key : std::set<std::string>(known_)) {
    may_go_.insert(key);
    Apply(GangFinished{key});
    host_.Forget(key);
  }
  if (!state_.gangs.empty()) return Fail("leak: a finished gang stays");
  const ClusterView cluster = scheduler_->cluster();
  for (const NodeState& n : state_.nodes) {
    const NodeIndex i = cluster.Find(n.node.key).index;
    for (const Ledger ledger : {Ledger::kNow, Ledger::kLater}) {
      const int64_t free = n.node.capacity[kCpu] - n.external.amount[kCpu];
      if (cluster.free(i, kCpu, ledger) != free) {
        return Fail("leak: cpu of " + n.node.key);
      }
      std::vector<int64_t> milli(n.node.devices.size(), 1000);
      for (const DeviceShare& s : n.external.devices) {
        if (s.device < milli.size()) milli[s.device] -= s.milli;
      }
      for (const uint32_t d : n.unnamed) milli[d] -= 1000;
      for (uint32_t d = 0; d < milli.size(); ++d) {
        if (n.node.devices[d].healthy &&
            cluster.free_milli(i, d, ledger) != milli[d]) {
          return Fail("leak: a device of " + n.node.key);
        }
      }
    }
  }
  for (const Queue& q : state_.queues) {
    if (!scheduler_->QueueUsage(q.key).IsZero()) {
      return Fail("leak: queue " + q.key);
    }
  }
}

// The journal, decided again and followed, leads to the same state.
void World::Replay() {
  absl::StatusOr<Scheduler> again = Scheduler::Create(first_config_);
  absl::StatusOr<Scheduler> follower = Scheduler::Create(first_config_);
  Plan plan;
  for (const auto& entry : entries_) {
    if (const Event* event = std::get_if<Event>(&entry)) {
      if (!again->Apply(*event).ok() || !follower->Apply(*event).ok()) {
        return Fail("replay: an event is refused: " + Printer::Text(*event));
      }
      continue;
    }
    const PlanRecord& recorded = std::get<PlanRecord>(entry);
    again->Schedule(recorded.now, &plan);
    const PlanRecord decided = again->Record(plan);
    if (!(decided == recorded)) {
      return Fail("replay: decides otherwise: " + Differ(recorded, decided));
    }
    if (absl::Status s = follower->Follow(recorded); !s.ok()) {
      return Fail("follow: " + s.ToString());
    }
    if (!(follower->State() == again->State())) {
      return Fail("follow: another state after " + Printer::Text(recorded) +
                  FirstDifference(again->State(), follower->State()));
    }
  }
  if (again->StateHash() != scheduler_->StateHash()) {
    return Fail("replay: ends in another state");
  }
  if (const absl::Status valid = follower->Validate(); !valid.ok()) {
    return Fail("follow: " + valid.ToString());
  }
}

}  // namespace muster
