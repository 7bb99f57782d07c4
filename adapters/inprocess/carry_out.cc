// How the simulated host carries decisions out and answers them.
#include <algorithm>
#include <utility>

#include "adapters/inprocess/simulator_impl.h"

namespace muster::inprocess {
namespace {

StopCause CauseOf(const Decision& d) {
  if (d.kind == DecisionKind::kSuspend) return StopCause::kSuspended;
  switch (d.reason.code) {
    case ReasonCode::kMadeRoom:
    case ReasonCode::kReclaimed:
      return StopCause::kPreempted;
    case ReasonCode::kNodeLost:
      return StopCause::kNodeLost;
    case ReasonCode::kNodeDrained:
      return StopCause::kDrained;
    case ReasonCode::kTaskFailed:
      return StopCause::kTaskFailed;
    case ReasonCode::kMaxRuntime:
    case ReasonCode::kCancelledByHost:
      return StopCause::kCancelled;
    default:
      return d.kind == DecisionKind::kCancel ? StopCause::kCancelled
                                             : StopCause::kOther;
  }
}

}  // namespace

void Simulator::Impl::CarryOut(const Decision& d) {
  const uint32_t slot = live_.SlotOf(d.gang);
  if (slot == LiveGangs::kNoSlot) {
    return Broken("a decision about an unknown gang",
                  absl::InternalError(std::string(plan_.Text(d.gang_key))));
  }
  switch (d.kind) {
    case DecisionKind::kNominate:  // It is told, and nothing is to be done.
      return;
    case DecisionKind::kStart:
    case DecisionKind::kGrow:
    case DecisionKind::kResume:
      return BeginStart(d, slot);
    case DecisionKind::kShrink:
    case DecisionKind::kEvict:
    case DecisionKind::kSuspend:
    case DecisionKind::kCancel:
      return BeginStop(d, slot);
    case DecisionKind::kMigrate:
    case DecisionKind::kReserve:
      return Broken("a decision that this host cannot carry out",
                    absl::InternalError(std::string(Name(d.kind))));
  }
}

std::optional<Lapse> Simulator::Impl::NextLapse(const std::string& gang,
                                                bool on_stop) {
  for (Lapse& lapse : options_.host.lapses) {
    if (lapse.times > 0 && lapse.on_stop == on_stop && lapse.gang == gang) {
      --lapse.times;
      return lapse;
    }
  }
  return std::nullopt;
}

// The planned task takes its place and begins to start.
void Simulator::Impl::PlaceTask(const PlannedTask& planned, LiveGang& g) {
  const uint32_t flat = g.FlatIndex(planned.task);
  if (flat >= g.tasks.size() || planned.node.index >= node_of_id_.size()) {
    return Broken("a planned task that does not exist",
                  absl::InternalError(g.job.gang.key));
  }
  places_.Leave(now_, g, flat, TaskLife::kNone);
  LiveTask& t = g.tasks[flat];
  t.attempt = planned.attempt;
  t.alternative = planned.alternative;
  t.node = node_of_id_[planned.node.index];
  t.place = {planned.devices, planned.first_slice};
  const DeviceRequest& request = g.ShapeOf(flat).devices;
  if (!config_.host.choose_devices && request.count > 0) {
    t.place =
        real_usage_.Pick(t.node, request, {}).value_or(RealUsage::Place{});
  }
  t.life = TaskLife::kStarting;
  places_.Hold(now_, g, flat);
}

// Whether a pass at this very time could decide more because the gang runs:
// gangs before it in the pass have been served already.
bool Simulator::Impl::StartMatters(const LiveGang& g) const {
  return g.elastic() || g.job.gang.max_runtime > 0 || protected_runtimes_;
}

void Simulator::Impl::BeginStart(const Decision& d, uint32_t slot) {
  LiveGang& g = live_[slot];
  if (g.work_done) {  // Finished, and the news is on its way.
    return Report(slot, DecisionRefused{d.seq}, true);
  }
  for (const PlannedTask& t : plan_.TasksOf(d)) PlaceTask(t, g);
  if (!broken_.ok()) return;
  if (options_.host.immediate()) {
    for (const PlannedTask& t : plan_.TasksOf(d)) {
      g.tasks[g.FlatIndex(t.task)].life = TaskLife::kRunning;
    }
    UpdateRate(slot, StopCause::kOther);
    if (config_.host.choose_devices) {
      return Report(slot, DecisionApplied{d.seq}, StartMatters(g));
    }
    TasksAnswered answered{.gang = g.job.gang.key};
    for (const PlannedTask& t : plan_.TasksOf(d)) {
      answered.tasks.push_back(places_.AnswerFor(g, g.FlatIndex(t.task),
                                                 TaskOutcome::kStarted, true));
    }
    return Report(slot, std::move(answered), StartMatters(g));
  }
  waves_.Add(plan_.TasksOf(d), g,
             {.seq = d.seq,
              .kind = d.kind,
              .slot = slot,
              .whole = config_.host.choose_devices,
              .lapse = NextLapse(g.job.gang.key, false)});
  OpenWaves(slot);
}

void Simulator::Impl::OpenWaves(uint32_t slot) {
  while (std::optional<Act> act = waves_.Next(slot, live_[slot])) {
    Schedule(*std::move(act), now_ + options_.host.start_time);
  }
}

void Simulator::Impl::BeginStop(const Decision& d, uint32_t slot) {
  LiveGang& g = live_[slot];
  Act act{.seq = d.seq,
          .kind = d.kind,
          .slot = slot,
          .lapse = NextLapse(g.job.gang.key, true)};
  if (act.has(LapseKind::kRefuse)) {
    return Report(slot, DecisionRefused{d.seq}, true);
  }
  auto stop = [&](uint32_t flat) {
    LiveTask& t = g.tasks[flat];
    if (t.life == TaskLife::kNone || t.is_stopped) return;
    if (t.holds()) t.life = TaskLife::kStopping;
    act.tasks.emplace_back(flat, ++t.incarnation);
  };
  if (d.kind == DecisionKind::kShrink) {
    for (const PlannedTask& t : plan_.TasksOf(d)) stop(g.FlatIndex(t.task));
  } else {
    for (uint32_t i = 0; i < g.tasks.size(); ++i) stop(i);
  }
  if (d.kind == DecisionKind::kCancel) g.leaving = true;
  UpdateRate(slot, CauseOf(d), plan_.Text(d.on_behalf_key));
  Schedule(std::move(act), now_ + options_.host.stop_time);
}

void Simulator::Impl::Schedule(Act act, Time at) {
  if (at <= now_) return FinishAct(act);
  queue_.Push(
      {.at = at, .kind = DueKind::kAct, .index = acts_.Add(std::move(act))});
}

void Simulator::Impl::FinishAct(const Act& act) {
  LiveGang& g = live_[act.slot];
  if (!g.alive) return;
  switch (act.kind) {
    case DecisionKind::kStart:
    case DecisionKind::kGrow:
    case DecisionKind::kResume:
      return FinishStart(act, g);
    default:
      return FinishStop(act, g);
  }
}

void Simulator::Impl::FinishStart(const Act& act, LiveGang& g) {
  const bool refused = act.has(LapseKind::kRefuse);
  const bool failed = act.has(LapseKind::kFail);
  const bool moved =
      act.has(LapseKind::kElsewhere) || act.has(LapseKind::kOtherDevices);
  TasksAnswered answered{.gang = g.job.gang.key};
  for (const auto& [flat, incarnation] : act.tasks) {
    LiveTask& t = g.tasks[flat];
    if (t.incarnation != incarnation) continue;  // Stopped or lost meanwhile.
    if (refused || failed) {
      places_.Leave(now_, g, flat, TaskLife::kNone);
      answered.tasks.push_back(
          places_.AnswerFor(g, flat, TaskOutcome::kFailed, false));
      continue;
    }
    if (moved) places_.Move(now_, *act.lapse, g, flat);
    t.life = TaskLife::kRunning;
    answered.tasks.push_back(places_.AnswerFor(
        g, flat, TaskOutcome::kStarted, moved || !config_.host.choose_devices));
  }
  UpdateRate(act.slot, StopCause::kTaskFailed);
  if (act.has(LapseKind::kNoAnswer)) return;
  const Duration late = act.has(LapseKind::kLate) ? act.lapse->delay : 0;
  if (refused) {
    Report(act.slot, DecisionRefused{act.seq}, true, late);
  } else if (act.whole && !failed && !moved &&
             answered.tasks.size() == act.tasks.size()) {
    Report(act.slot, DecisionApplied{act.seq}, true, late);
  } else if (!answered.tasks.empty()) {
    Report(act.slot, std::move(answered), true, late);
  }
}

// What somebody else stopped has gone.
void Simulator::Impl::FinishLeaving(const Act& act, LiveGang& g) {
  const auto& [flat, incarnation] = act.tasks[0];
  if (g.tasks[flat].incarnation != incarnation) return;  // Lost meanwhile.
  TasksAnswered answered{.gang = g.job.gang.key};
  answered.tasks.push_back(
      places_.AnswerFor(g, flat, TaskOutcome::kYielded, false));
  places_.Leave(now_, g, flat, TaskLife::kNone);
  Report(act.slot, std::move(answered), true);
}

void Simulator::Impl::FinishStop(const Act& act, LiveGang& g) {
  if (act.seq == 0) return FinishLeaving(act, g);
  const TaskLife then = act.kind == DecisionKind::kSuspend
                            ? TaskLife::kSuspended
                            : TaskLife::kNone;
  for (const auto& [flat, incarnation] : act.tasks) {
    if (g.tasks[flat].incarnation != incarnation) continue;
    places_.Leave(now_, g, flat, then);
  }
  if (act.has(LapseKind::kNoAnswer)) return;
  const Duration late = act.has(LapseKind::kLate) ? act.lapse->delay : 0;
  Report(act.slot, DecisionApplied{act.seq}, true, late);
}

}  // namespace muster::inprocess
