#include "lib/scheduler/holdings.h"

#include <algorithm>
#include <utility>

#include "lib/scheduler/core.h"
#include "lib/topology/needs.h"

namespace muster {

namespace {

// Nominated, starting, running or being released: charged somewhere.
bool IsCharged(TaskPhase phase) { return phase <= TaskPhase::kReleasing; }

// It has, or wants back, a place on a node.
bool HasPlace(TaskPhase phase) { return phase != TaskPhase::kSucceeded; }

Ledger LedgerOf(TaskPhase phase) {
  switch (phase) {
    case TaskPhase::kNominated:
      return Ledger::kLater;
    case TaskPhase::kReleasing:
      return Ledger::kNow;
    default:
      return Ledger::kBoth;
  }
}

// Whether one of the queues has come to hold more of a kind than it is
// guaranteed, beside something that it held before, of whatever kind. `amount`
// is part of what they use.
bool ComesToExceed(const QueueTree& queues, QueueIndex q,
                   const Resources& amount) {
  for (; q != kNoQueue; q = queues.at(q).parent) {
    const QueueTree::Entry& e = queues.at(q);
    bool exceeds = false, held = false;
    for (ResourceKind k = 0; k < amount.size(); ++k) {
      const int64_t guarantee = std::max<int64_t>(e.guarantee[k], 0);
      const int64_t before = e.used[k] - amount[k];
      exceeds |= before <= guarantee && e.used[k] > guarantee;
      held |= before > 0;
    }
    if (exceeds && held) return true;
  }
  return false;
}

}  // namespace

const Resources& Holdings::UsageOf(const Allocation& a) {
  if (UsesAlike(core_.cluster.device_request(a.shape))) {
    return core_.cluster.demand(a.shape);
  }
  usage_ = core_.cluster.Usage(a);
  return usage_;
}

const Resources& Holdings::UsageOf(std::span<const Assignment> tasks) {
  for (ResourceKind k = 0; k < core_.queues.kinds(); ++k) sum_.Set(k, 0);
  for (const Assignment& a : tasks) sum_.Add(UsageOf(a.at));
  return sum_;
}

void Holdings::Charge(GangIndex g, const TaskRecord& task) {
  const QueueIndex queue = core_.gangs.at(g).queue;
  core_.nodes.Add(task.at.node, {g, task.task}, task.phase);
  if (!IsCharged(task.phase)) return;
  const Resources& usage = UsageOf(task.at);
  if (task.phase == TaskPhase::kReleasing) {
    core_.queues.ChargeReleasing(queue, usage, 1);
    return;
  }
  core_.queues.Charge(queue, usage, 1);
  if (ComesToExceed(core_.queues, queue, usage)) {
    core_.opener.ExceedsGuarantee();
  }
}

void Holdings::MoveTo(GangEdit& gang, QueueIndex leaf) {
  const QueueIndex from = std::exchange(gang->queue, leaf);
  for (const TaskRecord& task : gang->tasks) {
    if (!IsCharged(task.phase)) continue;
    const Resources& usage = UsageOf(task.at);
    if (task.phase == TaskPhase::kReleasing) {
      core_.queues.ChargeReleasing(from, usage, -1);
      core_.queues.ChargeReleasing(leaf, usage, 1);
    } else {
      core_.queues.Charge(from, usage, -1);
      core_.queues.Charge(leaf, usage, 1);
      if (ComesToExceed(core_.queues, leaf, usage)) {
        core_.opener.ExceedsGuarantee();
      }
    }
  }
  core_.opener.UsageFell(from);
}

void Holdings::Hold(GangIndex g, const TaskRecord& task) {
  if (!HasPlace(task.phase)) return;
  if (IsCharged(task.phase)) {
    core_.cluster.Charge(task.at, LedgerOf(task.phase));
  }
  Charge(g, task);
}

void Holdings::HoldCharged(GangIndex g, const TaskRecord& task) {
  Charge(g, task);
}

void Holdings::Unhold(GangIndex g, const TaskRecord& task) {
  if (!HasPlace(task.phase)) return;
  core_.nodes.Remove(task.at.node, {g, task.task}, task.phase);
  if (!IsCharged(task.phase)) return;
  const QueueIndex queue = core_.gangs.at(g).queue;
  if (task.phase == TaskPhase::kReleasing) {
    core_.queues.ChargeReleasing(queue, UsageOf(task.at), -1);
  } else {
    core_.queues.Charge(queue, UsageOf(task.at), -1);
  }
  core_.cluster.Credit(task.at, LedgerOf(task.phase));
  core_.opener.RoomFreed(task.at.node, LedgerOf(task.phase));
  core_.opener.UsageFell(queue);
}

void Holdings::SetPhase(GangIndex g, TaskRecord& task, TaskPhase phase) {
  const auto runs = [](TaskPhase p) {
    return p == TaskPhase::kStarting || p == TaskPhase::kRunning;
  };
  if (runs(task.phase) && runs(phase)) {  // Holds the same.
    task.phase = phase;
    return;
  }
  if (task.phase == TaskPhase::kNominated && runs(phase)) {
    core_.cluster.Charge(task.at, Ledger::kNow);  // Held the rest already.
    task.phase = phase;
    return;
  }
  if (runs(task.phase) && phase == TaskPhase::kReleasing) {
    BeginRelease(g, task);
    return;
  }
  Unhold(g, task);
  task.phase = phase;
  Hold(g, task);
}

// It holds what it held now, and nothing later.
void Holdings::BeginRelease(GangIndex g, TaskRecord& task) {
  const QueueIndex queue = core_.gangs.at(g).queue;
  const Resources& usage = UsageOf(task.at);
  core_.queues.Charge(queue, usage, -1);
  core_.queues.ChargeReleasing(queue, usage, 1);
  core_.nodes.BeginRelease(task.at.node);
  core_.cluster.Credit(task.at, Ledger::kLater);
  task.phase = TaskPhase::kReleasing;
  core_.opener.RoomFreed(task.at.node, Ledger::kLater);
  core_.opener.UsageFell(queue);
}

void Holdings::Move(GangIndex g, TaskRecord& task, const Allocation& to) {
  Unhold(g, task);
  task.at = to;
  Hold(g, task);
  core_.nodes.Suspect(to.node);
}

}  // namespace muster
