#include "lib/scheduler/holdings.h"

#include <algorithm>
#include <utility>

#include "lib/cluster/needs.h"
#include "lib/scheduler/scheduler_tables.h"

namespace muster {
namespace {

// Whether one of the queues has come to hold more of a kind than it is
// guaranteed, or more beyond a guarantee, which lets it lose more; beside
// something that it used before, of whatever kind. `amount` is part of what
// they use.
bool ComesToExceed(const QueueTree& queues, QueueIndex q,
                   const Resources& amount) {
  for (; q != kNoQueue; q = queues.at(q).parent) {
    const QueueTree::Entry& e = queues.at(q);
    bool exceeds = false, used_some = false;
    for (ResourceKind k = 0; k < amount.size(); ++k) {
      const int64_t guarantee = std::max<int64_t>(e.guarantee[k], 0);
      const int64_t before = e.used[k] - amount[k];
      exceeds |= amount[k] > 0 && e.used[k] > guarantee &&
                 (before <= guarantee || guarantee > 0);
      used_some |= before > 0;
    }
    if (exceeds && used_some) return true;
  }
  return false;
}

}  // namespace

const Resources& Holdings::UsageOf(const Allocation& a) {
  if (UsesAlike(tables_.cluster.device_request(a.shape))) {
    return tables_.cluster.demand(a.shape);
  }
  usage_ = tables_.cluster.Usage(a);
  return usage_;
}

const Resources& Holdings::UsageOf(const NodeTask& ref) {
  if (UsesAlike(tables_.cluster.device_request(ref.shape))) {
    return tables_.cluster.demand(ref.shape);
  }
  return UsageOf(FindTask(tables_.gangs.at(ref.gang), ref.task)->at);
}

const Resources& Holdings::UsageOf(std::span<const Assignment> tasks) {
  for (ResourceKind k = 0; k < tables_.queues.kinds(); ++k) sum_.Set(k, 0);
  while (!tasks.empty()) {
    const Allocation& a = tasks[0].at;
    const bool alike = UsesAlike(tables_.cluster.device_request(a.shape));
    const auto end = std::ranges::find_if(tasks, [&](const Assignment& task) {
      return !alike || task.at.shape != a.shape;
    });
    const size_t count = std::max<size_t>(1, end - tasks.begin());
    sum_.AddTimes(UsageOf(a), static_cast<int64_t>(count));
    tasks = tasks.subspan(count);
  }
  return sum_;
}

Holdings::Charges Holdings::ChargesOf(GangIndex g,
                                      const TaskRecord& task) const {
  const auto kept = [&](bool holds) {
    return holds && KeptOf(tables_.SpecOf(g), task.at) ? Part::kKept
                                                       : Part::kNothing;
  };
  switch (task.phase) {
    case TaskPhase::kNominated:
      return {Part::kNothing, Part::kAll, true};
    case TaskPhase::kStarting:
    case TaskPhase::kRunning:
      return {Part::kAll, Part::kAll, true};
    case TaskPhase::kReleasing:
      return {Part::kAll, task.keeps_place ? Part::kAll : kept(task.keeps),
              true};
    case TaskPhase::kSuspended:
      return {kept(true), kept(task.keeps), true};
    case TaskPhase::kSucceeded:
      break;
  }
  return {};
}

Allocation Holdings::AllocationOf(GangIndex g, const TaskRecord& task,
                                  Part part) const {
  return part == Part::kAll ? task.at : *KeptOf(tables_.SpecOf(g), task.at);
}

void Holdings::PostCluster(GangIndex g, const TaskRecord& task,
                           const Charges& charges, int sign) {
  const auto post = [&](Part part, Ledger ledger) {
    if (part == Part::kNothing) return;
    const Allocation at = AllocationOf(g, task, part);
    if (sign > 0) {
      tables_.cluster.Charge(at, ledger);
    } else {
      tables_.cluster.Credit(at, ledger);
    }
  };
  if (charges.now == charges.later) return post(charges.now, Ledger::kBoth);
  post(charges.now, Ledger::kNow);
  post(charges.later, Ledger::kLater);
}

// What it will hold later is used; what it holds now beyond that is being
// released.
void Holdings::PostQueue(QueueIndex queue, GangIndex g, const TaskRecord& task,
                         const Charges& charges, int sign) {
  const bool uses = charges.later != Part::kNothing;
  if (sign < 0) tables_.activator.UsageFalls(queue);
  if (uses) {
    const Resources& used = UsageOf(AllocationOf(g, task, charges.later));
    tables_.queues.Charge(queue, used, sign);
    if (sign > 0 && ComesToExceed(tables_.queues, queue, used)) {
      tables_.activator.ExceedsGuarantee();
    }
  }
  if (!charges.releases()) return;
  tables_.queues.ChargeReleasing(
      queue, UsageOf(AllocationOf(g, task, charges.now)), sign);
  if (!uses) return;
  tables_.queues.ChargeReleasing(
      queue, UsageOf(AllocationOf(g, task, charges.later)), -sign);
}

void Holdings::Book(GangIndex g, const TaskRecord& task, const Charges& charges,
                    int sign) {
  if (sign > 0) {
    tables_.nodes.Add(task.at.node, {g, task.task, task.at.shape});
  } else {
    tables_.nodes.Remove(task.at.node, {g, task.task, task.at.shape});
  }
  if (charges.releases()) tables_.nodes.CountReleasing(task.at.node, sign);
  PostQueue(tables_.gangs.at(g).queue, g, task, charges, sign);
}

void Holdings::SetShape(GangIndex g, TaskRecord& task, ShapeId shape) {
  const NodeTask ref{g, task.task, task.at.shape};
  if (ChargesOf(g, task).has_place)
    tables_.nodes.SetShape(task.at.node, ref, shape);
  task.at.shape = shape;
}

void Holdings::MoveTo(GangEdit& gang, QueueIndex leaf) {
  const QueueIndex from = std::exchange(gang->queue, leaf);
  for (const TaskRecord& task : gang->tasks) {
    const Charges charges = ChargesOf(gang.gang(), task);
    PostQueue(from, gang.gang(), task, charges, -1);
    PostQueue(leaf, gang.gang(), task, charges, 1);
  }
  for (const QueueIndex q : {from, leaf}) tables_.activator.UsageChanged(q);
}

void Holdings::Hold(GangIndex g, const TaskRecord& task) {
  const Charges charges = ChargesOf(g, task);
  if (!charges.has_place) return;
  PostCluster(g, task, charges, 1);
  Book(g, task, charges, 1);
}

void Holdings::HoldCharged(GangIndex g, const TaskRecord& task) {
  Book(g, task, ChargesOf(g, task), 1);
}

void Holdings::Unhold(GangIndex g, const TaskRecord& task) {
  const Charges charges = ChargesOf(g, task);
  if (!charges.has_place) return;
  Book(g, task, charges, -1);
  PostCluster(g, task, charges, -1);
  Freed(g, task.at.node, charges, {});
}

// Activates what may fit into what is held no more, and what waits for a
// release that does not come.
void Holdings::Freed(GangIndex g, NodeIndex n, const Charges& before,
                     const Charges& after) {
  const bool now =
      before.now > after.now || (before.releases() && !after.releases());
  const bool later = before.later > after.later;
  if (!now && !later) return;
  tables_.activator.RoomFreed(n, now && later ? Ledger::kBoth
                                 : now        ? Ledger::kNow
                                              : Ledger::kLater);
  const QueueIndex queue = tables_.gangs.at(g).queue;
  if (now || !after.releases()) {
    tables_.activator.UsageChanged(queue);
  } else {
    tables_.activator.UsageIsReleased(queue);
  }
}

void Holdings::Change(GangIndex g, TaskRecord& task, const TaskRecord& next) {
  const Charges before = ChargesOf(g, task), after = ChargesOf(g, next);
  const NodeIndex n = task.at.node;
  if (before.has_place != after.has_place) {
    Unhold(g, task);
    task = next;
    Hold(g, task);
    return;
  }
  // Only what differs is posted anew.
  const bool now = before.now != after.now, later = before.later != after.later;
  const Charges less{now ? before.now : Part::kNothing,
                     later ? before.later : Part::kNothing, true};
  const Charges more{now ? after.now : Part::kNothing,
                     later ? after.later : Part::kNothing, true};
  PostCluster(g, task, less, -1);
  PostCluster(g, task, more, 1);
  if (later || (now && (before.releases() || after.releases()))) {
    PostQueue(tables_.gangs.at(g).queue, g, task, before, -1);
    PostQueue(tables_.gangs.at(g).queue, g, task, after, 1);
    tables_.nodes.CountReleasing(n, after.releases() - before.releases());
  }
  task = next;
  Freed(g, n, before, after);
}

void Holdings::SetPhase(GangIndex g, TaskRecord& task, TaskPhase phase) {
  TaskRecord next = task;
  next.phase = phase;
  next.keeps &=
      phase == TaskPhase::kReleasing || phase == TaskPhase::kSuspended;
  next.keeps_place &= phase == TaskPhase::kReleasing;
  Change(g, task, next);
}

void Holdings::SetKeeps(GangIndex g, TaskRecord& task, bool keeps, bool place) {
  TaskRecord next = task;
  next.keeps = keeps;
  next.keeps_place = place;
  const bool takes = place && !task.keeps_place;
  Change(g, task, next);
  // Others may have been nominated for it.
  if (takes) tables_.nodes.AddOvercommitCandidate(task.at.node);
}

void Holdings::Move(GangIndex g, TaskRecord& task, const Allocation& to) {
  Unhold(g, task);
  task.at = to;
  Hold(g, task);
  tables_.nodes.AddOvercommitCandidate(to.node);
}

}  // namespace muster
