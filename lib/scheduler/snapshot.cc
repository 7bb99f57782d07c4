#include "lib/scheduler/snapshot.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/base/string_map.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/names.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/raised_minimum.h"
#include "lib/scheduler/real_place.h"
#include "lib/scheduler/rules.h"
#include "lib/scheduler/unnamed_devices.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

// Classes that are not as they were born.
void AddClasses(const SchedulerTables& tables, const GangClassList& list,
                bool grows, std::vector<GangClassState>* out) {
  const int born =
      grows ? Questions::kRoom : Questions::kRoom | Questions::kVictims;
  list.ForEach([&](GangClassIndex c) {
    const GangClass& cls = list.at(c);
    const Questions q = list.questions(c);
    if (q.active == born && cls.unreported() && q.retry_at == kForever &&
        q.effort == 0) {
      return;
    }
    out->push_back(ClassStateOf(tables, cls.first().key, grows, q));
  });
}

// Calls f(field of a, field of b) with each field of a gang's life, of a record
// or of a state.
template <class A, class B, class F>
void EachOfLife(A& a, B& b, F&& f) {
  f(a.phase, b.phase);
  f(a.cancel, b.cancel);
  f(a.repair_reason, b.repair_reason);
  f(a.attempts, b.attempts);
  f(a.failures, b.failures);
  f(a.backoff_until, b.backoff_until);
  f(a.started, b.started);
  f(a.checkpoint, b.checkpoint);
  f(a.run_time, b.run_time);
  f(a.saved, b.saved);
  f(a.unsaved, b.unsaved);
  f(a.interrupted, b.interrupted);
  f(a.placed_seq, b.placed_seq);
  f(a.since, b.since);
  f(a.check_due, b.check_due);
  f(a.evictions, b.evictions);
  f(a.evicted, b.evicted);
  f(a.made_room_seq, b.made_room_seq);
}

}  // namespace

std::optional<RealTask> AsReal(const GangState& gang, const TaskState& task) {
  if (task.phase == TaskPhase::kNominated ||
      task.phase == TaskPhase::kSucceeded) {
    return std::nullopt;
  }
  const Role& role = gang.gang.roles[task.task.role];
  const TaskShape& shape = task.alternative == 0
                               ? role.shape
                               : role.alternatives[task.alternative - 1];
  RealTask real{.gang = gang.gang.key,
                .task = task.task,
                .node = task.node,
                .devices = task.devices.ToList(),
                .alternative = task.alternative,
                .releasing = task.phase == TaskPhase::kReleasing,
                .suspended = task.phase == TaskPhase::kSuspended};
  if (!shape.devices.partition.empty()) real.first_slice = task.first_slice;
  return real;
}

GangState StateOf(const SchedulerTables& tables, GangIndex g) {
  const GangRecord& r = tables.gangs.at(g);
  const GangSpec& spec = tables.specs.at(GivenSpec(r));
  GangState s;
  s.gang = Describe(r, spec);
  s.gang.queue = tables.queues.at(r.queue).queue.key;
  s.gang.priority_class = tables.classes.at(r.priority_class).key;
  EachOfLife(r, s, [](const auto& from, auto& to) { to = from; });
  if (r.wanted != kNoSpec)
    s.runs_under = MinimumOf(tables.specs.at(r.under).gang());
  for (const PendingRecord& pending : r.pending) {
    s.pending.push_back(Answers::PendingOf(r, pending.seq));
  }
  for (const TaskRecord& task : r.tasks) {
    TaskState& out = s.tasks.emplace_back();
    out.task = task.task;
    out.phase = task.phase;
    out.attempt = task.attempt;
    if (task.phase != TaskPhase::kSucceeded) {
      out.node = tables.cluster.node(task.at.node).key;
      out.devices = task.at.devices;
      out.first_slice = task.at.first_slice;
    }
    out.alternative = AlternativeOf(spec, task.task, task.at.shape);
  }
  return s;
}

SchedulerState StateOf(const SchedulerTables& tables) {
  SchedulerState s;
  s.config = tables.config;
  s.now = tables.now;
  s.version = tables.version;
  s.next_seq = tables.next_seq;
  s.round_seq = tables.round_seq;
  s.round_open = tables.round_open;
  s.round_grew = tables.round_grew;
  s.external_seq = tables.external_seq;
  for (NodeIndex n : tables.cluster.nodes()) {
    const NodeRecords::Facts& f = tables.nodes.facts(n);
    s.nodes.push_back({tables.cluster.node(n), f.down, f.draining,
                       f.spot_notice, f.external, f.unnamed});
  }
  for (const auto& [key, set] : tables.node_sets) s.node_sets.push_back(set);
  for (const QueueIndex q : tables.queues.Sorted()) {
    s.queues.push_back(tables.queues.at(q).queue);
  }
  for (const uint32_t c : tables.classes.Sorted()) {
    if (c != 0) s.priority_classes.push_back(tables.classes.at(c));
  }
  for (const auto& [key, budget] : tables.budgets.all()) {
    s.disruption_budgets.push_back(budget);
  }
  for (GangIndex g : tables.gangs.Sorted())
    s.gangs.push_back(StateOf(tables, g));
  AddClasses(tables, tables.lists.waiting(), false, &s.gang_classes);
  AddClasses(tables, tables.lists.growing(), true, &s.gang_classes);
  SortClasses(&s.gang_classes);
  return s;
}

