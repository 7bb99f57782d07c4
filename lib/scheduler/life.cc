#include "lib/scheduler/life.h"

#include <algorithm>

#include "lib/cluster/selector.h"
#include "lib/scheduler/eviction_backoff.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/scheduler_tables.h"

namespace muster {

void Life::Drop(GangEdit& gang, TaskId id) {
  TaskRecord* task = FindTask(*gang, id);
  tables_.answers.Settle(*gang, *task);
  tables_.holdings.Unhold(gang.gang(), *task);
  if (gang->phase == GangPhase::kStopping) gang->interrupted = true;
  if (IsLive(*gang)) tables_.activator.LosesTask(gang.gang());
  gang->tasks.erase(gang->tasks.begin() + (task - gang->tasks.data()));
}

void Life::FailStart(GangRecord& r) {
  const SchedulerConfig& config = tables_.config;
  ++r.failures;
  r.backoff_until = tables_.now + Doubled(config.backoff_base, r.failures - 1,
                                          config.backoff_max);
}

// A task that the gang counts goes, or is done. With it may go what held the
// rest firm, and others may be those that the gang can do without: of one role
// they were that before, unless what is done counts on.
void Life::ActivateVictimsOf(const GangRecord& r, TaskId task, bool done) {
  const GangSpec& spec = tables_.SpecOf(r);
  const std::vector<Role>& roles = spec.gang().roles;
  const bool shrinks = spec.elastic && tables_.config.host.shrink;
  if (!roles[task.role].preemptible ||
      (shrinks && (done || roles.size() > 1))) {
    tables_.activator.VictimsChanged(r);
  }
}

void Life::Succeed(GangEdit& gang, TaskRecord& task) {
  tables_.answers.Settle(*gang, task);
  tables_.holdings.SetPhase(gang.gang(), task, TaskPhase::kSucceeded);
}

void Life::AnswerLive(GangEdit& gang, TaskRecord& task, TaskOutcome outcome) {
  if (outcome == TaskOutcome::kStarted) {
    tables_.answers.Settle(*gang, task);
    tables_.holdings.SetPhase(gang.gang(), task, TaskPhase::kRunning);
    // What was placed anew runs, and with it all of the gang: the row is over.
    if (gang->failures > 0 && gang->phase == GangPhase::kRunning &&
        gang->repair_reason == ReasonCode::kNone &&
        !HasTask(*gang, TaskPhase::kStarting)) {
      gang->failures = 0;
    }
    return;
  }
  ActivateVictimsOf(*gang, task.task, outcome == TaskOutcome::kSucceeded);
  if (outcome == TaskOutcome::kSucceeded) {
    Succeed(gang, task);
  } else if (outcome == TaskOutcome::kLeaving) {
    tables_.answers.Settle(*gang, task);
    tables_.holdings.SetPhase(gang.gang(), task, TaskPhase::kReleasing);
  } else {
    if (outcome == TaskOutcome::kFailed) Lack(*gang, ReasonCode::kTaskFailed);
    Drop(gang, task.task);
  }
}

void Life::Lack(GangRecord& r, ReasonCode reason) {
  if (r.repair_reason == ReasonCode::kNodeLost) return;
  if (!Lacks(r)) r.since = tables_.now;
  r.repair_reason = reason;
}

// A task that went without having failed may be one that the gang needs.
void Life::NoteMissing(GangRecord& r, const PhaseCounts& n) {
  const GangSpec& spec = tables_.SpecOf(r);
  if (!IsLive(r) || r.repair_reason != ReasonCode::kNone || r.cancel ||
      n.live() >= spec.most_tasks) {
    return;
  }
  std::vector<uint32_t> counts;
  if (!MeetsMinimum(r, spec, &counts)) Lack(r, ReasonCode::kBelowMinimum);
}

// Whether a gang that is being suspended has what it needs without the task.
bool Life::RestsWhole(const GangRecord& r, const TaskRecord& without) const {
  const GangSpec& spec = tables_.SpecOf(r);
  std::vector<uint32_t> counts(spec.gang().roles.size());
  for (const TaskRecord& task : r.tasks) {
    const bool stays = task.phase == TaskPhase::kSuspended ||
                       task.phase == TaskPhase::kSucceeded ||
                       IsToBeSuspended(r, task);
    counts[task.task.role] += stays && task.task != without.task;
  }
  return IsSatisfied(spec, counts);
}

void Life::AnswerReleasing(GangEdit& gang, TaskRecord& task,
                           TaskOutcome outcome) {
  const bool suspending = IsToBeSuspended(*gang, task);
  const bool leaving = IsLeaving(task);
  if (outcome == TaskOutcome::kSuspended) {
    tables_.answers.Settle(*gang, task);
    tables_.holdings.SetPhase(gang.gang(), task, TaskPhase::kSuspended);
  } else if (outcome == TaskOutcome::kSucceeded &&
             (suspending || leaving || gang->phase == GangPhase::kStopping)) {
    if (IsLive(*gang)) ActivateVictimsOf(*gang, task.task, true);
    Succeed(gang, task);  // Before it could be stopped.
  } else {
    if (suspending || (leaving && gang->phase == GangPhase::kSuspending &&
                       !RestsWhole(*gang, task))) {
      gang->repair_reason = ReasonCode::kTaskFailed;  // Not whole.
    }
    Drop(gang, task.task);
  }
}

bool Life::Answer(GangEdit& gang, TaskId id, uint32_t attempt,
                  TaskOutcome outcome) {
  TaskRecord* task = FindTask(*gang, id);
  if (task == nullptr || (attempt != 0 && attempt != task->attempt)) {
    return false;  // Over: late or doubled.
  }
  const bool started = outcome == TaskOutcome::kStarted;
  if (outcome == TaskOutcome::kSuspended && !IsToBeSuspended(*gang, *task)) {
    return false;  // Overtaken, or answered twice.
  }
  if (outcome == TaskOutcome::kLeaving && task->phase != TaskPhase::kStarting &&
      task->phase != TaskPhase::kRunning) {
    return false;  // It stops already, or is nowhere.
  }
  switch (task->phase) {
    case TaskPhase::kNominated:
    case TaskPhase::kSucceeded:
      return false;
    case TaskPhase::kRunning:
      if (started) return false;
      [[fallthrough]];
    case TaskPhase::kStarting:
      AnswerLive(gang, *task, outcome);
      return true;
    case TaskPhase::kReleasing:
      if (started) return false;  // Overtaken.
      AnswerReleasing(gang, *task, outcome);
      return true;
    case TaskPhase::kSuspended:
      if (outcome == TaskOutcome::kSucceeded) {  // Just before it was.
        Succeed(gang, *task);
        return true;
      }
      if (gang->phase == GangPhase::kStopping && !started) {
        Drop(gang, id);
        return true;
      }
      if (started) return false;  // Overtaken.
      Drop(gang, id);
      gang->repair_reason = ReasonCode::kTaskFailed;
      return true;
  }
  return false;
}

void Life::Stop(GangEdit& gang) {
  while (!gang->tasks.empty()) Drop(gang, gang->tasks.back().task);
  gang->phase = GangPhase::kWaiting;
  gang->interrupted = false;
  gang->repair_reason = ReasonCode::kNone;
  EndRun(*gang, tables_.now, false);
  if (gang->cancel) gang.Leave();
}

void Life::Rest(GangRecord& r) {
  r.phase = GangPhase::kSuspended;
  EndRun(r, tables_.now, true);
  r.since = tables_.now;
  if (tables_.SpecOf(r).kept.empty()) return;
  tables_.activator.VictimsChanged(r);
}

// Nothing runs of it any more: no decision is needed to stop the rest.
void Life::EndLive(GangEdit& gang, const PhaseCounts& n) {
  const bool failed = gang->repair_reason == ReasonCode::kTaskFailed;
  if (n.in(TaskPhase::kReleasing) == 0) {
    Stop(gang);
  } else {
    gang->interrupted = gang->repair_reason == ReasonCode::kNodeLost;
    gang->repair_reason = ReasonCode::kNone;
    gang->phase = GangPhase::kStopping;
  }
  if (failed) FailStart(*gang);
}

void Life::UpdatePhase(GangEdit& gang, const PhaseCounts& n) {
  GangRecord& r = *gang;
  const uint32_t releasing = n.in(TaskPhase::kReleasing);
  const uint32_t suspended = n.in(TaskPhase::kSuspended);
  switch (r.phase) {
    case GangPhase::kStopping:
      if (releasing + suspended == 0) Stop(gang);
      break;
    case GangPhase::kSuspending:
      if (releasing == 0) suspended > 0 ? Rest(r) : Stop(gang);
      break;
    case GangPhase::kSuspended:
      if (suspended == 0) Stop(gang);
      break;
    case GangPhase::kStarting:
    case GangPhase::kRunning:
      if (n.live() == 0) {
        EndLive(gang, n);
      } else if (r.phase == GangPhase::kStarting &&
                 n.in(TaskPhase::kStarting) == 0 &&
                 r.repair_reason == ReasonCode::kNone) {
        r.phase = GangPhase::kRunning;
        if (r.backoff_until <= tables_.now) r.failures = 0;  // Surplus failed.
        r.started = tables_.now;
        // It may be no victim until it has run so long.
        if (ProtectionOf(tables_, r) > 0) {
          tables_.activator.VictimsChanged(r);
        }
      }
      break;
    case GangPhase::kWaiting:
      if (r.cancel) gang.Leave();
      break;
    case GangPhase::kNominated:
      break;
  }
}

// What it lost while it was to stop, it lacks from now on.
void Life::GoOn(GangEdit& gang) {
  GangRecord& r = *gang;
  if (!IsLive(r) && r.repair_reason != ReasonCode::kNone) r.since = tables_.now;
  if (r.phase == GangPhase::kStopping) UndoEviction(r);
  r.phase = GangPhase::kRunning;
  for (size_t i = r.tasks.size(); i-- > 0;) {
    if (r.tasks[i].phase == TaskPhase::kSuspended) Drop(gang, r.tasks[i].task);
  }
}

// Of the tasks that leave a gang that goes on, by task, those in whose place it
// needs others: no more than it takes, and all where these are too few.
std::vector<TaskId> Life::NeedsAgain(const GangRecord& r) const {
  std::vector<TaskId> needed;
  if (!IsLive(r) || r.cancel || !HasLeaving(r)) return needed;
  const GangSpec& spec = tables_.SpecOf(r);
  std::vector<uint32_t> counts;
  if (MeetsMinimum(r, spec, &counts)) return needed;
  for (const TaskRecord& task : r.tasks) {
    if (!IsLeaving(task)) continue;
    needed.push_back(task.task);
    ++counts[task.task.role];
  }
  std::erase_if(needed, [&](TaskId id) {
    --counts[id.role];
    const bool spare = IsSatisfied(spec, counts);
    counts[id.role] += !spare;
    return spare;
  });
  return needed;
}

// While its gang is to resume, a task is nominated for what it keeps.
void Life::UpdateKeeps(GangEdit& gang) {
  const bool may_keep = !tables_.SpecOf(gang.gang()).kept.empty();
  const std::vector<TaskId> needed = NeedsAgain(*gang);
  for (TaskRecord& task : gang->tasks) {
    const bool keeps = may_keep && Keeps(*gang, task);
    const bool place = std::ranges::binary_search(needed, task.task);
    if (task.keeps != keeps || task.keeps_place != place) {
      tables_.holdings.SetKeeps(gang.gang(), task, keeps, place);
    }
  }
}

// Whether all that it has to do is done. A task that it has lost, and not got
// again, is missing among its tasks.
bool Life::AllSucceeded(const GangRecord& r, const PhaseCounts& n) const {
  if (r.tasks.empty() || n.in(TaskPhase::kSucceeded) < r.tasks.size() ||
      r.interrupted || r.repair_reason == ReasonCode::kNodeLost ||
      r.repair_reason == ReasonCode::kTaskFailed) {
    return false;
  }
  std::vector<uint32_t> counts;
  return MeetsMinimum(r, tables_.SpecOf(r), &counts);
}

void Life::Update(GangEdit& gang) {
  if (gang->phase != GangPhase::kStopping) gang->interrupted = false;
  SettleMinimum(tables_, gang);
  if (gang->wanted != kNoSpec && !MayBeNominated(tables_, *gang)) {
    DropNominated(tables_, gang);
  }
  const PhaseCounts n(*gang);
  NoteMissing(*gang, n);
  if (AllSucceeded(*gang, n)) {
    while (!gang->tasks.empty()) Drop(gang, gang->tasks.back().task);
    gang.Leave();
    return;
  }
  UpdatePhase(gang, n);
  SettleMinimum(tables_, gang);  // It may hold nothing any more.
  UpdateKeeps(gang);
  gang->check_due = gang->repair_reason != ReasonCode::kNone ||
                    gang->phase == GangPhase::kNominated ||
                    (gang->cancel && gang->phase != GangPhase::kStopping) ||
                    (gang->check_due &&
                     (LooksForRaised(tables_, *gang) || IsNominated(*gang)));
}

void Life::Flag(GangIndex g, ReasonCode reason) {
  if (tables_.gangs.at(g).repair_reason == ReasonCode::kNodeLost) return;
  GangEdit gang(tables_, g);
  gang->repair_reason = reason;
  gang->check_due = true;
}

void Life::UndoNomination(GangIndex g) {
  GangEdit gang(tables_, g);
  if (gang->phase == GangPhase::kNominated) {
    Stop(gang);
    return Update(gang);
  }
  DropNominated(tables_, gang);
  gang->check_due = true;
  Update(gang);
}

Time BorneUntil(const Cluster& cluster, const TaskRecord& task) {
  Time until = kForever;
  for (const Taint& taint : cluster.node(task.at.node).taints) {
    until =
        std::min(until, BorneUntil(cluster.tolerations(task.at.shape), taint));
  }
  return until;
}

Time BorneUntil(const SchedulerTables& tables, const GangRecord& r) {
  Time until = kForever;
  if (!tables.config.host.evicts_taints) return until;
  for (const TaskRecord& task : r.tasks) {
    if (task.phase == TaskPhase::kStarting ||
        task.phase == TaskPhase::kRunning) {
      until = std::min(until, BorneUntil(tables.cluster, task));
    }
  }
  return until;
}

bool Life::MustLeave(const GangRecord& r, const TaskRecord& task) const {
  if (task.phase > TaskPhase::kRunning) return false;
  if (IsBeyond(tables_.SpecOf(r).gang(), task.task)) return true;
  const NodeRecords::Facts& node = tables_.nodes.facts(task.at.node);
  if (node.draining || node.spot_notice != kForever) return true;
  const Time until = BorneUntil(tables_.cluster, task);
  if (task.phase == TaskPhase::kNominated) return until != kForever;
  return tables_.config.host.evicts_taints && until <= tables_.now;
}

ReasonCode Life::WhyLeaves(const GangRecord& r) const {
  const std::vector<TaskId> leaving = Leaving(r);
  if (leaving.empty()) return ReasonCode::kNone;
  const Gang& gang = tables_.SpecOf(r).gang();
  return std::ranges::all_of(leaving,
                             [&](TaskId id) { return IsBeyond(gang, id); })
             ? ReasonCode::kResized
             : ReasonCode::kNodeDrained;
}

std::vector<TaskId> Life::Leaving(const GangRecord& r) const {
  std::vector<TaskId> leaving;
  for (const TaskRecord& task : r.tasks) {
    if (MustLeave(r, task)) leaving.push_back(task.task);
  }
  return leaving;
}

}  // namespace muster
