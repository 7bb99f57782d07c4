#include "adapters/kubernetes/controller/controller.h"

#include <algorithm>
#include <set>
#include <utility>

#include "adapters/kubernetes/controller/object_refs.h"

namespace muster::kubernetes {
namespace {

// Rounds of one step: what is decided may be answered at once.
constexpr int kMostRounds = 8;

// Of an event about a node that the scheduler has to know.
const std::string& NodeOf(const EventBody& event) {
  if (const auto* notice = std::get_if<SpotNotice>(&event)) return notice->node;
  if (const auto* up = std::get_if<NodeUp>(&event)) return up->node;
  return std::get<ExternalUsageChanged>(event).usage.node;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Controller>> Controller::Create(
    ControllerOptions options) {
  if (options.scheduler_names.empty()) {
    return absl::InvalidArgumentError("scheduler_names: expected at least one");
  }
  SchedulerConfig config;
  config.resources = ResourceKinds(options.device_resource).names();
  config.device_kind = options.device_resource;
  config.topologies = options.topologies;
  config.host.choose_devices = false;  // Device plugins do.
  config.host.evicts_taints = false;   // The node lifecycle controller does.
  config.host.keeps_running = true;    // Kubelets refuse what came last.
  config.queue_order = options.queue_order;
  config.eviction_backoff = options.eviction_backoff;
  config.work_budget = options.work_budget;
  absl::StatusOr<Scheduler> scheduler = Scheduler::Create(std::move(config));
  if (!scheduler.ok()) return scheduler.status();
  return std::unique_ptr<Controller>(
      new Controller(std::move(options), *std::move(scheduler)));
}

Controller::Controller(ControllerOptions options, Scheduler scheduler)
    : state_(std::move(options), std::move(scheduler)),
      observer_(&state_),
      reporter_(&state_),
      queue_reporter_(&state_),
      group_reporter_(&state_),
      executor_(&state_, &reporter_),
      volumes_(&state_, &executor_),
      sync_(&state_, &reporter_, &executor_, &volumes_) {}

absl::Status Controller::Synced(Time now) {
  state_.link.SetNow(now);
  synced_ = true;
  state_.gangs.CountArrivals();
  state_.gangs.ForgetTouched();
  state_.volumes.TakeTouched();
  TellConfig();
  TellQueues();
  sync_.TellMembers();
  TellNodes();  // Leaves out those that are not valid.
  Reconciled whole;
  sync_.TakeOver(&whole);
  state_.nodes.TakeAll(&whole);
  return state_.link.Tell(std::move(whole));
}

void Controller::TellConfig() {
  const bool topologies_changed = state_.topologies.TakeChanged();
  if (!std::exchange(state_.kinds_changed, false) && !topologies_changed) {
    return;
  }
  SchedulerConfig config = state_.link.scheduler().config();
  config.resources = state_.kinds.names();
  config.topologies = state_.topologies.All();
  state_.link.MustTell(ConfigChanged{std::move(config)});
}

void Controller::TellQueues() {
  if (!state_.queues.due()) return;
  const bool told = state_.queues.Tell(state_.kinds, [this](EventBody what) {
    return state_.link.Tell(std::move(what));
  });
  if (!told) return;
  state_.gangs.TouchOutside();
  state_.nominations.Doubt();
}

void Controller::TellBudgets() {
  for (DisruptionBudget& budget : state_.budgets.TakeChanges()) {
    state_.link.MustTell(DisruptionBudgetChanged{std::move(budget)});
  }
}

void Controller::TellNodes() {
  NodeBook& nodes = state_.nodes;
  for (EventBody& event : nodes.TakeChanges()) {
    if (!std::holds_alternative<ExternalUsageChanged>(event)) {
      state_.nominations.Doubt();
    }
    if (std::holds_alternative<NodeChanged>(event)) {
      // What a node says of itself may be more than the library takes.
      const std::string name = std::get<NodeChanged>(event).node.key;
      if (state_.link.Tell(std::move(event)).ok()) {
        nodes.SetTold(name);
      } else {
        nodes.Remove(name);
      }
    } else if (const auto* gone = std::get_if<NodeRemoved>(&event)) {
      state_.gangs.LoseNode(gone->node);
      state_.link.MustTell(std::move(event));
    } else if (nodes.Has(NodeOf(event))) {
      state_.link.MustTell(std::move(event));
    }
  }
}

void Controller::Step(Time now, std::vector<ApiRequest>* requests) {
  state_.link.SetNow(now);
  if (!synced_) return;
  executor_.AskAgain();
  for (int round = 0; round < kMostRounds; ++round) {
    TellConfig();
    TellQueues();
    TellNodes();
    for (const GroupRef& ref : state_.volumes.TakeTouched()) {
      state_.gangs.Touch(ref);
    }
    for (GangRecord* gang : state_.gangs.TakeTouched(state_.link.now())) {
      state_.gangs.SetUnreported(gang);
      sync_.Sync(gang);
    }
    TellNodes();  // What pods use that have no task any more.
    for (EventBody& event : state_.nodes.TakeUnsettled(scheduler().cluster())) {
      state_.link.MustTell(std::move(event));
    }
    TellBudgets();
    if (!state_.link.Decide()) break;
    const Plan& plan = state_.link.plan();
    if (!plan.waiting.empty()) reporter_.NoteAll();
    for (const DecisionRecord& decision : scheduler().DecisionsOf(plan)) {
      ++decisions_[static_cast<size_t>(decision.kind)];
      executor_.CarryOut(decision);
    }
  }
  state_.excess.Look(now, state_.nodes.TakeDoubtful(), scheduler().cluster(),
                     state_.kinds);
  state_.nominations.DropFound();
  state_.nominations.Check([this](const std::string& gang) {
    const auto state = scheduler().Find(gang);
    return state.ok() && std::ranges::count(state->tasks, TaskPhase::kNominated,
                                            &TaskState::phase) > 0;
  });
  for (const auto& [queue, why] :
       state_.queues.TakeRefused(state_.link.now())) {
    state_.warnings.Warn(QueueObject(queue), kRefused, why);
  }
  reporter_.Step();
  queue_reporter_.Step();
  group_reporter_.Step();
  state_.outbox.MoveTo(requests);
}

Time Controller::next_step() const {
  if (!synced_) return kForever;
  if (state_.volumes.has_touched()) return state_.link.now();
  return std::min({state_.link.next_pass(),
                   state_.gangs.next_touched(state_.link.now()),
                   reporter_.next_step(), queue_reporter_.next_step(),
                   group_reporter_.next_step(), state_.outbox.next_due(),
                   state_.queues.next_refused()});
}

ControllerCounts Controller::counts() const {
  return {.pods = state_.gangs.pods().size(),
          .groups = state_.gangs.size(),
          .jobs = state_.jobs.size(),
          .kept = observer_.kept(),
          .roles = observer_.roles(),
          .in_flight = state_.outbox.awaited(),
          .refused = state_.gangs.outside(),
          .volume_users = state_.volumes.users(),
          .claims = state_.volumes.requests().size(),
          .counted = state_.tally.groups(),
          .exceeded = state_.excess.nodes().size()};
}

}  // namespace muster::kubernetes