// --- Loading -----------------------------------------------------------------

namespace {

template <class... Parts>
absl::Status Bad(const Parts&... parts) {
  return Invalid("state.", parts...);
}

absl::Status CheckUnnamed(const NodeState& n) {
  if (DevicesLeft(n.node, n.external).ContainsAll(n.unnamed) &&
      n.unnamed.size() == n.external.unnamed_devices) {
    return absl::OkStatus();
  }
  return Bad("nodes '", n.node.key, "'.unnamed: ", n.external.unnamed_devices,
             " devices of the node that its external usage does not name");
}

// No key stands in a list twice; gangs are looked up when they are submitted.
absl::Status CheckKeys(const SchedulerState& s) {
  MUSTER_RETURN_IF_ERROR(NoneTwice(
      s.nodes, "state.nodes", "",
      [](const NodeState& n) -> const std::string& { return n.node.key; }));
  MUSTER_RETURN_IF_ERROR(
      NoneTwice(s.node_sets, "state.node_sets", "", &NodeSet::key));
  MUSTER_RETURN_IF_ERROR(NoneTwice(s.queues, "state.queues", "", &Queue::key));
  MUSTER_RETURN_IF_ERROR(NoneTwice(s.priority_classes, "state.priority_classes",
                                   "", &PriorityClass::key));
  return NoneTwice(s.disruption_budgets, "state.disruption_budgets", "",
                   &DisruptionBudget::key);
}

absl::Status LoadNodes(SchedulerTables& tables, const SchedulerState& state) {
  for (const NodeState& n : state.nodes) {
    MUSTER_RETURN_IF_ERROR(Take(tables, NodeChanged{n.node}));
    MUSTER_RETURN_IF_ERROR(ValidateDevices("state.nodes", n.node, n.external));
    MUSTER_RETURN_IF_ERROR(CheckUnnamed(n));
    const NodeIndex index = tables.cluster.Find(n.node.key).index;
    ChangeFacts(tables, index, [&](NodeRecords::Facts& facts) {
      facts = {n.down, n.draining, n.spot_notice, n.external, n.unnamed};
      facts.external.node = n.node.key;
    });
    tables.nodes.AddOvercommitCandidate(index);
  }
  return absl::OkStatus();
}

// Parents first, whatever the order of the keys.
absl::Status LoadQueues(SchedulerTables& tables,
                        const std::vector<Queue>& all) {
  StringMap<std::vector<const Queue*>> below;
  for (const Queue& q : all) below[q.parent].push_back(&q);
  std::vector<std::string> next{""};
  size_t loaded = 0;
  while (!next.empty()) {
    const std::string parent = std::move(next.back());
    next.pop_back();
    for (const Queue* q : below[parent]) {
      MUSTER_RETURN_IF_ERROR(Take(tables, QueueChanged{*q}));
      next.push_back(q->key);
      ++loaded;
    }
  }
  if (loaded == all.size()) return absl::OkStatus();
  return Bad("queues: some queue's parents lead to no root");
}

absl::Status CheckGangValues(const SchedulerState& state, const GangState& s) {
  const std::string at = absl::StrCat("gangs '", s.gang.key, "'");
  const bool runs = s.phase == GangPhase::kRunning;
  if ((s.started > state.now && (runs || s.started != kForever)) ||
      s.checkpoint > state.now ||
      (s.since > state.now && s.since != kForever)) {
    return Bad(at + ".started, .checkpoint and .since: not later than .now");
  }
  if (s.saved > s.run_time || s.unsaved > s.run_time - s.saved) {
    return Bad(at + ".saved and .unsaved: no more than .run_time");
  }
  if (s.interrupted && s.phase != GangPhase::kStopping) {
    return Bad(at + ".interrupted: it is not stopping");
  }
  const bool lacks = s.repair_reason == ReasonCode::kTaskFailed ||
                     s.repair_reason == ReasonCode::kBelowMinimum;
  if (s.since == kForever &&
      (s.phase == GangPhase::kSuspended || (IsLive(s.phase) && lacks))) {
    return Bad(at + ".since: is kForever, but it is suspended, or lacks tasks");
  }
  if (s.evicted > state.now) {
    return Bad(at + ".evicted: not later than .now");
  }
  if (s.placed_seq >= state.next_seq) {
    return Bad(at, ".placed_seq: decision ", s.placed_seq, " was never made");
  }
  if (s.made_room_seq >= state.next_seq) {
    return Bad(at, ".made_room_seq: decision ", s.made_room_seq,
               " was never made");
  }
  return absl::OkStatus();
}

absl::Status LoadPending(SchedulerTables& tables, const SchedulerState& state,
                         const GangState& s, GangRecord& r) {
  uint64_t last = 0;
  for (const PendingDecision& o : s.pending) {
    if (o.seq <= last || o.seq >= state.next_seq ||
        tables.answers.OwnerOf(o.seq) != kNoGang || o.tasks.empty()) {
      return Bad("gangs '", r.key, "'.pending: decision ", o.seq,
                 " has no tasks, is there twice, out of order or"
                 " was never made");
    }
    last = o.seq;
    r.pending.push_back(
        {o.seq, o.kind, static_cast<uint32_t>(o.tasks.size()), o.on_behalf_of});
  }
  return absl::OkStatus();
}

absl::Status LoadTask(SchedulerTables& tables, const GangState& s,
                      GangEdit& gang, const TaskState& in, Resources* used) {
  const GangSpec& spec = tables.specs.at(gang->spec);
  const std::string field =
      absl::StrCat("gangs '", gang->key, "'.tasks (", in.task.role, ", ",
                   in.task.index, ")");
  const bool known = in.task.role < spec.prepared.shapes.size() &&
                     in.task.index < Gang::kMaxTasks &&
                     in.alternative < spec.prepared.shapes[in.task.role].size();
  if (!known || s.phase == GangPhase::kWaiting ||
      (!gang->tasks.empty() && !(gang->tasks.back().task < in.task))) {
    return Bad(field + ": the gang has no such task there");
  }
  if (in.attempt > s.attempts) {
    return Bad(field, ".attempt: ", in.attempt,
               " was never planned; the last is ", s.attempts);
  }
  TaskRecord task;
  task.task = in.task;
  task.phase = in.phase;
  task.attempt = in.attempt;
  task.at.shape = spec.prepared.shapes[in.task.role][in.alternative];
  task.at.devices = in.devices;
  task.at.first_slice = in.first_slice;
  if (in.phase != TaskPhase::kSucceeded) {
    MUSTER_ASSIGN_OR_RETURN(task.at.node, NodeNamed(tables, in.node));
    MUSTER_RETURN_IF_ERROR(
        CheckPlace(tables.cluster, "state." + field, task.at));
    MUSTER_RETURN_IF_ERROR(AddUse(tables.config, tables.cluster,
                                  "state." + field, task.at.shape, used));
  }
  for (const PendingDecision& o : s.pending) {
    if (std::ranges::count(o.tasks, in.task) > 0) task.pending_seq = o.seq;
  }
  gang->tasks.push_back(task);
  tables.holdings.Hold(gang.gang(), task);
  return absl::OkStatus();
}

absl::Status LoadTasks(SchedulerTables& tables, const GangState& s,
                       GangEdit& gang, Resources* used) {
  for (const TaskState& in : s.tasks) {
    MUSTER_RETURN_IF_ERROR(LoadTask(tables, s, gang, in, used));
  }
  for (const PendingRecord& pending : gang->pending) {
    if (Answers::PendingOf(*gang, pending.seq).tasks.size() !=
        pending.unanswered) {
      return Bad("gangs '", gang->key, "'.pending: decision ", pending.seq,
                 " names tasks that are nowhere");
    }
  }
  // Each task that is to start has a pending decision.
  for (const TaskRecord& task : gang->tasks) {
    if (task.phase == TaskPhase::kStarting && task.pending_seq == 0) {
      return Bad("gangs '", gang->key, "'.pending: no decision starts task (",
                 task.task.role, ", ", task.task.index, ")");
    }
  }
  return absl::OkStatus();
}

// What the gang runs under while it is below a minimum that was raised.
absl::Status LoadMinimum(SchedulerTables& tables, const GangState& s,
                         GangEdit& gang) {
  if (s.runs_under == GangMinimum{}) return absl::OkStatus();
  const Gang& given = tables.SpecOf(*gang).gang();
  const auto sizes = [](const GangMinimum& m) {
    return std::tuple(m.role_tasks.size(), m.group_tasks.size(),
                      m.group_children.size());
  };
  const auto bad = [&](const std::string& why) {
    return Bad("gangs '", s.gang.key, "'.runs_under: ", why);
  };
  if (s.phase == GangPhase::kWaiting || s.phase == GangPhase::kNominated) {
    return bad("it does not run");
  }
  if (sizes(s.runs_under) != sizes(MinimumOf(given))) {
    return bad("one number for each of its roles and groups");
  }
  Gang under = s.gang;
  under.groups = given.groups;  // The root, where it has none.
  under = WithMinimum(std::move(under), s.runs_under);
  if (const absl::Status valid = ValidateGang(tables.config, under);
      !valid.ok()) {
    return bad(std::string(valid.message()));
  }
  RunUnder(tables, gang, tables.specs.Intern(under, tables.cluster));
  return absl::OkStatus();
}

absl::Status LoadGang(SchedulerTables& tables, const SchedulerState& state,
                      const GangState& s, Resources* used) {
  MUSTER_RETURN_IF_ERROR(CheckGangValues(state, s));
  MUSTER_RETURN_IF_ERROR(Submit(tables, s.gang, true));
  const GangIndex g = tables.gangs.Find(s.gang.key);
  {
    GangEdit gang(tables, g);
    EachOfLife(s, *gang, [](const auto& from, auto& to) { to = from; });
    MUSTER_RETURN_IF_ERROR(LoadPending(tables, state, s, *gang));
    MUSTER_RETURN_IF_ERROR(LoadMinimum(tables, s, gang));
    MUSTER_RETURN_IF_ERROR(LoadTasks(tables, s, gang, used));
    SettleMinimum(tables, gang);
    if (gang->phase != GangPhase::kNominated &&
        HasTask(*gang, TaskPhase::kNominated) &&
        !MayBeNominated(tables, *gang)) {
      return Bad("gangs '", gang->key,
                 "'.tasks: one is nominated, but the gang lacks none");
    }
    tables.life.UpdateKeeps(gang);
    tables.answers.Know(g, *gang);
  }
  if (s.placed_seq >= state.round_seq) tables.placed.push_back(g);
  const absl::Status whole = CheckGang(tables, g);
  return whole.ok() ? whole : Bad("gangs: ", whole.message());
}

absl::Status LoadClass(SchedulerTables& tables, const GangClassState& s) {
  const std::string at = absl::StrCat("classes '", s.gang, "'");
  const GangIndex g = tables.gangs.Find(s.gang);
  if (g == kNoGang) return Bad(at + ".gang: is not known");
  GangClassList& list = tables.lists.classes(s.grows);
  const GangClassIndex c = tables.lists.ClassOf(g, s.grows);
  if (c == kNoClass || list.at(c).first().gang != g) {
    return Bad(at + ".gang: is the first of no class");
  }
  const uint32_t all = s.grows ? Questions::kRoom
                               : Questions::kRoom | Questions::kVictims |
                                     Questions::kPutOff | Questions::kAgain;
  if ((s.active & ~all) != 0) {
    return Bad(at, ".active: ", s.active, " is no sum of questions");
  }
  list.SetQuestions(c, QuestionsOf(tables, s));
  return absl::OkStatus();
}

}  // namespace

