#include "adapters/inprocess/task_places.h"

#include <optional>
#include <string>

namespace muster::inprocess {

void TaskPlaces::Hold(Time now, const LiveGang& g, uint32_t flat) {
  const LiveTask& t = g.tasks[flat];
  if (!real_usage_.Charge(t.node, g.ShapeOf(flat), t.place)) {
    ++metrics_.counts.overcommits;
  }
  Notify(now, g, flat, true);
}

void TaskPlaces::Drop(Time now, const LiveGang& g, uint32_t flat) {
  const LiveTask& t = g.tasks[flat];
  real_usage_.Credit(t.node, g.ShapeOf(flat), t.place);
  Notify(now, g, flat, false);
}

void TaskPlaces::Notify(Time now, const LiveGang& g, uint32_t flat,
                        bool taken) {
  if (observer_ == nullptr) return;
  const LiveTask& t = g.tasks[flat];
  observer_->PlaceChanged({.at = now,
                           .gang = g.job.gang,
                           .node = t.node,
                           .devices = t.place.devices,
                           .taken = taken});
}

void TaskPlaces::Leave(Time now, LiveGang& g, uint32_t flat, TaskLife then) {
  LiveTask& t = g.tasks[flat];
  if (t.holds()) Drop(now, g, flat);
  if (t.life == TaskLife::kSuspended) {
    real_usage_.Keep(t.node, KeptOf(g.ShapeOf(flat)), -1);
  }
  t.life = then;
  t.is_stopped = false;
  ++t.incarnation;
  if (then == TaskLife::kSuspended &&
      !real_usage_.Keep(t.node, KeptOf(g.ShapeOf(flat)), 1)) {
    ++metrics_.counts.overcommits;
  }
}

// What such a task keeps while it is suspended.
Resources TaskPlaces::KeptOf(const TaskShape& shape) const {
  Resources kept;
  for (const std::string& name : config_.host.suspended_keeps) {
    const ResourceKind kind = config_.KindOf(name);
    kept.Set(kind, shape.resources[kind]);
  }
  return kept;
}

TaskAnswer TaskPlaces::AnswerFor(const LiveGang& g, uint32_t flat,
                                 TaskOutcome outcome, bool with_place) const {
  const LiveTask& t = g.tasks[flat];
  TaskAnswer answer{
      .task = g.IdOf(flat), .attempt = t.attempt, .outcome = outcome};
  if (with_place) {
    answer.node = real_usage_.key(t.node);
    answer.devices = t.place.devices.ToList();
    if (!g.ShapeOf(flat).devices.partition.empty()) {
      answer.first_slice = t.place.first_slice;
    }
  }
  return answer;
}

void TaskPlaces::Move(Time now, const Lapse& lapse, LiveGang& g,
                      uint32_t flat) {
  LiveTask& t = g.tasks[flat];
  const uint32_t node = lapse.kind == LapseKind::kElsewhere
                            ? real_usage_.Find(lapse.node)
                            : t.node;
  if (node == RealUsage::kNoNode || !real_usage_.up(node)) return;
  const TaskShape& shape = g.ShapeOf(flat);
  const DeviceSet planned = t.place.devices;
  Drop(now, g, flat);
  const std::optional<RealUsage::Place> place = real_usage_.Pick(
      node, shape.devices, node == t.node ? planned : DeviceSet{});
  if (place.has_value()) {
    t.node = node;
    t.place = *place;
  }
  Hold(now, g, flat);
}

}  // namespace muster::inprocess
