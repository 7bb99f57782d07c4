#include "lib/scheduler/plan_writer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace muster {

void PlanWriter::Begin(Plan* plan) {
  plan_ = plan;
  drafts_.clear();
  tasks_.clear();
  answered_.clear();
  checked_.clear();
}

PlanWriter::Draft PlanWriter::Decide(DecisionKind kind, const Reason& reason,
                                     GangIndex g, GangIndex on_behalf_of) {
  const auto draft = static_cast<Draft>(drafts_.size());
  Entry& entry = drafts_.emplace_back();
  const GangRecord& r = tables_.gangs.at(g);
  Decision& d = entry.decision;
  d.seq = tables_.next_seq++;
  d.kind = kind;
  d.reason = reason;
  d.gang = tables_.gangs.id(g);
  if (plan_ != nullptr) d.gang_key = plan_->AddText(r.key);
  if (on_behalf_of != kNoGang) {
    d.on_behalf_of = tables_.gangs.id(on_behalf_of);
    if (plan_ != nullptr) {
      d.on_behalf_key = plan_->AddText(tables_.gangs.KeyAt(on_behalf_of));
    }
  }
  if (IsStop(kind) && tables_.config.host.grace) {
    d.grace = tables_.classes.at(r.priority_class).grace;
  }
  return draft;
}

void PlanWriter::AddTask(Draft draft, const GangRecord& r,
                         const TaskRecord& task) {
  ++drafts_[draft].decision.task_count;
  if (plan_ == nullptr) return;
  const GangSpec& spec = tables_.SpecOf(r);
  PlannedTask planned;
  planned.task = task.task;
  planned.attempt = task.attempt;
  planned.node = tables_.cluster.id(task.at.node);
  planned.node_key = plan_->AddText(tables_.cluster.node(task.at.node).key);
  if (tables_.config.host.choose_devices &&
      tables_.cluster.node(task.at.node).choose_devices) {
    planned.devices = task.at.devices;
  }
  planned.booked = task.at.devices;
  planned.first_slice = task.at.first_slice;
  planned.alternative = AlternativeOf(spec, task.task, task.at.shape);
  planned.wave = spec.waves[task.task.role];
  tasks_.emplace_back(draft, planned);
}

void PlanWriter::Note(const GangClassList& list, GangClassIndex c,
                      bool changed) {
  // Of use only to a pass that its budget ends, or that somebody else is first
  // in the queue after.
  if (!changed && tables_.config.work_budget == 0 &&
      !tables_.queues.IsStrict(list.at(c).key().queue)) {
    return;
  }
  const bool grows = &list == &tables_.lists.growing();
  answered_.push_back({grows, list.at(c).key(), !changed});
}

void PlanWriter::Answer(GangClassList& list, GangClassIndex c,
                        const Questions& answer) {
  const GangClass& cls = list.at(c);
  const Questions before = list.questions(c);
  // Changes of numbers alone are not reported.
  const bool new_reason = !IsSame(before.reason, answer.reason);
  Note(list, c,
       new_reason || before.retry_at != answer.retry_at ||
           before.effort != answer.effort ||
           ((before.active ^ answer.active) & Questions::kAgain) != 0);
  list.SetQuestions(c, answer);
  if (new_reason && plan_ != nullptr && list.reports())
    AddWaiting(tables_, cls, plan_);
}

void AddWaiting(const SchedulerTables& tables, const GangClass& cls,
                Plan* plan) {
  const GangIndex g = cls.first().gang;
  Waiting& w = plan->waiting.emplace_back();
  w.gang_class_id = cls.id();
  w.queue = tables.queues.id(cls.key().queue);
  w.gang = tables.gangs.id(g);
  w.gang_key = plan->AddText(tables.gangs.KeyAt(g));
  w.count = static_cast<uint32_t>(cls.size());
  w.reason = cls.reason();
}

void ReportAllWaiting(const SchedulerTables& tables, Plan* plan) {
  plan->Clear();
  plan->based_on = tables.version;
  plan->now = tables.now;
  const GangClassList& waiting = tables.lists.waiting();
  waiting.ForEach([&](GangClassIndex c) {
    if (!waiting.at(c).unreported()) AddWaiting(tables, waiting.at(c), plan);
  });
}

