#include "muster/scheduler.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

#include "lib/base/hash.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/eviction_backoff.h"
#include "lib/scheduler/inbox.h"
#include "lib/scheduler/names.h"
#include "lib/scheduler/pass.h"
#include "lib/scheduler/queue_standing.h"
#include "lib/scheduler/scheduler_tables.h"
#include "lib/scheduler/snapshot.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

// The state, and those who change it.
struct Rooms {
  explicit Rooms(SchedulerConfig config)
      : tables(std::move(config)),
        solver(NewGangSolver(tables.config.placement, tables.config.fabrics)),
        context{tables, *solver, *victim_search} {}

  SchedulerTables tables;
  std::unique_ptr<GangSolver> solver;
  std::unique_ptr<VictimSearch> victim_search = NewVictimSearch();
  PassContext context;
  Pass pass{context};
};

}  // namespace

// Who is called when.
class Scheduler::Impl {
 public:
  explicit Impl(SchedulerConfig config);

  // Without telling the journal.
  absl::Status Take(const Event& event);
  absl::Status Apply(const Event& event);
  void TakeInbox(Plan* plan);
  // To that time, if it is one that a host tells.
  void AdvanceTo(Time at);
  void Decide(Plan* plan);

  SchedulerTables& tables() { return rooms->tables; }

  std::unique_ptr<Rooms> rooms;
  // Those from before what can be taken back, if it changed the configuration.
  std::unique_ptr<Rooms> rooms_before;
  Inbox inbox{};
  Journal* journal = nullptr;

 private:
  absl::Status Reconfigure(const SchedulerConfig& config);
};

namespace {

// What a submission costs, in steps of the work budget, its size aside.
constexpr uint64_t kSubmissionSteps = 50;

// What debug builds look at after each event and pass: one gang, another each
// time; but for one whose time has come, which the next pass moves.
[[maybe_unused]] bool SampleHolds(const SchedulerTables& tables) {
  if (tables.gangs.limit() == 0) return true;
  const auto g = static_cast<GangIndex>(tables.version % tables.gangs.limit());
  const GangRecord& r = tables.gangs.at(g);
  return !r.exists || r.listing.wake_at <= tables.now || tables.lists.Stands(g);
}

// Whether it has time that a configuration gives, and may take: what is over by
// another one would not wake it.
bool WaitsForATime(const GangState& gang) {
  return gang.phase == GangPhase::kSuspended ||
         (IsLive(gang.phase) && gang.repair_reason != ReasonCode::kNone);
}

}  // namespace

Scheduler::Impl::Impl(SchedulerConfig config)
    : rooms(std::make_unique<Rooms>(std::move(config))) {
  inbox.SetLimit(tables().config.inbox_limit);
}

// --- Events -----------------------------------------------------------------

absl::Status Scheduler::Impl::Take(const Event& event) {
  MUSTER_RETURN_IF_ERROR(ValidateEvent(tables().config, event));
  const Time before = tables().now;
  // Before the event, whatever it is: a gang that is touched is listed anew,
  // without what lies in the past. A refused event wakes no gang.
  const bool wakes = event.at > before && NextDue(tables()) <= event.at;
  const bool what_if = tables().undo.active() || rooms_before != nullptr;
  const bool alone = wakes && !what_if;
  if (alone) tables().undo.Begin();
  tables().now = std::max(before, event.at);
  if (wakes) Wake(tables());
  const bool external = IsExternal(tables(), event.what);
  absl::Status status = std::visit(
      [this](const auto& e) {
        if constexpr (requires { e.config; }) {
          return Reconfigure(e.config);
        } else {
          return muster::Take(tables(), e);
        }
      },
      event.what);
  if (!status.ok()) {
    if (alone) tables().undo.Rollback();
    tables().now = before;
    return status;
  }
  if (alone) {
    tables().undo.Commit();
    rooms_before.reset();
  }
  ++tables().version;
  if (external) SomethingExternal(tables());
  tables().activator.Publish(false);
  assert(SampleHolds(tables()));
  return absl::OkStatus();
}

