// Events about queues and priority classes.
#include <ranges>
#include <string>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"

namespace muster {
namespace {

// The parent is there, and may have this queue below it.
absl::Status CheckParent(const Core& core, const Queue& queue) {
  if (queue.parent.empty()) return absl::OkStatus();
  const std::string field = absl::StrCat("queue '", queue.key, "'.parent: ");
  const QueueIndex parent = core.queues.Find(queue.parent);
  const bool is_itself = queue.parent == queue.key;
  if (parent == kNoQueue && !is_itself) {
    return NotFound(field, "'", queue.parent, "' is not known");
  }
  const QueueIndex known = core.queues.Find(queue.key);
  if (is_itself || (known != kNoQueue && core.queues.IsWithin(parent, known))) {
    return Invalid(field, "'", queue.parent,
                   "' is the queue itself, or below it");
  }
  if (core.queues.at(parent).gangs > 0) {
    return NotNow(field, "'", queue.parent,
                  "' holds gangs, which only a leaf does");
  }
  const uint32_t below = known == kNoQueue ? 0 : core.queues.HeightOf(known);
  if (core.queues.at(parent).depth + 1 + below > Queue::kMaxDepth) {
    return Invalid(field, "the tree would be deeper than ", Queue::kMaxDepth);
  }
  return absl::OkStatus();
}

// The kinds for which queues compete: they decide from whom may be taken back.
uint64_t Contested(const Core& core) {
  uint64_t kinds = 0;
  for (ResourceKind k = 0; k < core.queues.kinds(); ++k) {
    kinds |= uint64_t{core.queues.IsContested(k)} << k;
  }
  return kinds;
}

auto GangsOfClass(const Core& core, uint32_t position) {
  return core.gangs.Positions() |
         std::views::filter([&core, position](GangIndex g) {
           return core.gangs.at(g).priority_class == position;
         });
}

}  // namespace

absl::Status Take(Core& core, const QueueChanged& e) {
  const Queue& queue = e.queue;
  MUSTER_RETURN_IF_ERROR(CheckParent(core, queue));
  const QueueIndex known = core.queues.Find(queue.key);
  if (known != kNoQueue && core.queues.at(known).queue == queue) {
    return absl::OkStatus();
  }
  if (known == kNoQueue) {
    const uint64_t contested = Contested(core);
    const QueueIndex q = core.queues.Upsert(queue);
    core.undo.Changed([&core, q] { core.queues.UndoAdd(q); });
    if (Contested(core) != contested) core.opener.AllVictims();
    return absl::OkStatus();
  }
  const Queue old = core.queues.at(known).queue;
  const QueueIndex was_below = core.queues.at(known).parent;
  core.queues.Upsert(queue);
  core.undo.Changed([&core, old] { core.queues.Upsert(old); });
  core.opener.QueueChanged(known);
  const QueueIndex below = core.queues.at(known).parent;
  if (below == was_below) return absl::OkStatus();
  // What it uses went with it.
  for (const QueueIndex q : {was_below, below}) core.opener.UsageChanged(q);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const QueueRemoved& e) {
  const QueueIndex q = core.queues.Find(e.queue);
  if (q == kNoQueue) return NotFound("queue '", e.queue, "' is not known");
  if (!core.queues.IsLeaf(q) || core.queues.at(q).gangs > 0) {
    return NotNow("queue '", e.queue, "' has children or gangs");
  }
  const Queue old = core.queues.at(q).queue;
  const uint64_t contested = Contested(core);
  core.queues.Remove(q);
  core.undo.Changed([&core, old] { core.queues.UndoRemove(old); });
  if (Contested(core) != contested) core.opener.AllVictims();
  return absl::OkStatus();
}

absl::Status Take(Core& core, const PriorityClassChanged& e) {
  const uint32_t known = core.classes.Find(e.priority_class.key);
  if (known == PriorityClasses::kNone) {
    const uint32_t position = core.classes.Upsert(e.priority_class);
    core.undo.Changed([&core, position] { core.classes.UndoAdd(position); });
    return absl::OkStatus();
  }
  const PriorityClass old = core.classes.at(known);
  if (old == e.priority_class) return absl::OkStatus();
  // Ranks hold the value: gangs of the class move.
  auto members = GangsOfClass(core, known);
  if (old.value != e.priority_class.value) {
    for (const GangIndex g : members) core.undo.Touch(g);
  }
  core.classes.Upsert(e.priority_class);
  core.undo.Changed([&core, old] { core.classes.Upsert(old); });
  for (const GangIndex g : members) GangEdit(core, g);
  core.opener.AllVictims();
  return absl::OkStatus();
}

absl::Status Take(Core& core, const PriorityClassRemoved& e) {
  const uint32_t known = core.classes.Find(e.priority_class);
  if (known == PriorityClasses::kNone || e.priority_class.empty()) {
    return NotFound("priority class '", e.priority_class, "' is not known");
  }
  if (!GangsOfClass(core, known).empty()) {
    return NotNow("priority class '", e.priority_class, "' has gangs");
  }
  const PriorityClass old = core.classes.at(known);
  core.undo.Changed([&core, old] { core.classes.UndoRemove(old); });
  core.classes.Remove(known);
  return absl::OkStatus();
}

absl::Status Take(Core& core, const DisruptionBudgetChanged& e) {
  const DisruptionBudget& budget = e.budget;
  const DisruptionBudget* known = core.budgets.Find(budget.key);
  if (known == nullptr && budget.gangs.empty()) {
    return NotFound("budget '", budget.key, "' is not known");
  }
  if (known != nullptr && *known == budget) return absl::OkStatus();
  const DisruptionBudget old =
      known == nullptr ? DisruptionBudget{.key = budget.key} : *known;
  core.undo.Changed([&core, old] { core.budgets.Put(old); });
  core.budgets.Put(budget);
  core.opener.AllVictims();
  return absl::OkStatus();
}

}  // namespace muster
