// What a decision does to the state, whether it was just made or is replayed.
#include <algorithm>
#include <span>
#include <utility>

#include "lib/scheduler/impl.h"

namespace muster {

// Starts writing a decision; tasks are added to it until the pass ends.
uint32_t Scheduler::Impl::Draft(DecisionKind kind, const Reason& reason,
                                GangIndex g, GangIndex on_behalf_of) {
  const uint32_t draft = static_cast<uint32_t>(drafts_.size());
  DraftDecision& d = drafts_.emplace_back();
  const GangRecord& r = gangs.at(g);
  d.gang = g;
  d.decision.seq = next_seq++;
  d.decision.kind = kind;
  d.decision.reason = reason;
  d.decision.gang = {g, r.generation};
  if (plan_ != nullptr) d.decision.gang_key = plan_->AddText(r.key);
  if (on_behalf_of != GangStore::kNoGang) {
    const GangRecord& winner = gangs.at(on_behalf_of);
    d.decision.on_behalf_of = {on_behalf_of, winner.generation};
    if (plan_ != nullptr) {
      d.decision.on_behalf_key = plan_->AddText(winner.key);
    }
  }
  const bool stops =
      kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
      kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
  if (stops && config.host.grace) {
    d.decision.grace = classes[r.priority_class].grace;
  }
  return draft;
}

void Scheduler::Impl::DraftTask(uint32_t draft, const GangRecord& r,
                                const TaskRecord& task) {
  ++drafts_[draft].count;
  if (plan_ == nullptr) return;
  const Template& t = gangs.description(r.description);
  PlannedTask planned;
  planned.task = task.task;
  planned.attempt = task.attempt;
  planned.node = cluster.id(task.at.node);
  planned.node_key = plan_->AddText(cluster.node(task.at.node).key);
  planned.devices = config.host.choose_devices ? task.at.devices : 0;
  planned.booked = task.at.devices;
  planned.slot = task.at.slot;
  planned.alternative = AlternativeOf(t, task);
  planned.wave = t.waves[task.task.role];
  draft_tasks_.emplace_back(draft, planned);
}

uint32_t Scheduler::Impl::AlternativeOf(const Template& t,
                                        const TaskRecord& task) const {
  const std::vector<ShapeId>& shapes = t.prepared.shapes[task.task.role];
  const auto it = std::find(shapes.begin(), shapes.end(), task.at.shape);
  return it == shapes.end() ? 0 : static_cast<uint32_t>(it - shapes.begin());
}

// Growth joins in turns whose length depends on who else tried to grow: that is
// not to be seen.
void Scheduler::Impl::SortTasks(Plan* plan, const Decision& d) {
  const auto tasks = std::span(plan->tasks).subspan(d.first_task, d.task_count);
  const auto before = [](const PlannedTask& a, const PlannedTask& b) {
    return a.task < b.task;
  };
  if (std::is_sorted(tasks.begin(), tasks.end(), before)) return;
  std::sort(tasks.begin(), tasks.end(), before);
}

// Writes the drafts into the plan, each with its tasks side by side.
void Scheduler::Impl::Flatten(Plan* plan) {
  uint32_t first = 0;
  for (DraftDecision& d : drafts_) {
    d.decision.first_task = first;
    first += d.count;
  }
  plan->tasks.resize(first);
  std::vector<uint32_t>& next = cursor_scratch_;
  next.assign(drafts_.size(), 0);
  for (const auto& [draft, task] : draft_tasks_) {
    plan->tasks[drafts_[draft].decision.first_task + next[draft]++] = task;
  }
  for (DraftDecision& d : drafts_) {
    gangs.at(d.gang).draft = kNoDraft;
    d.decision.task_count = d.count;
    if (d.decision.kind == DecisionKind::kStart ||
        d.decision.kind == DecisionKind::kGrow) {
      SortTasks(plan, d.decision);
    }
    const bool of_nomination =
        d.decision.kind == DecisionKind::kNominate || d.withdraws;
    if (of_nomination && !config.host.nominate) {
      plan->untold.push_back(d.decision);
      continue;
    }
    plan->decisions.push_back(d.decision);
  }
}

// Called with the gang delisted. The assignments are charged in the cluster;
// the queue is charged here, and each task given its attempt.
void Scheduler::Impl::AddTasks(GangIndex g, std::span<const Assignment> tasks,
                               TaskPhase phase, uint32_t draft) {
  GangRecord& r = gangs.at(g);
  const bool starts = phase == TaskPhase::kStarting;
  const uint64_t seq = drafts_[draft].decision.seq;
  if (starts) ++r.attempts;
  for (const Assignment& a : tasks) {
    TaskRecord task;
    task.task = a.task;
    task.phase = phase;
    task.at = a.at;
    task.attempt = starts ? r.attempts : 0;
    task.open_seq = starts ? seq : 0;
    exceeded_ |= queues.Charge(r.queue, UsageOf(a.at), 1);
    const auto place = std::lower_bound(
        r.tasks.begin(), r.tasks.end(), a.task,
        [](const TaskRecord& t, TaskId id) { return t.task < id; });
    DraftTask(draft, r, *r.tasks.insert(place, task));
  }
  if (starts && !tasks.empty()) Owe(g, draft, tasks.size());
}

// The draft's decision is open until `count` more tasks have answered.
void Scheduler::Impl::Owe(GangIndex g, uint32_t draft, size_t count) {
  GangRecord& r = gangs.at(g);
  const Decision& d = drafts_[draft].decision;
  if (r.open.empty() || r.open.back().seq != d.seq) {
    OpenRecord& open = r.open.emplace_back();
    open.seq = d.seq;
    open.kind = d.kind;
    if (d.on_behalf_of.valid()) {
      open.on_behalf_of = gangs.at(d.on_behalf_of.index).key;
    }
    open_[d.seq] = g;
  }
  r.open.back().unanswered += static_cast<uint32_t>(count);
}

void Scheduler::Impl::CommitStart(GangIndex g,
                                  std::span<const Assignment> tasks,
                                  const Reason& reason) {
  Delist(g);
  GangRecord& r = gangs.at(g);
  const uint32_t draft =
      Draft(DecisionKind::kStart, reason, g, GangStore::kNoGang);
  r.phase = GangPhase::kStarting;
  r.draft = draft;
  AddTasks(g, tasks, TaskPhase::kStarting, draft);
  ++started_version_;
  Enlist(g);
}

// Joins the decision that started or grew the gang in this pass. What is placed
// again for a failed task is a decision of its own.
void Scheduler::Impl::CommitGrow(GangIndex g, std::span<const Assignment> tasks,
                                 const Reason& reason) {
  Delist(g);
  GangRecord& r = gangs.at(g);
  const bool joins = r.draft != kNoDraft;
  const uint32_t draft =
      joins ? r.draft
            : Draft(DecisionKind::kGrow, reason, g, GangStore::kNoGang);
  if (joins) --r.attempts;  // The same start: the same attempt.
  AddTasks(g, tasks, TaskPhase::kStarting, draft);
  if (!joins) r.trouble = ReasonCode::kNone;
  if (reason.code == ReasonCode::kTaskFailed) {
    ++r.failures;
  } else {
    r.draft = draft;
  }
  ++started_version_;
  Enlist(g);
}

void Scheduler::Impl::CommitNominate(GangIndex g,
                                     std::span<const Assignment> tasks,
                                     const Reason& reason) {
  Delist(g);
  gangs.at(g).phase = GangPhase::kNominated;
  const uint32_t draft =
      Draft(DecisionKind::kNominate, reason, g, GangStore::kNoGang);
  gangs.at(g).draft = draft;
  AddTasks(g, tasks, TaskPhase::kNominated, draft);
  Enlist(g);
}

void Scheduler::Impl::CommitNominatedStart(GangIndex g) {
  Delist(g);
  GangRecord& r = gangs.at(g);
  const Reason reason{.code = ReasonCode::kReleased};
  const uint32_t draft =
      Draft(DecisionKind::kStart, reason, g, GangStore::kNoGang);
  r.phase = GangPhase::kStarting;
  r.draft = draft;
  ++r.attempts;
  for (TaskRecord& task : r.tasks) {
    SetPhase(r, task, TaskPhase::kStarting);
    task.attempt = r.attempts;
    task.open_seq = drafts_[draft].decision.seq;
    DraftTask(draft, r, task);
  }
  Owe(g, draft, r.tasks.size());
  ++started_version_;
  Enlist(g);
}

// Called with the gang delisted.
void Scheduler::Impl::BeginRelease(GangIndex g, TaskRecord& task,
                                   uint32_t draft) {
  GangRecord& r = gangs.at(g);
  Settle(r, task);
  SetPhase(r, task, TaskPhase::kReleasing);
  task.open_seq = drafts_[draft].decision.seq;
  Owe(g, draft, 1);
  DraftTask(draft, r, task);
}

void Scheduler::Impl::CommitStop(GangIndex g, DecisionKind kind,
                                 const Reason& reason, GangIndex on_behalf_of) {
  Delist(g);
  GangRecord& r = gangs.at(g);
  const uint32_t draft = Draft(kind, reason, g, on_behalf_of);
  if (r.phase == GangPhase::kNominated) {
    // A withdrawn nomination: nothing runs, nothing is answered.
    drafts_[draft].withdraws = true;
    Stopped(g);
    Update(g);
    return;
  }
  if (kind == DecisionKind::kCancel) r.cancel = true;
  const bool failed = reason.code == ReasonCode::kTaskFailed;
  r.trouble = ReasonCode::kNone;
  r.phase = kind == DecisionKind::kSuspend ? GangPhase::kSuspending
                                           : GangPhase::kStopping;
  for (TaskRecord& task : r.tasks) {
    if (task.phase == TaskPhase::kStarting ||
        task.phase == TaskPhase::kRunning) {
      BeginRelease(g, task, draft);
    }
  }
  if (failed) FailStart(r);
  Update(g);
}

void Scheduler::Impl::CommitShrink(GangIndex g, std::span<const TaskId> tasks,
                                   const Reason& reason,
                                   GangIndex on_behalf_of) {
  Delist(g);
  GangRecord& r = gangs.at(g);
  const uint32_t draft = Draft(DecisionKind::kShrink, reason, g, on_behalf_of);
  if (r.trouble == ReasonCode::kTaskFailed) FailStart(r);  // A surplus one.
  r.trouble = ReasonCode::kNone;
  for (TaskId id : tasks) BeginRelease(g, *FindTask(r, id), draft);
  Update(g);
}

void Scheduler::Impl::CommitResume(GangIndex g) {
  Delist(g);
  GangRecord& r = gangs.at(g);
  const uint32_t draft =
      Draft(DecisionKind::kResume, Reason{.code = ReasonCode::kFits}, g,
            GangStore::kNoGang);
  r.phase = GangPhase::kStarting;
  ++r.attempts;
  size_t resumed = 0;
  for (TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kSuspended) continue;
    SetPhase(r, task, TaskPhase::kStarting);
    task.attempt = r.attempts;
    task.open_seq = drafts_[draft].decision.seq;
    DraftTask(draft, r, task);
    ++resumed;
  }
  Owe(g, draft, resumed);
  ++started_version_;
  Enlist(g);
}

}  // namespace muster
