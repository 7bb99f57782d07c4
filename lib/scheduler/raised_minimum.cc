#include "lib/scheduler/raised_minimum.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lib/scheduler/scheduler_tables.h"

namespace muster {
namespace {

// What it has of the spec, a Ref of it included, it has of `next`.
void SetSpec(SchedulerTables& tables, GangEdit& gang, SpecIndex next) {
  if (next == gang->spec) return;
  const GangSpec& from = tables.specs.at(gang->spec);
  const GangSpec& to = tables.specs.at(next);
  for (TaskRecord& task : gang->tasks) {
    const uint32_t a = AlternativeOf(from, task.task, task.at.shape);
    const ShapeId shape = to.prepared.shapes[task.task.role][a];
    tables.holdings.SetShape(gang.gang(), task, shape);
  }
  tables.specs.Ref(next);
  tables.specs.Unref(gang->spec, tables.cluster);
  gang->spec = next;
}

// The one spec that it has is the given one.
void ForgetUnder(SchedulerTables& tables, GangEdit& gang) {
  if (gang->wanted == kNoSpec) return;
  DropNominated(tables, gang);
  SetSpec(tables, gang, gang->wanted);
  for (SpecIndex* s : {&gang->wanted, &gang->under}) {
    tables.specs.Unref(std::exchange(*s, kNoSpec), tables.cluster);
  }
}

bool IsOneGroup(const Group& a, const Group& b) {
  return a.name == b.name && a.parent == b.parent;
}

uint32_t LeastChildren(const Group& before, const Group& changed) {
  // 0: all. What was not asked before is optional.
  if (before.min_children == 0 || changed.min_children == 0) {
    return before.min_children;
  }
  return std::min(before.min_children, changed.min_children);
}

bool Holds(const GangRecord& r) {
  return r.phase != GangPhase::kWaiting && r.phase != GangPhase::kNominated;
}

}  // namespace

GangMinimum MinimumOf(const Gang& gang) {
  GangMinimum minimum;
  for (const Role& role : gang.roles) {
    minimum.role_tasks.push_back(role.min_tasks);
  }
  for (const Group& group : gang.groups) {
    minimum.group_tasks.push_back(group.min_tasks);
    minimum.group_children.push_back(group.min_children);
  }
  return minimum;
}

Gang WithMinimum(Gang gang, const GangMinimum& minimum) {
  for (size_t i = 0; i < gang.roles.size(); ++i) {
    gang.roles[i].min_tasks = minimum.role_tasks[i];
  }
  for (size_t i = 0; i < gang.groups.size(); ++i) {
    gang.groups[i].min_tasks = minimum.group_tasks[i];
    gang.groups[i].min_children = minimum.group_children[i];
  }
  return gang;
}

GangMinimum MinimumToGoOn(const Gang& before, const Gang& changed,
                          std::span<const uint32_t> counts) {
  const auto satisfies = [&](const GangMinimum& minimum,
                             std::span<const uint32_t> tasks) {
    return Satisfaction(WithMinimum(changed, minimum), tasks).satisfied[0] != 0;
  };
  GangMinimum least = MinimumOf(changed);
  for (size_t i = 0; i < changed.roles.size(); ++i) {
    const bool known = i < before.roles.size() &&
                       before.roles[i].name == changed.roles[i].name;
    least.role_tasks[i] =
        known ? std::min(least.role_tasks[i], before.roles[i].min_tasks) : 0;
  }
  for (size_t i = 0; i < changed.groups.size(); ++i) {
    const bool known = i < before.groups.size() &&
                       IsOneGroup(before.groups[i], changed.groups[i]);
    least.group_tasks[i] =
        known ? std::min(least.group_tasks[i], before.groups[i].min_tasks) : 0;
    least.group_children[i] =
        known ? LeastChildren(before.groups[i], changed.groups[i]) : 0;
  }
  std::vector<uint32_t> had(counts.begin(), counts.end());
  had.resize(before.roles.size());
  const bool was_whole = Satisfaction(before, had).satisfied[0] != 0;
  if (was_whole && !satisfies(least, counts)) {
    least = MinimumOf(changed);
    for (size_t i = 0; i < changed.roles.size(); ++i) {
      least.role_tasks[i] = std::min(least.role_tasks[i], counts[i]);
    }
    std::ranges::fill(least.group_tasks, 0);
    std::ranges::fill(least.group_children, 0);
  }
  const std::vector<uint32_t> nothing(changed.roles.size());
  if (satisfies(least, nothing)) least.group_tasks[0] = 1;
  return least;
}

void ChangeSpec(SchedulerTables& tables, GangEdit& gang, SpecIndex next) {
  SpecIndex under = kNoSpec;
  if (Holds(*gang)) {
    const GangSpec& before =
        tables.specs.at(gang->wanted == kNoSpec ? gang->spec : gang->under);
    const Gang& changed = tables.specs.at(next).gang();
    std::vector<uint32_t> counts;
    CountTasks(*gang, tables.specs.at(next), &counts);
    under = tables.specs.Intern(
        WithMinimum(changed, MinimumToGoOn(before.gang(), changed, counts)),
        tables.cluster);
  }
  ForgetUnder(tables, gang);
  SetSpec(tables, gang, next);
  tables.specs.Unref(next, tables.cluster);
  if (under != kNoSpec) RunUnder(tables, gang, under);
}

bool MayBeNominated(const SchedulerTables& tables, const GangRecord& r) {
  return r.wanted != kNoSpec && r.spec != r.wanted && IsLive(r) &&
         r.repair_reason == ReasonCode::kNone && !r.cancel &&
         (HasTask(r, TaskPhase::kStarting) ||
          HasTask(r, TaskPhase::kRunning)) &&
         !(tables.SpecOf(r).sliced && HasTask(r, TaskPhase::kSucceeded));
}

void DropNominated(SchedulerTables& tables, GangEdit& gang) {
  if (gang->phase == GangPhase::kNominated) return;
  for (size_t i = gang->tasks.size(); i-- > 0;) {
    const TaskRecord& task = gang->tasks[i];
    if (task.phase == TaskPhase::kNominated) {
      tables.life.Drop(gang, task.task);
    }
  }
}

void RunUnder(SchedulerTables& tables, GangEdit& gang, SpecIndex under) {
  if (under == gang->spec) return tables.specs.Unref(under, tables.cluster);
  gang->under = under;
  gang->wanted = gang->spec;
  tables.specs.Ref(gang->wanted);
}

void SettleMinimum(SchedulerTables& tables, GangEdit& gang) {
  if (gang->wanted == kNoSpec) return;
  std::vector<uint32_t> scratch;
  const bool holds = Holds(*gang);
  const bool whole =
      MeetsMinimum(*gang, tables.specs.at(gang->wanted), &scratch);
  const bool goes_on =
      MeetsMinimum(*gang, tables.specs.at(gang->under), &scratch);
  const SpecIndex was = gang->spec;
  if (!holds ||
      (whole && (!goes_on || !HasTask(*gang, TaskPhase::kStarting)))) {
    ForgetUnder(tables, gang);
  } else {
    SetSpec(tables, gang, whole ? gang->wanted : gang->under);
  }
  if (gang->spec != was && holds) tables.activator.VictimsChanged(*gang);
}

bool LooksForRaised(const SchedulerTables& tables, const GangRecord& r) {
  return MayBeNominated(tables, r) && r.backoff_until <= tables.now &&
         !HasTask(r, TaskPhase::kReleasing);
}

}  // namespace muster