// The state is loaded into rooms of the new configuration. As no answer need
// hold there, every question is active.
absl::Status Scheduler::Impl::Reconfigure(const SchedulerConfig& config) {
  if (config == tables().config) return absl::OkStatus();
  MUSTER_RETURN_IF_ERROR(ValidateReconfig(tables().config, config));
  SchedulerState state = StateOf(tables());
  state.config = config;
  state.gang_classes.clear();
  for (GangState& gang : state.gangs) {
    gang.check_due |= gang.phase == GangPhase::kNominated ||
                      WaitsForATime(gang) ||
                      (IsLive(gang.phase) && gang.runs_under != GangMinimum{});
  }
  MUSTER_RETURN_IF_ERROR(ValidateState(state));
  auto next = std::make_unique<Rooms>(config);
  StartGenerationsAfter(tables(), next->tables);
  MUSTER_RETURN_IF_ERROR(Load(next->tables, state));
  std::swap(rooms, next);
  if (next->tables.undo.active()) rooms_before = std::move(next);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::Apply(const Event& event) {
  MUSTER_RETURN_IF_ERROR(Take(event));
  if (std::holds_alternative<ConfigChanged>(event.what)) {
    inbox.SetLimit(tables().config.inbox_limit);
  }
  if (journal != nullptr) journal->Applied(event);
  return absl::OkStatus();
}

// --- Plans -------------------------------------------------------------------

// Submissions are taken in an order that is their own, as far as the budget
// goes. Journalled one by one, as Apply takes them.
void Scheduler::Impl::TakeInbox(Plan* plan) {
  WorkBudget budget = WorkBudget::ForSubmissions(tables().config.work_budget);
  constexpr size_t kAtOnce = 256;
  while (!inbox.empty() && !budget.exhausted()) {
    if (!inbox.Sort(kAtOnce)) {
      budget.Spend(kAtOnce);
      continue;
    }
    std::unique_ptr<Gang> gang = inbox.Pop();
    if (gang == nullptr) continue;  // The next set.
    budget.Spend(kSubmissionSteps + gang->roles.size());
    const absl::Status status = Apply({tables().now, GangSubmitted{*gang}});
    if (status.ok()) {
      plan->accepted.push_back(tables().gangs.FindId(gang->key));
      continue;
    }
    Refused& refused = plan->refused.emplace_back();
    refused.gang_key = plan->AddText(gang->key);
    refused.error = plan->AddText(
        std::string_view(status.message().data(), status.message().size()));
  }
  plan->inbox_left = !inbox.empty();
}

void Scheduler::Impl::AdvanceTo(Time at) {
  if (IsTime(at)) tables().now = std::max(tables().now, at);
}

void Scheduler::Impl::Decide(Plan* plan) {
  plan->based_on = tables().version;
  plan->now = tables().now;
  rooms->pass.Run(plan);
  if (!rooms->context.plan.empty()) ++tables().version;
  assert(SampleHolds(tables()));
}

// --- The outside -------------------------------------------------------------

Scheduler::Scheduler(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Scheduler::Scheduler(Scheduler&&) noexcept = default;
Scheduler& Scheduler::operator=(Scheduler&&) noexcept = default;
Scheduler::~Scheduler() = default;

absl::StatusOr<Scheduler> Scheduler::Create(SchedulerConfig config) {
  MUSTER_RETURN_IF_ERROR(ValidateConfig(config));
  return Scheduler(std::make_unique<Impl>(std::move(config)));
}

absl::StatusOr<Scheduler> Scheduler::Restore(const SchedulerState& state) {
  MUSTER_RETURN_IF_ERROR(ValidateState(state));
  Scheduler s(std::make_unique<Impl>(state.config));
  MUSTER_RETURN_IF_ERROR(Load(s.impl_->tables(), state));
  return s;
}

absl::StatusOr<Scheduler> Scheduler::Fork() const { return Restore(State()); }

absl::Status Scheduler::Apply(const Event& event) {
  return impl_->Apply(event);
}

absl::StatusOr<ReconcileReport> Scheduler::Reconcile(Time at,
                                                     const Reconciled& whole) {
  MUSTER_RETURN_IF_ERROR(impl_->Apply({at, whole}));
  return impl_->tables().report;
}

absl::Status Scheduler::Submit(Gang gang) {
  return impl_->inbox.Push(std::move(gang));
}

void Scheduler::Schedule(Time at, Plan* plan) {
  plan->Clear();
  impl_->AdvanceTo(at);
  impl_->TakeInbox(plan);
  impl_->Decide(plan);
  if (impl_->journal != nullptr) impl_->journal->Planned(Record(*plan));
}

absl::Status Scheduler::Follow(const PlanRecord& plan) {
  SchedulerTables& tables = impl_->tables();
  MUSTER_RETURN_IF_ERROR(ValidatePlan(tables.config, plan));
  tables.undo.Begin();
  const absl::Status status = FollowPlan(impl_->rooms->context, plan);
  if (!status.ok()) {
    tables.undo.Rollback();
    return status;
  }
  tables.undo.Commit();
  tables.lists.waiting().ForgetGone();  // There is no plan that could tell it.
  if (!plan.decisions.empty()) ++tables.version;
  if (impl_->journal != nullptr) impl_->journal->Planned(plan);
  return absl::OkStatus();
}

absl::Status Scheduler::WhatIf(Time at, std::span<const Event> events,
                               Plan* plan) {
  impl_->tables().undo.Begin();
  absl::Status status;
  for (const Event& event : events) {
    if (status.ok()) status = impl_->Take(event);
  }
  if (status.ok()) {
    plan->Clear();
    impl_->AdvanceTo(at);
    impl_->Decide(plan);
  }
  const std::unique_ptr<Rooms> others =
      impl_->rooms_before == nullptr
          ? nullptr
          : std::exchange(impl_->rooms, std::move(impl_->rooms_before));
  SchedulerTables& tables = impl_->tables();
  tables.undo.Rollback();
  impl_->rooms->pass.Forget();
  if (status.ok()) {
    MapHandles(others == nullptr ? tables : others->tables, tables, plan);
  }
  return status;
}

absl::StatusOr<Explanation> Scheduler::Explain(std::string_view gang) const {
  SchedulerTables& tables = impl_->tables();
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(tables, gang));
  return ExplainGang(tables, *impl_->rooms->solver, g);
}

void Scheduler::AllWaiting(Plan* plan) const {
  ReportAllWaiting(impl_->tables(), plan);
}

uint64_t Scheduler::WaitingGangClass(GangId gang) const {
  const GangLists& lists = impl_->tables().lists;
  const bool known = impl_->tables().gangs.Has(gang);
  const GangClassIndex c = known ? lists.ClassOf(gang.index, false) : kNoClass;
  return c == kNoClass ? 0 : lists.waiting().at(c).id();
}

SchedulerState Scheduler::State() const { return StateOf(impl_->tables()); }
std::shared_ptr<const SchedulerState> Scheduler::View() const {
  return std::make_shared<const SchedulerState>(State());
}
uint64_t Scheduler::StateHash() const { return StableHasher()(State()); }
void Scheduler::SetJournal(Journal* journal) { impl_->journal = journal; }
Time Scheduler::now() const { return impl_->tables().now; }
const SchedulerConfig& Scheduler::config() const {
  return impl_->tables().config;
}
ClusterView Scheduler::cluster() const {
  return ClusterView(impl_->tables().cluster);
}

std::string_view Scheduler::gang_key(GangId id) const {
  return impl_->tables().gangs.KeyOf(id);
}

std::string_view Scheduler::queue_key(QueueId id) const {
  return impl_->tables().queues.KeyOf(id);
}

std::string_view Scheduler::node_key(NodeId id) const {
  const Cluster& c = impl_->tables().cluster;
  return id.valid() && c.exists(id.index) && c.id(id.index) == id
             ? std::string_view(c.node(id.index).key)
             : std::string_view();
}

GangId Scheduler::FindGang(std::string_view key) const {
  return impl_->tables().gangs.FindId(key);
}

QueueId Scheduler::FindQueue(std::string_view key) const {
  return impl_->tables().queues.FindId(key);
}

NodeId Scheduler::FindNode(std::string_view key) const {
  return impl_->tables().cluster.Find(key);
}

absl::StatusOr<GangState> Scheduler::Find(std::string_view key) const {
  MUSTER_ASSIGN_OR_RETURN(const GangIndex g, GangNamed(impl_->tables(), key));
  return StateOf(impl_->tables(), g);
}

std::span<const Role> Scheduler::RolesOf(GangId gang) const {
  const SchedulerTables& tables = impl_->tables();
  if (!tables.gangs.Has(gang)) return {};
  return tables.SpecOf(gang.index).gang().roles;
}

uint32_t Scheduler::CountAhead(GangId gang) const {
  SchedulerTables& tables = impl_->tables();
  return tables.gangs.Has(gang) ? tables.lists.CountAhead(gang.index) : 0;
}

std::vector<uint32_t> Scheduler::PhaseCounts() const {
  std::vector<uint32_t> counts(EnumNames(GangPhase{}).size(), 0);
  const GangTable& gangs = impl_->tables().gangs;
  for (const GangIndex g : gangs.Positions()) {
    ++counts[static_cast<size_t>(gangs.at(g).phase)];
  }
  return counts;
}

Resources Scheduler::QueueUsage(std::string_view queue) const {
  const QueueIndex q = impl_->tables().queues.Find(queue);
  return q == kNoQueue ? Resources() : impl_->tables().queues.at(q).used;
}

absl::StatusOr<QueueStanding> Scheduler::StandingOf(
    std::string_view queue) const {
  const QueueIndex q = impl_->tables().queues.Find(queue);
  if (q == kNoQueue)
    return NotFound("queue '", std::string(queue), "' is not known");
  return muster::StandingOf(impl_->tables(), q);
}

std::vector<DecisionRecord> Scheduler::DecisionsOf(const Plan& plan) const {
  std::vector<DecisionRecord> decisions;
  AddRecords(impl_->tables(), plan, plan.decisions, &decisions);
  return decisions;
}
PlanRecord Scheduler::Record(const Plan& plan) const {
  return RecordOf(impl_->tables(), plan);
}
NamedReason Scheduler::Named(const Reason& reason, GangId gang) const {
  return muster::Named(impl_->tables(), reason, gang.index);
}
absl::Status Scheduler::Validate() const { return CheckAll(impl_->tables()); }

}  // namespace muster