void PlanWriter::Preempts(GangIndex g, Preemption preemption) {
  if (plan_ == nullptr) return;
  preemption.gang = tables_.gangs.id(g);
  preemption.gang_key = plan_->AddText(tables_.gangs.KeyAt(g));
  plan_->preemptions.push_back(preemption);
}

PlanWriter::Draft PlanWriter::PlacedBy(const GangRecord& r) const {
  const auto it = std::ranges::lower_bound(
      drafts_, r.placed_seq, {}, [](const Entry& e) { return e.decision.seq; });
  if (it == drafts_.end() || it->decision.seq != r.placed_seq) return kNone;
  const DecisionKind kind = it->decision.kind;
  const bool joins =
      kind == DecisionKind::kStart || kind == DecisionKind::kGrow;
  return joins ? static_cast<Draft>(it - drafts_.begin()) : kNone;
}

void PlanWriter::Finish(bool exhausted) {
  FinishDecisions();
  FinishAnswers(exhausted);
  for (const uint64_t gone : tables_.lists.waiting().gone()) {
    plan_->waiting.push_back({.gang_class_id = gone});
  }
  tables_.lists.waiting().ForgetGone();
  std::ranges::sort(checked_);
  for (const QueuePosition& position : tables_.lists.check_due()) {
    plan_->check_due.push_back(plan_->AddText(position.key));
    if (std::ranges::binary_search(checked_, position.gang))
      plan_->checked.push_back(plan_->check_due.back());
  }
}

// A follower of the plan deactivates what may be asked in the end: only what
// is not that is told, and which it did deactivate in a plan that left
// questions active, or of those that stand behind another one by now.
void PlanWriter::FinishAnswers(bool exhausted) {
  std::ranges::sort(answered_);
  const auto repeated = std::ranges::unique(
      answered_, {},
      [](const Answered& a) { return std::pair(a.grows, a.key); });
  answered_.erase(repeated.begin(), repeated.end());
  for (const Answered& a : answered_) {
    GangClassList& list = tables_.lists.classes(a.grows);
    const GangClassIndex c = list.Find(a.key);
    if (c == kNoClass) continue;
    const bool asks = a.grows || tables_.lists.MayAsk(c);
    if (a.unchanged && !exhausted && asks) continue;
    const Questions q = list.questions(c);
    GangClassResult& out = plan_->class_results.emplace_back();
    out.gang_key = plan_->AddText(list.at(c).first().key);
    out.grows = a.grows;
    out.active = q.active;
    out.reason = q.reason;
    out.retry_at = q.retry_at;
    out.effort = q.effort;
  }
}

void PlanWriter::FinishDecisions() {
  uint32_t first = 0;
  for (Entry& entry : drafts_) {
    entry.decision.first_task = first;
    first += entry.decision.task_count;
  }
  plan_->tasks.resize(first);
  next_.assign(drafts_.size(), 0);
  for (const auto& [draft, task] : tasks_) {
    plan_->tasks[drafts_[draft].decision.first_task + next_[draft]++] = task;
  }
  for (const Entry& entry : drafts_) {
    const Decision& d = entry.decision;
    if (d.kind == DecisionKind::kStart || d.kind == DecisionKind::kGrow) {
      // Growth joins in turns whose length depends on who else tried to grow:
      // that is not to be seen.
      const auto tasks =
          std::span(plan_->tasks).subspan(d.first_task, d.task_count);
      if (!std::ranges::is_sorted(tasks, {}, &PlannedTask::task)) {
        std::ranges::sort(tasks, {}, &PlannedTask::task);
      }
    }
    const bool of_nomination =
        d.kind == DecisionKind::kNominate || entry.withdraws;
    if (of_nomination && !tables_.config.host.nominate) {
      plan_->unreported.push_back(d);
    } else {
      plan_->decisions.push_back(d);
    }
  }
}

}  // namespace muster