absl::Status Load(SchedulerTables& tables, const SchedulerState& state) {
  if (state.round_seq > state.next_seq) {
    return Bad("round_seq: is not in 1..next_seq");
  }
  if (state.external_seq > state.next_seq) {
    return Bad("external_seq: is not in 0..next_seq");
  }
  MUSTER_RETURN_IF_ERROR(CheckKeys(state));
  tables.next_seq = state.next_seq;
  tables.round_seq = state.round_seq;
  tables.round_open = state.round_open;
  tables.round_grew = state.round_grew;
  tables.external_seq = state.external_seq;
  tables.version = state.version;
  MUSTER_RETURN_IF_ERROR(LoadNodes(tables, state));  // Taints have their times.
  tables.now = state.now;
  for (const NodeSet& set : state.node_sets) {
    MUSTER_RETURN_IF_ERROR(Take(tables, NodeSetChanged{set}));
  }
  for (const PriorityClass& c : state.priority_classes) {
    MUSTER_RETURN_IF_ERROR(Take(tables, PriorityClassChanged{c}));
  }
  for (const DisruptionBudget& b : state.disruption_budgets) {
    MUSTER_RETURN_IF_ERROR(Take(tables, DisruptionBudgetChanged{b}));
  }
  MUSTER_RETURN_IF_ERROR(LoadQueues(tables, state.queues));
  Resources used;
  for (const GangState& g : state.gangs) {
    MUSTER_RETURN_IF_ERROR(LoadGang(tables, state, g, &used));
  }
  tables.activator.Forget();  // The state says which questions are active.
  for (const GangClassState& c : state.gang_classes) {
    MUSTER_RETURN_IF_ERROR(LoadClass(tables, c));
  }
  return absl::OkStatus();
}

}  // namespace muster
