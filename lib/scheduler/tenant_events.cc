// Events about queues and priority classes.
#include <ranges>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"

namespace muster {
namespace {

// The parent is there, and may have this queue below it.
absl::Status CheckParent(const SchedulerTables& tables, const Queue& queue) {
  if (queue.parent.empty()) return absl::OkStatus();
  const std::string field = absl::StrCat("queue '", queue.key, "'.parent: ");
  const QueueIndex parent = tables.queues.Find(queue.parent);
  const bool is_itself = queue.parent == queue.key;
  if (parent == kNoQueue && !is_itself) {
    return NotFound(field, "'", queue.parent, "' is not known");
  }
  const QueueIndex known = tables.queues.Find(queue.key);
  if (is_itself ||
      (known != kNoQueue && tables.queues.IsWithin(parent, known))) {
    return Invalid(field, "'", queue.parent,
                   "' is the queue itself, or below it");
  }
  if (tables.queues.at(parent).gangs > 0) {
    return NotNow(field, "'", queue.parent,
                  "' holds gangs, which only a leaf does");
  }
  const uint32_t below = known == kNoQueue ? 0 : tables.queues.HeightOf(known);
  if (tables.queues.at(parent).depth + 1 + below > Queue::kMaxDepth) {
    return Invalid(field, "the tree would be deeper than ", Queue::kMaxDepth);
  }
  return absl::OkStatus();
}

// What a queue is guaranteed bounds queues above it that state no guarantee,
// but how much more may be borrowed.
void BoundsChange(SchedulerTables& tables, QueueIndex below) {
  for (QueueIndex q = below; q != kNoQueue; q = tables.queues.at(q).parent) {
    if (tables.queues.at(q).sums_below) tables.activator.QueueChanged(q);
  }
}

auto GangsOfClass(const SchedulerTables& tables, uint32_t position) {
  return tables.gangs.Positions() |
         std::views::filter([&tables, position](GangIndex g) {
           return tables.gangs.at(g).priority_class == position;
         });
}

}  // namespace

absl::Status Take(SchedulerTables& tables, const QueueChanged& e) {
  const Queue& queue = e.queue;
  MUSTER_RETURN_IF_ERROR(CheckParent(tables, queue));
  const QueueIndex known = tables.queues.Find(queue.key);
  if (known != kNoQueue && tables.queues.at(known).queue == queue) {
    return absl::OkStatus();
  }
  if (known == kNoQueue) {
    const QueueIndex q = tables.queues.Upsert(queue);
    tables.undo.Changed([&tables, q] { tables.queues.UndoAdd(q); });
    BoundsChange(tables, tables.queues.at(q).parent);
    return absl::OkStatus();
  }
  const Queue old = tables.queues.at(known).queue;
  const QueueIndex was_below = tables.queues.at(known).parent;
  tables.queues.Upsert(queue);
  tables.undo.Changed([&tables, old] { tables.queues.Upsert(old); });
  tables.activator.QueueChanged(known);
  const QueueIndex below = tables.queues.at(known).parent;
  BoundsChange(tables, was_below);
  BoundsChange(tables, below);
  if (below == was_below) return absl::OkStatus();
  // What it uses went with it.
  for (const QueueIndex q : {was_below, below})
    tables.activator.UsageChanged(q);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const QueueRemoved& e) {
  const QueueIndex q = tables.queues.Find(e.queue);
  if (q == kNoQueue) return NotFound("queue '", e.queue, "' is not known");
  if (!tables.queues.IsLeaf(q) || tables.queues.at(q).gangs > 0) {
    return NotNow("queue '", e.queue, "' has children or gangs");
  }
  const Queue old = tables.queues.at(q).queue;
  const QueueIndex parent = tables.queues.at(q).parent;
  tables.queues.Remove(q);
  tables.undo.Changed([&tables, old] { tables.queues.UndoRemove(old); });
  BoundsChange(tables, parent);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const PriorityClassChanged& e) {
  const uint32_t known = tables.classes.Find(e.priority_class.key);
  if (known == PriorityClasses::kNone) {
    const uint32_t position = tables.classes.Upsert(e.priority_class);
    tables.undo.Changed(
        [&tables, position] { tables.classes.UndoAdd(position); });
    return absl::OkStatus();
  }
  const PriorityClass old = tables.classes.at(known);
  if (old == e.priority_class) return absl::OkStatus();
  // Ranks hold the value: gangs of the class move.
  auto members = GangsOfClass(tables, known);
  if (old.value != e.priority_class.value) {
    for (const GangIndex g : members) tables.undo.Touch(g);
  }
  tables.classes.Upsert(e.priority_class);
  tables.undo.Changed([&tables, old] { tables.classes.Upsert(old); });
  for (const GangIndex g : members) GangEdit(tables, g);
  tables.activator.AllVictims();
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const PriorityClassRemoved& e) {
  const uint32_t known = tables.classes.Find(e.priority_class);
  if (known == PriorityClasses::kNone || e.priority_class.empty()) {
    return NotFound("priority class '", e.priority_class, "' is not known");
  }
  if (!GangsOfClass(tables, known).empty()) {
    return NotNow("priority class '", e.priority_class, "' has gangs");
  }
  const PriorityClass old = tables.classes.at(known);
  tables.undo.Changed([&tables, old] { tables.classes.UndoRemove(old); });
  tables.classes.Remove(known);
  return absl::OkStatus();
}

absl::Status Take(SchedulerTables& tables, const DisruptionBudgetChanged& e) {
  const DisruptionBudget& budget = e.budget;
  const DisruptionBudget* known = tables.budgets.Find(budget.key);
  if (known == nullptr && budget.gangs.empty()) {
    return NotFound("budget '", budget.key, "' is not known");
  }
  if (known != nullptr && *known == budget) return absl::OkStatus();
  const DisruptionBudget old =
      known == nullptr ? DisruptionBudget{.key = budget.key} : *known;
  tables.undo.Changed([&tables, old] { tables.budgets.Put(old); });
  tables.budgets.Put(budget);
  tables.activator.AllVictims();
  return absl::OkStatus();
}

}  // namespace muster
