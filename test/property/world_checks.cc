// What holds after each step of a history, against schedulers in the same
// state.
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include "test/property/print.h"
#include "test/property/world.h"

namespace muster {

// What plans told of those that wait is what the scheduler tells at once.
void World::CheckMirror() {
  mirror_.Follow(plan_);
  Plan all;
  scheduler_->AllWaiting(&all);
  if (all.waiting.size() != mirror_.classes().size()) {
    return Fail("mirror: holds " + std::to_string(mirror_.classes().size()) +
                " classes instead of " + std::to_string(all.waiting.size()));
  }
  for (const Waiting& w : all.waiting) {
    const WaitingMirror::Class* told = mirror_.Find(w.gang_class_id);
    const bool same = told != nullptr && told->queue == w.queue &&
                      told->reason.code == w.reason.code &&
                      told->reason.object_kind == w.reason.object_kind &&
                      told->reason.object == w.reason.object &&
                      told->reason.resource == w.reason.resource;
    if (!same)
      Fail("mirror: another reason for " + std::string(all.Text(w.gang_key)));
    if (scheduler_->WaitingGangClass(w.gang) != w.gang_class_id) {
      Fail("mirror: another class of " + std::string(all.Text(w.gang_key)));
    }
  }
}

namespace {

// Of a node, what tasks are said to have, or are nominated for.
std::set<uint32_t> DevicesOfTasks(const SchedulerState& state,
                                  const std::string& node) {
  std::set<uint32_t> devices;
  for (const GangState& g : state.gangs) {
    for (const TaskState& t : g.tasks) {
      if (t.node != node || t.phase == TaskPhase::kSuspended) continue;
      if (t.phase == TaskPhase::kSucceeded) continue;
      for (const uint32_t d : t.devices) devices.insert(d);
    }
  }
  return devices;
}

}  // namespace

// As many devices as others use, beside those that tasks have, are not free.
void World::CheckUnnamed() {
  const ClusterView cluster = scheduler_->cluster();
  for (const NodeState& n : state_.nodes) {
    if (n.external.unnamed_devices == 0) continue;
    std::set<uint32_t> left;
    for (uint32_t d = 0; d < n.node.devices.size(); ++d) left.insert(d);
    for (const DeviceShare& s : n.external.devices) left.erase(s.device);
    for (const uint32_t d : DevicesOfTasks(state_, n.node.key)) left.erase(d);
    const size_t others = n.external.unnamed_devices;
    const size_t most = left.size() - std::min(left.size(), others);
    const NodeIndex i = cluster.Find(n.node.key).index;
    size_t free = 0;
    for (const uint32_t d : left) {
      free += cluster.free_milli(i, d, Ledger::kNow) == kWholeDevice &&
              cluster.free_milli(i, d, Ledger::kLater) == kWholeDevice;
    }
    if (free > most) {
      return Fail("unnamed: " + n.node.key + " has " + std::to_string(free) +
                  " devices free; others leave " + std::to_string(most));
    }
  }
}

// The same state decides the same, whatever was asked, cached or forgotten.
void World::CheckDeeply(Time at, const SchedulerState& before,
                        const PlanRecord& whatif, const PlanRecord& plan) {
  absl::StatusOr<Scheduler> twin = Scheduler::Restore(before);
  if (!twin.ok()) return Fail("restore: " + twin.status().ToString());
  if (!(twin->State() == before)) return Fail("restore: another state");
  Plan other;
  twin->Schedule(at, &other);
  const PlanRecord theirs = twin->Record(other);
  if (!(theirs == plan)) {
    return Fail("restored twin decides otherwise: " + Differ(plan, theirs));
  }
  if (twin->StateHash() != scheduler_->StateHash()) {
    return Fail("restored twin ends in another state");
  }
  if (!(whatif == plan)) {
    return Fail("what-if: said otherwise: " + Differ(plan, whatif));
  }
  CheckBounded(at, before);
  CheckAsked(at, before);
  CheckQuiet(plan);
}

namespace {

// What passes decide until one is not ended by its budget, a line each: who
// starts, stops or is nominated for something in the order of the decisions,
// then each task's place. Growth joins a start of the same pass only, so that
// it is told by the places alone.
absl::StatusOr<std::string> DecidedWith(uint64_t work_budget, Time at,
                                        SchedulerState state) {
  state.config.work_budget = work_budget;
  absl::StatusOr<Scheduler> twin = Scheduler::Restore(state);
  if (!twin.ok()) return twin.status();
  std::string order;
  std::set<std::string> places;
  for (int pass = 0; pass < 10'000; ++pass) {
    Plan plan;
    twin->Schedule(at, &plan);
    const PlanRecord record = twin->Record(plan);
    for (const DecisionRecord& d : record.decisions) {
      const std::string kind = std::to_string(static_cast<int>(d.kind));
      if (d.kind != DecisionKind::kGrow) {
        order += kind + " " + d.gang + " for " + d.on_behalf_of + "\n";
      }
      for (PlannedTaskRecord task : d.tasks) {
        task.attempt = 0;
        places.insert(d.gang + " " + Printer::Text(task) + "\n");
      }
    }
    if (plan.budget_exhausted) continue;
    for (const std::string& place : places) order += place;
    return order;
  }
  return absl::InternalError("passes go on for ever");
}

// The state, in which gangs that wait and were told no reason yet are held.
SchedulerState WithoutUntold(const Scheduler& scheduler) {
  Plan all;
  scheduler.AllWaiting(&all);
  std::set<uint64_t> told = {0};
  for (const Waiting& w : all.waiting) told.insert(w.gang_class_id);
  SchedulerState state = scheduler.State();
  for (GangState& g : state.gangs) {
    const uint64_t id =
        scheduler.WaitingGangClass(scheduler.FindGang(g.gang.key));
    g.gang.held |= !told.contains(id);
  }
  return state;
}

// What will be asked; what is put off may have another answer by now. Of a
// suspended gang both ask whether it can resume. Who could never fit is asked
// for victims with the room.
uint32_t ActiveOrPutOff(const GangClassState& c, const SchedulerState& state) {
  constexpr uint32_t kBoth = GangClassState::kRoom | GangClassState::kVictims;
  uint32_t active = c.active;
  const bool hopeless = c.code == ReasonCode::kNeverFits ||
                        c.code == ReasonCode::kOverLimitAlways;
  if ((active & GangClassState::kPutOff) != 0 ||
      (hopeless && (active & GangClassState::kRoom) != 0)) {
    active |= GangClassState::kVictims;
  }
  const auto first = std::ranges::find(
      state.gangs, c.gang, [](const GangState& g) { return g.gang.key; });
  const bool suspended =
      first != state.gangs.end() && first->phase == GangPhase::kSuspended;
  return suspended && (active & kBoth) != 0 ? active | kBoth : active;
}

// Activates all questions for victims where room is asked for.
SchedulerState WithVictimsAsked(const Scheduler& scheduler) {
  SchedulerState state = scheduler.State();
  for (GangClassState& c : state.gang_classes) {
    if ((c.active & GangClassState::kRoom) != 0)
      c.active |= GangClassState::kVictims;
  }
  return state;
}

// Whether it is decided before anybody who waits is asked.
bool Mends(const DecisionRecord& d) {
  return d.reason.code == ReasonCode::kOvercommitted ||
         d.reason.code == ReasonCode::kMaxRuntime;
}

}  // namespace

// Whether there is anybody who could give way is looked at when a question for
// victims is activated: with the first of two events there may be, whom the
// second takes away. Such a question may be active in one alone, but decides
// nothing.
bool World::WillDecideAlike(const Scheduler& one, const Scheduler& two) const {
  if (one.StateHash() == two.StateHash()) return true;
  if (WithVictimsAsked(one) != WithVictimsAsked(two)) return false;
  const absl::StatusOr<std::string> a = DecidedWith(0, now_, one.State());
  const absl::StatusOr<std::string> b = DecidedWith(0, now_, two.State());
  return a.ok() && b.ok() && *a == *b;
}

// Passes that a budget ends decide, one after the other, what one pass does
// that has none.
void World::CheckBounded(Time at, const SchedulerState& before) {
  const absl::StatusOr<std::string> whole = DecidedWith(0, at, before);
  if (!whole.ok()) return Fail("bounded: " + whole.status().ToString());
  constexpr uint64_t kBudgets[] = {1, 64, 1024};
  const uint64_t budget = kBudgets[before.version % std::size(kBudgets)];
  const absl::StatusOr<std::string> parts = DecidedWith(budget, at, before);
  if (!parts.ok()) return Fail("bounded: " + parts.status().ToString());
  if (*parts == *whole) return;
  Fail("bounded: passes of " + std::to_string(budget) +
       " steps decide otherwise:\n" + *whole + "--\n" + *parts);
}

// Before next_wakeup, without an event, another pass decides nothing.
void World::CheckQuiet(const PlanRecord& plan) {
  if (plan.budget_exhausted || plan.next_wakeup <= plan.now) return;
  for (const Time at :
       {plan.now, std::min(plan.next_wakeup - 1, plan.now + 1000 * kSecond)}) {
    absl::StatusOr<Scheduler> twin = Scheduler::Restore(state_);
    if (!twin.ok()) return Fail("restore: " + twin.status().ToString());
    Plan again;
    twin->Schedule(at, &again);
    if (!again.decisions.empty() || !again.unreported.empty()) {
      return Fail("unquiet: a pass at " + std::to_string(at) +
                  " decides more: " + Printer::Text(twin->Record(again)));
    }
  }
  CheckInactive(plan.now, *scheduler_, true);
}

// Before each question that a pass asks, and after the last, every other one is
// asked anew: a gang that got a proven no, and waits since, gets it again.
void World::CheckAsked(Time at, const SchedulerState& before) {
  SchedulerState state = before;
  state.config.work_budget = 1;
  absl::StatusOr<Scheduler> twin = Scheduler::Restore(state);
  if (!twin.ok()) return Fail("restore: " + twin.status().ToString());
  Plan plan;
  do {
    twin->Schedule(at, &plan);
    const bool quiet = !plan.budget_exhausted && plan.next_wakeup > at;
    CheckInactive(at, *twin, quiet);
  } while (plan.budget_exhausted && failure_.empty());
}

// Were what is inactive active, and the other way round, nothing would be
// decided; nothing would grow, if the scheduler is quiet.
void World::CheckInactive(Time at, const Scheduler& scheduler, bool quiet) {
  SchedulerState state = WithoutUntold(scheduler);
  state.config.work_budget = 0;
  constexpr uint32_t kBoth = GangClassState::kRoom | GangClassState::kVictims;
  for (GangClassState& c : state.gang_classes) {
    const bool proven =
        c.code != ReasonCode::kNotFound && c.code != ReasonCode::kBudget;
    const uint32_t all = c.grows ? GangClassState::kRoom : kBoth;
    const uint32_t activated = proven ? all & ~ActiveOrPutOff(c, state) : 0;
    c.active = (c.active & ~(kBoth | GangClassState::kAgain)) | activated;
  }
  for (GangState& g : state.gangs) {
    const bool asks = g.phase == GangPhase::kNominated ||
                      g.repair_reason != ReasonCode::kNone || g.cancel ||
                      g.runs_under != GangMinimum{};
    g.check_due = quiet && (g.check_due || asks);
  }
  absl::StatusOr<Scheduler> twin = Scheduler::Restore(state);
  if (!twin.ok()) return Fail("restore: " + twin.status().ToString());
  Plan plan;
  twin->Schedule(at, &plan);
  PlanRecord record = twin->Record(plan);
  if (!quiet) {
    // Before all is mended no gang is asked, and all before one grows.
    if (std::ranges::any_of(record.decisions, Mends)) return;
    const auto grows = std::ranges::find(record.decisions, DecisionKind::kGrow,
                                         &DecisionRecord::kind);
    record.decisions.erase(grows, record.decisions.end());
  }
  if (record.decisions.empty()) return;
  Fail("inactive: a question that was inactive has another answer: " +
       Printer::Text(record));
}

}  // namespace muster
