#include "lib/scheduler/names.h"

#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/scheduler/reason_text.h"

namespace muster {
namespace {

// Of an object that has a key, and is there.
std::string KeyOf(const SchedulerTables& tables, ReasonObject kind,
                  uint32_t o) {
  switch (kind) {
    case ReasonObject::kNode:
      return tables.cluster.exists(o) ? tables.cluster.node(o).key : "";
    case ReasonObject::kQueue:
      return std::string(tables.queues.KeyOf(tables.queues.id(o)));
    case ReasonObject::kGang:
      return o < tables.gangs.limit() ? tables.gangs.at(o).key : "";
    default:
      return "";
  }
}

// The object with that key.
uint32_t WithKey(const SchedulerTables& tables, ReasonObject kind,
                 const std::string& key) {
  switch (kind) {
    case ReasonObject::kNode:
      return tables.cluster.Find(key).index;
    case ReasonObject::kQueue:
      return tables.queues.Find(key);
    default:
      return tables.gangs.Find(key);
  }
}

bool HasKey(ReasonObject kind) {
  return kind == ReasonObject::kNode || kind == ReasonObject::kQueue ||
         kind == ReasonObject::kGang;
}

}  // namespace

NamedReason Named(const SchedulerTables& tables, const Reason& reason,
                  GangIndex g) {
  const Gang* gang =
      tables.gangs.id(g).valid() ? &tables.SpecOf(g).gang() : nullptr;
  NamedReason named = NamedOf(tables.config, gang, reason);
  if (HasKey(reason.object_kind)) {
    named.object = KeyOf(tables, reason.object_kind, reason.object);
  }
  return named;
}

void AddRecords(const SchedulerTables& tables, const Plan& plan,
                std::span<const Decision> decisions,
                std::vector<DecisionRecord>* records) {
  records->reserve(records->size() + decisions.size());
  for (const Decision& d : decisions) {
    DecisionRecord& out = records->emplace_back();
    out.seq = d.seq;
    out.kind = d.kind;
    out.reason = Named(tables, d.reason, d.gang.index);
    out.gang = plan.Text(d.gang_key);
    out.on_behalf_of = plan.Text(d.on_behalf_key);
    out.grace = d.grace;
    out.tasks.reserve(d.task_count);
    for (const PlannedTask& task : plan.TasksOf(d)) {
      out.tasks.push_back({task.task, task.attempt,
                           std::string(plan.Text(task.node_key)), task.booked,
                           task.alternative, task.wave, task.first_slice});
    }
  }
}

PlanRecord RecordOf(const SchedulerTables& tables, const Plan& plan) {
  PlanRecord record;
  record.now = plan.now;
  record.based_on = plan.based_on;
  record.next_wakeup = plan.next_wakeup;
  record.budget_exhausted = plan.budget_exhausted;
  record.steps = plan.steps;
  record.grew = plan.grew;
  AddRecords(tables, plan, plan.decisions, &record.decisions);
  AddRecords(tables, plan, plan.unreported, &record.decisions);
  std::ranges::sort(record.decisions, {}, &DecisionRecord::seq);
  for (const GangClassResult& a : plan.class_results) {
    Questions questions{.active = static_cast<uint8_t>(a.active),
                        .effort = a.effort,
                        .retry_at = a.retry_at,
                        .reason = a.reason};
    record.class_results.push_back(
        ClassStateOf(tables, plan.Text(a.gang_key), a.grows, questions));
  }
  SortClasses(&record.class_results);
  for (const TextRef key : plan.check_due) {
    record.check_due.emplace_back(plan.Text(key));
  }
  std::ranges::sort(record.check_due);
  for (const TextRef key : plan.checked) {
    record.checked.emplace_back(plan.Text(key));
  }
  std::ranges::sort(record.checked);
  return record;
}

void SortClasses(std::vector<GangClassState>* classes) {
  std::ranges::sort(*classes, {}, [](const GangClassState& c) {
    return std::tie(c.grows, c.gang);
  });
}

GangClassState ClassStateOf(const SchedulerTables& tables,
                            std::string_view gang, bool grows,
                            const Questions& questions) {
  const Reason& reason = questions.reason;
  GangClassState state;
  state.gang = std::string(gang);
  state.grows = grows;
  state.active = questions.active;
  state.code = reason.code;
  state.object_kind = reason.object_kind;
  if (HasKey(reason.object_kind)) {
    state.object = KeyOf(tables, reason.object_kind, reason.object);
  } else {
    state.position = reason.object;
  }
  state.resource = reason.resource;
  state.retry_at = questions.retry_at;
  state.effort = questions.effort;
  return state;
}

Questions QuestionsOf(const SchedulerTables& tables,
                      const GangClassState& state) {
  Questions q;
  q.active = static_cast<uint8_t>(state.active);
  q.effort = state.effort;
  q.retry_at = state.retry_at;
  q.reason.code = state.code;
  q.reason.object_kind = state.object_kind;
  q.reason.resource = state.resource;
  q.reason.object = HasKey(state.object_kind)
                        ? WithKey(tables, state.object_kind, state.object)
                        : state.position;
  return q;
}

namespace {

// From one state to another.
struct HandleMap {
  const SchedulerTables& from;
  const SchedulerTables& to;

  void Map(GangId* id) const {
    Map(to.gangs.FindId(KeyOf(from, ReasonObject::kGang, id->index)), id);
  }
  void Map(QueueId* id) const {
    Map(to.queues.FindId(KeyOf(from, ReasonObject::kQueue, id->index)), id);
  }
  void Map(NodeId* id) const {
    Map(to.cluster.Find(KeyOf(from, ReasonObject::kNode, id->index)), id);
  }
  template <class Id>
  void Map(Id there, Id* id) const {
    *id = &from != &to || there == *id ? there : Id();
  }
  void Map(Reason* reason) const {
    const ReasonObject kind = reason->object_kind;
    if (!HasKey(kind)) return;
    reason->object = WithKey(to, kind, KeyOf(from, kind, reason->object));
  }
};

}  // namespace

void MapHandles(const SchedulerTables& from, const SchedulerTables& to,
                Plan* plan) {
  const HandleMap map{from, to};
  for (std::vector<Decision>* list : {&plan->decisions, &plan->unreported}) {
    for (Decision& d : *list) {
      map.Map(&d.gang);
      map.Map(&d.on_behalf_of);
      map.Map(&d.reason);
    }
  }
  for (PlannedTask& task : plan->tasks) map.Map(&task.node);
  for (Waiting& w : plan->waiting) {
    map.Map(&w.queue);
    map.Map(&w.gang);
    map.Map(&w.reason);
  }
  for (Preemption& p : plan->preemptions) map.Map(&p.gang);
  for (GangClassResult& answer : plan->class_results) map.Map(&answer.reason);
}

void StartGenerationsAfter(const SchedulerTables& before,
                           SchedulerTables& next) {
  const uint32_t last = std::max({before.cluster.last_generation(),
                                  before.gangs.last_generation(),
                                  before.queues.last_generation()});
  next.gangs.StartGenerationsAt(last + 1);
  next.queues.StartGenerationsAt(last + 1);
  next.cluster.StartGenerationsAt(last + 1);
  next.lists.waiting().Replace(before.lists.waiting());
}

}  // namespace muster
