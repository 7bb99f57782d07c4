#include "lib/scheduler/gang_table.h"

#include <algorithm>

namespace muster {

std::vector<TaskRecord>::iterator TaskPlace(GangRecord& r, TaskId id) {
  return std::ranges::lower_bound(r.tasks, id, {}, &TaskRecord::task);
}

TaskRecord* FindTask(GangRecord& r, TaskId id) {
  const auto it = TaskPlace(r, id);
  return it != r.tasks.end() && it->task == id ? &*it : nullptr;
}

const TaskRecord* FindTask(const GangRecord& r, TaskId id) {
  return FindTask(const_cast<GangRecord&>(r), id);
}

void CountTasks(const GangRecord& r, const GangSpec& spec,
                std::vector<uint32_t>* counts) {
  counts->assign(spec.gang().roles.size(), 0);
  const bool nominated = r.phase == GangPhase::kNominated;
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kReleasing &&
        task.phase != TaskPhase::kSuspended &&
        (nominated || task.phase != TaskPhase::kNominated)) {
      ++(*counts)[task.task.role];
    }
  }
}

bool MeetsMinimum(const GangRecord& r, const GangSpec& spec,
                  std::vector<uint32_t>* scratch) {
  CountTasks(r, spec, scratch);
  return IsSatisfied(spec, *scratch);
}

void HeldTasks(const GangRecord& r, std::vector<Assignment>* out) {
  out->clear();
  out->reserve(r.tasks.size());
  for (const TaskRecord& task : r.tasks) {
    if (task.phase <= TaskPhase::kRunning) out->push_back({task.task, task.at});
  }
}

std::optional<Allocation> TakeableOf(const GangRecord& r, const GangSpec& spec,
                                     const TaskRecord& task) {
  if (task.phase == TaskPhase::kNominated && r.phase != GangPhase::kNominated) {
    return std::nullopt;
  }
  if (task.phase <= TaskPhase::kRunning) return task.at;
  if (r.phase != GangPhase::kSuspended || task.phase != TaskPhase::kSuspended) {
    return std::nullopt;
  }
  return KeptOf(spec, task.at);
}

void TakeableTasks(const GangRecord& r, const GangSpec& spec,
                   std::vector<Assignment>* out) {
  out->clear();
  for (const TaskRecord& task : r.tasks) {
    if (const auto at = TakeableOf(r, spec, task)) {
      out->push_back({task.task, *at});
    }
  }
}

bool HasTask(const GangRecord& r, TaskPhase phase) {
  return std::ranges::find(r.tasks, phase, &TaskRecord::phase) != r.tasks.end();
}

bool IsNominated(const GangRecord& r) {
  return r.phase == GangPhase::kNominated ||
         (r.wanted != kNoSpec && HasTask(r, TaskPhase::kNominated));
}

bool IsLeaving(const TaskRecord& task) {
  return task.phase == TaskPhase::kReleasing && task.pending_seq == 0;
}

bool HasLeaving(const GangRecord& r) {
  return std::ranges::any_of(r.tasks, IsLeaving);
}

bool IsToBeSuspended(const GangRecord& r, const TaskRecord& task) {
  return r.phase == GangPhase::kSuspending &&
         task.phase == TaskPhase::kReleasing && !IsLeaving(task) &&
         !IsShrunk(r, task);
}

bool IsShrunk(const GangRecord& r, const TaskRecord& task) {
  return std::ranges::any_of(r.pending, [&](const PendingRecord& pending) {
    return pending.seq == task.pending_seq &&
           pending.kind == DecisionKind::kShrink;
  });
}

bool Keeps(const GangRecord& r, const TaskRecord& task) {
  return (r.phase == GangPhase::kSuspending ||
          r.phase == GangPhase::kSuspended) &&
         (task.phase == TaskPhase::kReleasing ||
          task.phase == TaskPhase::kSuspended) &&
         !IsLeaving(task) && !IsShrunk(r, task);
}

bool Lacks(const GangRecord& r) {
  return IsLive(r) && (r.repair_reason == ReasonCode::kTaskFailed ||
                       r.repair_reason == ReasonCode::kBelowMinimum);
}

Unsaved UnsavedOf(const GangRecord& r) {
  if (r.phase != GangPhase::kRunning) return {r.unsaved};
  if (r.checkpoint >= r.started) return {0, r.checkpoint};
  return {r.unsaved, r.started};
}

Duration UnsavedWork(const GangRecord& r, Time now) {
  const auto [before, since] = UnsavedOf(r);
  return before + std::max<Duration>(now - since, 0);
}

void EndRun(GangRecord& r, Time now, bool suspended) {
  if (r.started != kForever) {
    const Duration ran = std::max<Duration>(now - r.started, 0);
    const Duration covered =
        std::clamp<Duration>(r.checkpoint - r.started, 0, ran);
    r.run_time += std::min(ran, kMaxTime - r.run_time);
    if (r.checkpoint >= r.started) Save(r, covered);
    r.unsaved = std::min(r.unsaved + ran - covered, r.run_time - r.saved);
  }
  if (!suspended) r.unsaved = 0;
  r.started = kForever;
}

void Save(GangRecord& r, Duration more) {
  r.saved = std::min(r.saved + r.unsaved + more, r.run_time);
  r.unsaved = 0;
}

Time SuspendedUntil(const SchedulerConfig& config, const GangRecord& r) {
  return r.held || config.suspend_timeout == 0
             ? kForever
             : r.since + config.suspend_timeout;
}

uint32_t AlternativeOf(const GangSpec& spec, TaskId task, ShapeId shape) {
  const std::vector<ShapeId>& shapes = spec.prepared.shapes[task.role];
  const auto it = std::ranges::find(shapes, shape);
  return it == shapes.end() ? 0 : static_cast<uint32_t>(it - shapes.begin());
}

Time SparedUntil(const GangRecord& r) {
  return r.failures == 0 ? r.backoff_until : 0;
}

Gang Describe(const GangRecord& r, const GangSpec& spec) {
  Gang gang = spec.gang();
  r.PutInto(gang);
  return gang;
}

}  // namespace muster
