// What happens to the simulated cluster whatever the scheduler decides.
#include <type_traits>
#include <utility>

#include "adapters/inprocess/simulator_impl.h"

namespace muster::inprocess {
namespace {

// For messages: the kind of event and what it names.
struct Label {
  std::string operator()(const NodeChanged& e) { return "node " + e.node.key; }
  std::string operator()(const NodeDown& e) { return "node-down " + e.node; }
  std::string operator()(const NodeUp& e) { return "node-up " + e.node; }
  std::string operator()(const NodeRemoved& e) { return "remove " + e.node; }
  std::string operator()(const NodeDrained& e) { return "drain " + e.node; }
  std::string operator()(const SpotNotice& e) { return "spot " + e.node; }
  std::string operator()(const ExternalUsageChanged& e) {
    return "external usage of " + e.usage.node;
  }
  std::string operator()(const NodeSetChanged& e) {
    return "node set " + e.set.key;
  }
  std::string operator()(const QueueChanged& e) {
    return "queue " + e.queue.key;
  }
  std::string operator()(const QueueRemoved& e) {
    return "remove queue " + e.queue;
  }
  std::string operator()(const PriorityClassChanged& e) {
    return "priority class " + e.priority_class.key;
  }
  std::string operator()(const GangHeld& e) { return "hold " + e.gang; }
  std::string operator()(const GangReprioritized& e) {
    return "reprioritize " + e.gang;
  }
  std::string operator()(const GangCancelled& e) { return "cancel " + e.gang; }
  template <class T>
  std::string operator()(const T&) {
    return "event";
  }
};

}  // namespace

void Simulator::Impl::Happen(const WorldEvent& e) {
  pass_needed_ = true;
  if (const auto* body = std::get_if<EventBody>(&e.what)) {
    HappenTold(*body, e.line);
  } else if (const auto* dies = std::get_if<TaskDies>(&e.what)) {
    HappenTaskDies(*dies, e.line);
  } else {
    Reconcile();
  }
}

// The scheduler is told, and if it takes the event, reality follows.
void Simulator::Impl::HappenTold(const EventBody& body, int line) {
  uint32_t gang = LiveGangs::kNoSlot;
  if (const auto* e = std::get_if<GangCancelled>(&body)) gang = SlotOf(e->gang);
  const absl::Status status = scheduler_.Apply({now_, body});
  if (!status.ok()) {
    Refuse(
        {now_, std::visit(Label(), body), std::string(status.message()), line});
    return;
  }
  pass_needed_ = true;
  if (gang != LiveGangs::kNoSlot) {
    live_[gang].leaving = true;  // If not now: it may be stopping already.
    FreeIfGone(gang);
  }
  std::visit(
      [&](const auto& e) {
        using E = std::decay_t<decltype(e)>;
        if constexpr (std::is_same_v<E, NodeChanged>) {
          const uint32_t node = real_usage_.Upsert(e.node);
          const NodeId id = scheduler_.FindNode(e.node.key);
          if (id.index >= node_of_id_.size()) node_of_id_.resize(id.index + 1);
          node_of_id_[id.index] = node;
          // A node that was removed and comes again works.
          real_usage_.SetUp(node, true);
          ReportNode(node);
        } else if constexpr (std::is_same_v<E, NodeDown> ||
                             std::is_same_v<E, NodeRemoved>) {
          const uint32_t node = real_usage_.Find(e.node);
          LoseTasksOn(node);
          real_usage_.SetUp(node, false);
          ReportNode(node);
        } else if constexpr (std::is_same_v<E, PriorityClassChanged>) {
          protected_runtimes_ |= e.priority_class.min_runtime > 0;
        } else if constexpr (std::is_same_v<E, NodeUp>) {
          const uint32_t node = real_usage_.Find(e.node);
          real_usage_.SetUp(node, true);
          ReportNode(node);
        } else if constexpr (std::is_same_v<E, ExternalUsageChanged>) {
          const uint32_t node = real_usage_.Find(e.usage.node);
          real_usage_.SetExternalUsage(node, e.usage);
          ReportNode(node);
        }
      },
      body);
}

void Simulator::Impl::ReportNode(uint32_t node) {
  if (options_.observer != nullptr) {
    options_.observer->NodeUpdated(node, real_usage_);
  }
}

void Simulator::Impl::LoseTasksOn(uint32_t node) {
  for (uint32_t slot = 0; slot < live_.slots(); ++slot) {
    LiveGang& g = live_[slot];
    if (!g.alive) continue;
    bool lost = false;
    for (uint32_t i = 0; i < g.tasks.size(); ++i) {
      if (g.tasks[i].life == TaskLife::kNone || g.tasks[i].node != node) {
        continue;
      }
      places_.Leave(now_, g, i, TaskLife::kNone);
      lost = true;
    }
    if (lost) UpdateRate(slot, StopCause::kNodeLost);
  }
}

void Simulator::Impl::HappenTaskDies(const TaskDies& e, int line) {
  const uint32_t slot = SlotOf(e.gang);
  const uint32_t flat =
      slot == LiveGangs::kNoSlot ? 0 : live_[slot].FlatIndex(e.task);
  if (slot == LiveGangs::kNoSlot || flat >= live_[slot].tasks.size() ||
      !live_[slot].tasks[flat].holds()) {
    Refuse({now_, (e.is_stopped ? "stop-task " : "fail-task ") + e.gang,
            "no such task runs", line});
    return;
  }
  if (e.is_stopped) return BeginLeaving(slot, flat);
  LiveGang& g = live_[slot];
  places_.Leave(now_, g, flat, TaskLife::kNone);
  UpdateRate(slot, StopCause::kTaskFailed);
  TasksAnswered answered{.gang = g.job.gang.key};
  answered.tasks.push_back(
      places_.AnswerFor(g, flat, TaskOutcome::kFailed, false));
  Report(slot, std::move(answered), true);
}

// Somebody else begins to stop a task that holds its place.
void Simulator::Impl::BeginLeaving(uint32_t slot, uint32_t flat) {
  LiveGang& g = live_[slot];
  LiveTask& t = g.tasks[flat];
  if (t.life == TaskLife::kStopping) return;  // It goes already.
  t.life = TaskLife::kStopping;
  t.is_stopped = true;
  UpdateRate(slot, StopCause::kOther);
  TasksAnswered answered{.gang = g.job.gang.key};
  answered.tasks.push_back(
      places_.AnswerFor(g, flat, TaskOutcome::kLeaving, false));
  Report(slot, std::move(answered), true);
  Schedule({.kind = DecisionKind::kShrink,
            .slot = slot,
            .tasks = {{flat, ++t.incarnation}}},
           now_ + options_.host.stop_time);
}

// The host tells everything as it is. Numbers of attempts mean nothing any
// more: later answers are about whichever is current.
void Simulator::Impl::Reconcile() {
  Reconciled whole;
  for (uint32_t n = 0; n < real_usage_.node_count(); ++n) {
    if (!scheduler_.FindNode(real_usage_.key(n)).valid()) continue;
    whole.nodes.push_back(real_usage_.node(n));
    if (!real_usage_.external(n).node.empty())
      whole.external.push_back(real_usage_.external(n));
    if (!real_usage_.up(n)) whole.down.push_back(real_usage_.key(n));
  }
  for (LiveGang& g : live_) {
    if (!g.alive) continue;
    for (uint32_t i = 0; i < g.tasks.size(); ++i) {
      LiveTask& t = g.tasks[i];
      if (!t.holds()) continue;
      const TaskAnswer place =
          places_.AnswerFor(g, i, TaskOutcome::kStarted, true);
      whole.tasks.push_back({.gang = g.job.gang.key,
                             .task = place.task,
                             .node = place.node,
                             .devices = place.devices,
                             .alternative = t.alternative,
                             .releasing = t.life == TaskLife::kStopping,
                             .first_slice = place.first_slice});
      t.attempt = 0;
    }
  }
  const absl::StatusOr<ReconcileReport> report =
      scheduler_.Reconcile(now_, whole);
  if (!report.ok()) Broken("reconciliation was refused", report.status());
}

}  // namespace muster::inprocess
