#include "test/conformance/session.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster::conformance {
namespace {

bool Stops(DecisionKind kind) {
  return kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
         kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
}

bool Starts(DecisionKind kind) {
  return kind == DecisionKind::kStart || kind == DecisionKind::kGrow ||
         kind == DecisionKind::kResume;
}

bool Ran(const Unit& unit) {
  if (unit.lost) return false;
  return unit.state == "running" || unit.state == "bound" ||
         unit.state == "stuck-terminating";
}

}  // namespace

Session::Session(const Translation& translation, bool decides,
                 Scheduler scheduler)
    : t_(&translation),
      decides_(decides),
      scheduler_(std::move(scheduler)),
      now_(translation.start),
      refused_(translation.gangs.size(), false),
      stopped_(translation.units.size(), false),
      outcomes_(translation.units.size()) {}

absl::StatusOr<Session> Session::Open(const Translation& translation,
                                      bool decides) {
  auto scheduler = Scheduler::Create(translation.config);
  if (!scheduler.ok()) return scheduler.status();
  Session session(translation, decides, *std::move(scheduler));
  if (auto status = session.Report(); !status.ok()) return status;
  session.Observe();
  return session;
}

absl::Status Session::Report() {
  for (const PriorityClass& c : t_->classes) {
    auto status = scheduler_.Apply({0, PriorityClassChanged{c}});
    if (!status.ok()) return status;
  }
  for (const Queue& queue : t_->queues) {
    auto status = scheduler_.Apply({0, QueueChanged{queue}});
    if (!status.ok()) return status;
  }
  if (auto status = ReportGangs(); !status.ok()) return status;
  for (const Moment& moment : t_->moments) {
    auto report = scheduler_.Reconcile(moment.at, moment.whole);
    if (!report.ok()) return report.status();
  }
  for (const TasksAnswered& answer : t_->answers) {
    auto status = scheduler_.Apply({t_->moments.back().at, answer});
    if (!status.ok()) return status;
  }
  for (const std::string& node : t_->lost_nodes) {
    auto status = scheduler_.Apply({t_->moments.back().at, NodeDown{node}});
    if (!status.ok()) return status;
  }
  for (const Queue& queue : t_->closed_queues) {
    auto status =
        scheduler_.Apply({t_->moments.back().at, QueueChanged{queue}});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Session::ReportGangs() {
  for (size_t g = 0; g < t_->gangs.size(); ++g) {
    const TranslatedGang& gang = t_->gangs[g];
    if (gang.left_out) continue;
    const auto status = scheduler_.Apply({0, GangSubmitted{gang.gang}});
    if (status.ok()) continue;
    if (absl::IsUnimplemented(status) || gang.refusable.empty()) return status;
    const bool holds =
        std::any_of(t_->units.begin(), t_->units.end(), [&](const Unit& unit) {
          return unit.gang == g && unit.member && !unit.node.empty();
        });
    if (holds) {
      return absl::UnimplementedError(
          "a gang that runs against its own terms: " + gang.refusable);
    }
    refused_[g] = true;
  }
  return absl::OkStatus();
}

void Session::Pass() {
  placed_ = 0;
  evictions_.clear();
  for (const Queue& queue : t_->queues) {
    usage_before_[queue.key] = scheduler_.QueueUsage(queue.key);
  }
  plan_.Clear();
  now_ += 10 * kSecond;
  ++passes_;
  if (decides_) scheduler_.Schedule(now_, &plan_);
  for (const Decision& d : plan_.decisions) {
    if (Starts(d.kind)) placed_ += d.task_count;
    if (Stops(d.kind)) {
      evictions_.push_back({std::string(plan_.Text(d.gang_key)),
                            std::string(plan_.Text(d.on_behalf_key)),
                            d.reason.code});
    }
  }
  Observe();
}

absl::Status Session::CarryOut() {
  std::set<std::string> lingering;
  for (const TranslatedGang& gang : t_->gangs) {
    if (gang.evicted_pods_stay_terminating) lingering.insert(gang.gang.key);
  }
  now_ += kSecond;
  for (const Decision& d : plan_.decisions) {
    if (!Starts(d.kind) && !Stops(d.kind)) continue;
    const std::string gang(plan_.Text(d.gang_key));
    if (Stops(d.kind) && lingering.contains(gang)) continue;
    auto status = scheduler_.Apply({now_, DecisionApplied{d.seq}});
    if (!status.ok()) return status;
  }
  if (passes_ != 1) return absl::OkStatus();
  for (const Unit& unit : t_->units) {
    const std::string& gang = t_->gangs[unit.gang].gang.key;
    if (unit.state != "terminating" || lingering.contains(gang)) continue;
    TasksAnswered answer{gang, {}};
    answer.tasks.push_back({unit.task, 0, TaskOutcome::kReleased, {}, {}});
    auto status = scheduler_.Apply({now_, answer});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void Session::Observe() {
  std::vector<std::optional<GangState>> states(t_->gangs.size());
  for (size_t g = 0; g < states.size(); ++g) {
    auto state = scheduler_.Find(t_->gangs[g].gang.key);
    if (state.ok()) states[g] = *std::move(state);
  }
  for (size_t u = 0; u < outcomes_.size(); ++u) {
    outcomes_[u] = Of(u, states[t_->units[u].gang]);
  }
}

UnitOutcome Session::Of(size_t u, const std::optional<GangState>& gang) {
  const Unit& unit = t_->units[u];
  if (!unit.member || t_->gangs[unit.gang].left_out || refused_[unit.gang]) {
    return {unit.state, unit.node, 0};
  }
  const TaskState* task = nullptr;
  if (gang) {
    for (const TaskState& t : gang->tasks) {
      if (t.task == unit.task) task = &t;
    }
  }
  if (task == nullptr) {
    stopped_[u] = stopped_[u] || Ran(unit);
    return {Ran(unit) ? "evicted" : "pending", "", 0};
  }
  UnitOutcome outcome{"", task->node, task->alternative};
  switch (task->phase) {
    case TaskPhase::kNominated:
      outcome.state = Ran(unit) ? "moved" : "nominated";
      break;
    case TaskPhase::kStarting:
      outcome.state = "placed";
      break;
    case TaskPhase::kRunning:
      outcome.state = !Ran(unit) || stopped_[u] ? "placed"
                      : unit.state == "bound"   ? "running"
                                                : unit.state;
      break;
    case TaskPhase::kReleasing:
      stopped_[u] = stopped_[u] || Ran(unit);
      outcome.state = unit.state == "terminating" ? "terminating" : "evicted";
      break;
    case TaskPhase::kSuspended:
      stopped_[u] = true;
      outcome.state = "evicted";
      break;
    case TaskPhase::kSucceeded:
      outcome.state = "succeeded";
      break;
  }
  return outcome;
}

std::optional<ReasonCode> Session::WhyWaits(const std::string& gang) const {
  if (!decides_) return std::nullopt;
  const auto explanation = scheduler_.Explain(gang);
  if (!explanation.ok()) return std::nullopt;
  return explanation->reason.code;
}

std::optional<ReasonCode> Session::WhyWouldWait(const Gang& gang) const {
  if (!decides_) return std::nullopt;
  auto fork = scheduler_.Fork();
  if (!fork.ok()) return std::nullopt;
  for (const Event& event : {Event{now_, GangCancelled{gang.key}},
                             Event{now_, GangSubmitted{gang}}}) {
    if (!fork->Apply(event).ok()) return std::nullopt;
  }
  Plan plan;
  fork->Schedule(now_, &plan);
  const auto explanation = fork->Explain(gang.key);
  if (!explanation.ok()) return std::nullopt;
  return explanation->reason.code;
}

Wait Session::WaitOf(const std::string& gang) const {
  const auto state = scheduler_.Find(gang);
  // What was refused, or never handed in, nobody looks at.
  if (!state.ok()) return Wait::kUntilChange;
  if (state->phase == GangPhase::kNominated) return Wait::kForRelease;
  if (state->phase != GangPhase::kWaiting) return Wait::kNone;
  for (const TranslatedGang& g : t_->gangs) {
    if (g.gang.key != gang || !g.gang.held) continue;
    return g.has_turn ? Wait::kUntilChange : Wait::kNextPass;
  }
  return WaitOfClass(gang);
}

// Of a class that is not listed in the state all questions are active.
Wait Session::WaitOfClass(const std::string& gang) const {
  const uint64_t gang_class =
      scheduler_.WaitingGangClass(scheduler_.FindGang(gang));
  if (gang_class == 0) {
    const auto why = scheduler_.Explain(gang);
    const bool held = why.ok() && why->reason.code == ReasonCode::kHeld;
    return held ? Wait::kUntilChange : Wait::kNextPass;
  }
  for (const GangClassState& c : scheduler_.State().gang_classes) {
    const GangId first = scheduler_.FindGang(c.gang);
    if (c.grows || scheduler_.WaitingGangClass(first) != gang_class) continue;
    const bool asked = c.active != 0 || c.retry_at != kForever;
    return asked ? Wait::kNextPass : Wait::kUntilChange;
  }
  return Wait::kNextPass;
}

Resources Session::QueueUsage(const std::string& queue) const {
  return scheduler_.QueueUsage(queue);
}

Resources Session::QueueUsageBefore(const std::string& queue) const {
  const auto it = usage_before_.find(queue);
  return it == usage_before_.end() ? Resources() : it->second;
}

std::optional<int64_t> Session::WholeDevices(const std::string& key,
                                             Ledger ledger) const {
  const NodeId node = scheduler_.FindNode(key);
  if (!node.valid()) return std::nullopt;
  const ClusterView cluster = scheduler_.cluster();
  int64_t whole = 0;
  const size_t devices = cluster.node(node.index).devices.size();
  for (uint32_t d = 0; d < devices; ++d) {
    whole += cluster.free_milli(node.index, d, ledger) >= kWholeDevice;
  }
  return whole;
}

std::optional<int64_t> Session::IdleDevices(const std::string& node) const {
  return WholeDevices(node, Ledger::kNow);
}

std::optional<int64_t> Session::ReleasingDevices(
    const std::string& node) const {
  const auto later = WholeDevices(node, Ledger::kLater);
  if (!later) return later;
  return std::max<int64_t>(0, *later - *IdleDevices(node));
}

}  // namespace muster::conformance
