// Taking over the host's whole state.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/events.h"
#include "lib/scheduler/node_changes.h"
#include "lib/scheduler/real_place.h"
#include "lib/scheduler/validate.h"

namespace muster {
namespace {

// --- Checks: everything before anything is changed --------------------------

using RealTasks = std::map<TaskId, const RealTask*>;

// What the host reported, by keys.
struct Reported {
  std::map<std::string_view, const Node*> nodes{};
  std::map<std::string_view, const ExternalUsage*> external{};  // By node.
  std::set<std::string_view> down{};
  std::map<std::string_view, RealTasks> tasks{};  // By gang.
};

absl::Status CheckNodes(const SchedulerTables& tables, const Reconciled& e,
                        Reported* reported) {
  for (const Node& node : e.nodes) {
    if (!reported->nodes.emplace(node.key, &node).second) {
      return Invalid("reconciled.nodes: '", node.key + "' twice");
    }
  }
  MUSTER_RETURN_IF_ERROR(ValidateTotal(tables.config, {}, e.nodes));
  for (const ExternalUsage& usage : e.external) {
    const auto node = reported->nodes.find(usage.node);
    if (node == reported->nodes.end() ||
        !reported->external.emplace(usage.node, &usage).second) {
      return Invalid("reconciled.external: '",
                     usage.node + "' is not among the nodes, or is twice");
    }
    MUSTER_RETURN_IF_ERROR(
        ValidateDevices("reconciled.external", *node->second, usage));
  }
  for (const std::string& key : e.down) {
    if (!reported->nodes.contains(key)) {
      return Invalid("reconciled.down: '", key + "' is not among the nodes");
    }
    reported->down.insert(key);
  }
  return absl::OkStatus();
}

absl::Status CheckPast(const SchedulerTables& tables, const std::string& at,
                       const char* name, Time time) {
  return Require(time == kForever || (time >= 0 && time <= tables.now), at,
                 name, ": ", time, " is not in 0..", tables.now,
                 ", the event's time");
}

// Those with which the task is known to be on that node.
DeviceSet RecordedDevices(const SchedulerTables& tables, GangIndex g,
                          const RealTask& real) {
  const TaskRecord* task = FindTask(tables.gangs.at(g), real.task);
  if (task == nullptr || tables.cluster.node(task->at.node).key != real.node)
    return {};
  return task->at.devices;
}

absl::Status CheckTask(const SchedulerTables& tables, const Reported& reported,
                       const std::string& at, const RealTask& task) {
  const GangIndex g = tables.gangs.Find(task.gang);
  if (g == kNoGang) {
    return NotFound(at, ".gang: '", task.gang, "' is not known");
  }
  const GangSpec& spec = tables.SpecOf(g);
  const std::vector<Role>& roles = spec.gang().roles;
  if (task.task.role >= roles.size() || task.task.index >= Gang::kMaxTasks ||
      task.alternative >= spec.prepared.shapes[task.task.role].size()) {
    return Invalid(at, ".task: gang '", task.gang, "' has no task (",
                   task.task.role, ", ", task.task.index, ") of alternative ",
                   task.alternative);
  }
  if (task.suspended && (task.releasing || !tables.config.host.suspend)) {
    return Invalid(at, task.releasing ? ".suspended: it is being stopped"
                                      : ".suspended: the host cannot suspend");
  }
  MUSTER_RETURN_IF_ERROR(CheckPast(tables, at, ".started", task.started));
  const auto node = reported.nodes.find(task.node);
  if (node == reported.nodes.end()) {
    return Invalid(at, ".node: '" + task.node + "' is not among the nodes");
  }
  if (reported.down.contains(task.node)) {
    return Invalid(at, ".node: '" + task.node +
                           "' is down, and its tasks are lost: leave them out");
  }
  const ShapeId shape = spec.prepared.shapes[task.task.role][task.alternative];
  MUSTER_RETURN_IF_ERROR(
      CheckFirstSlice(tables.cluster, at, shape, task.first_slice));
  return NamedDevices(at, *node->second,
                      tables.cluster.device_request(shape).count, task.devices,
                      RecordedDevices(tables, g, task))
      .status();
}

absl::Status CheckGangs(const SchedulerTables& tables, const Reconciled& e) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < e.gangs.size(); ++i) {
    const RealGang& real = e.gangs[i];
    const std::string at = absl::StrCat("reconciled.gangs[", i, "]");
    const GangIndex g = tables.gangs.Find(real.gang);
    if (g == kNoGang) {
      return NotFound(at, ".gang: '", real.gang, "' is not known");
    }
    if (!seen.insert(real.gang).second) {
      return Invalid(at, ".gang: '" + real.gang + "' is there twice");
    }
    MUSTER_RETURN_IF_ERROR(CheckPast(tables, at, ".started", real.started));
    MUSTER_RETURN_IF_ERROR(
        CheckPast(tables, at, ".checkpoint", real.checkpoint));
    const Duration run_time =
        real.run_time != kForever ? real.run_time : tables.gangs.at(g).run_time;
    if (real.saved != kForever && real.saved > run_time) {
      return Invalid(at, ".saved: ", real.saved, " is not in 0..", run_time,
                     ", its run_time");
    }
  }
  return absl::OkStatus();
}

// What the host knows of a gang's times.
void TakeTimes(SchedulerTables& tables, const RealGang& real) {
  const GangIndex g = tables.gangs.Find(real.gang);
  if (g == kNoGang) return;
  GangEdit gang(tables, g);
  if (real.started != kForever && gang->phase == GangPhase::kRunning) {
    gang->started = real.started;  // SettlePhase has reported it.
  }
  if (real.checkpoint != kForever) {
    gang->checkpoint = std::max(gang->checkpoint, real.checkpoint);
  }
  if (real.run_time != kForever) gang->run_time = real.run_time;
  if (real.saved != kForever) gang->saved = real.saved;
  gang->saved = std::min(gang->saved, gang->run_time);
  gang->unsaved = std::min(gang->unsaved, gang->run_time - gang->saved);
}

absl::Status Check(const SchedulerTables& tables, const Reconciled& e,
                   Reported* reported) {
  MUSTER_RETURN_IF_ERROR(CheckGangs(tables, e));
  MUSTER_RETURN_IF_ERROR(CheckNodes(tables, e, reported));
  Resources sum(tables.cluster.resource_count());
  for (size_t i = 0; i < e.tasks.size(); ++i) {
    const RealTask& task = e.tasks[i];
    const std::string at = absl::StrCat("reconciled.tasks[", i, "]");
    MUSTER_RETURN_IF_ERROR(CheckTask(tables, *reported, at, task));
    if (!reported->tasks[task.gang].emplace(task.task, &task).second) {
      return Invalid(at, ".task: is there twice");
    }
    const GangSpec& spec = tables.SpecOf(tables.gangs.Find(task.gang));
    MUSTER_RETURN_IF_ERROR(
        AddUse(tables.config, tables.cluster, at,
               spec.prepared.shapes[task.task.role][task.alternative], &sum));
  }
  return absl::OkStatus();
}

// --- Nodes -------------------------------------------------------------------

void RemoveOtherNodes(SchedulerTables& tables, const Reported& reported) {
  const std::span<const NodeIndex> all = tables.cluster.nodes();
  std::vector<NodeIndex> gone(all.begin(), all.end());
  std::erase_if(gone, [&](NodeIndex n) {
    return reported.nodes.contains(tables.cluster.node(n).key);
  });
  for (const NodeIndex n : gone) {
    for (const NodeTask& ref : tables.nodes.tasks(n)) {
      tables.report.tasks_lost +=
          FindTask(tables.gangs.at(ref.gang), ref.task)->phase !=
          TaskPhase::kNominated;
    }
    Take(tables, NodeRemoved{tables.cluster.node(n).key}).IgnoreError();
    ++tables.report.nodes_removed;
  }
}

void ReconcileNodes(SchedulerTables& tables, const Reconciled& e,
                    const Reported& reported) {
  RemoveOtherNodes(tables, reported);
  for (const Node& node : e.nodes) {
    const bool is_new = !tables.cluster.Find(node.key).valid();
    const bool changed = UpsertNode(tables, node);
    tables.report.nodes_added += is_new;
    tables.report.nodes_changed += changed && !is_new;
  }
  for (const Node& node : e.nodes) {
    const NodeIndex n = tables.cluster.Find(node.key).index;
    ChangeFacts(tables, n, [&](NodeRecords::Facts& facts) {
      const auto usage = reported.external.find(node.key);
      facts.external =
          usage == reported.external.end() ? ExternalUsage() : *usage->second;
      facts.external.node = node.key;
      facts.down = reported.down.contains(node.key);
    });
    tables.nodes.AddOvercommitCandidate(n);
  }
}

// --- Tasks -------------------------------------------------------------------

// The pending decisions, and which gangs they are about.
using PendingDecisions = std::vector<std::pair<GangId, PendingDecision>>;

PendingDecisions AllPending(const SchedulerTables& tables) {
  PendingDecisions all;
  for (const GangIndex g : tables.gangs.Positions()) {
    const GangRecord& r = tables.gangs.at(g);
    for (const PendingRecord& pending : r.pending) {
      all.emplace_back(tables.gangs.id(g), Answers::PendingOf(r, pending.seq));
    }
  }
  return all;
}

// Refused are those of which a task was to start and does not run, or was to
// stop and does.
void CountAnswers(SchedulerTables& tables, const PendingDecisions& before) {
  for (const auto& [gang, pending] : before) {
    if (tables.answers.OwnerOf(pending.seq) != kNoGang) continue;  // Still.
    const GangRecord& r = tables.gangs.at(gang.index);
    const bool lives = tables.gangs.Has(gang);
    const bool stops = IsStop(pending.kind);
    const auto refused = [&](TaskId id) {
      const TaskRecord* task = lives ? FindTask(r, id) : nullptr;
      const bool runs = task != nullptr && task->phase == TaskPhase::kRunning;
      return runs == stops;
    };
    ++(std::ranges::any_of(pending.tasks, refused)
           ? tables.report.decisions_refused
           : tables.report.decisions_applied);
  }
}

Allocation RealAllocation(const SchedulerTables& tables, const GangRecord& r,
                          const RealTask& real, const Allocation* recorded) {
  const GangSpec& spec = tables.SpecOf(r);
  Allocation at;
  at.node = tables.cluster.Find(real.node).index;
  at.shape = spec.prepared.shapes[real.task.role][real.alternative];
  for (uint32_t d : real.devices) at.devices.Insert(d);
  FillIn(tables.cluster,
         recorded != nullptr ? *recorded : Allocation{.node = ~0u},
         real.first_slice, &at);
  return at;
}

TaskPhase RealPhase(const RealTask& real) {
  if (real.suspended) return TaskPhase::kSuspended;
  return real.releasing ? TaskPhase::kReleasing : TaskPhase::kRunning;
}

// A task that is known: takes over where and how it really is.
void TakeOver(SchedulerTables& tables, GangEdit& gang, TaskRecord& task,
              const RealTask& real) {
  const Allocation at = RealAllocation(tables, *gang, real, &task.at);
  const bool moved = !(at == task.at);
  const bool rested = task.phase == TaskPhase::kSuspended ||
                      task.phase == TaskPhase::kSucceeded;
  const TaskPhase phase = RealPhase(real);
  const NodeIndex was_on = task.at.node;
  if (moved) tables.holdings.Move(gang.gang(), task, at);
  if (at.node != was_on) {
    // It may grow beside its tasks, or resume where they are.
    tables.activator.RoomFreed(at.node);
    tables.activator.StructureChanged();
  }
  if (task.phase != phase || phase == TaskPhase::kRunning) {
    tables.answers.Settle(*gang, task);
  }
  if (task.phase != phase) tables.holdings.SetPhase(gang.gang(), task, phase);
  ++(rested  ? tables.report.tasks_found
     : moved ? tables.report.tasks_moved
             : tables.report.tasks_confirmed);
}

// A task that runs and was not recorded as running.
void Discover(SchedulerTables& tables, GangEdit& gang, const RealTask& real) {
  TaskRecord task;
  task.task = real.task;
  task.attempt = ++gang->attempts;
  task.phase = RealPhase(real);
  task.at = RealAllocation(tables, *gang, real, nullptr);
  tables.holdings.Hold(gang.gang(), task);
  gang->tasks.insert(TaskPlace(*gang, real.task), task);
  tables.nodes.AddOvercommitCandidate(task.at.node);
  ++tables.report.tasks_found;
}

// A task that was recorded as being somewhere, and is not reported.
void Lose(SchedulerTables& tables, GangEdit& gang, TaskId id) {
  const TaskPhase phase = FindTask(*gang, id)->phase;
  const bool stops = gang->phase == GangPhase::kStopping;
  if (phase == TaskPhase::kSucceeded ||
      (phase == TaskPhase::kSuspended && !stops)) {
    return;
  }
  const bool releasing =
      phase == TaskPhase::kReleasing || phase == TaskPhase::kSuspended;
  tables.report.tasks_lost += !releasing;
  tables.report.tasks_confirmed += releasing;
  // What is suspended need not be reported.
  tables.life.Answer(gang, id, 0,
                     IsToBeSuspended(*gang, *FindTask(*gang, id))
                         ? TaskOutcome::kSuspended
                     : releasing ? TaskOutcome::kReleased
                                 : TaskOutcome::kFailed);
}

// Since when all that runs of a gang does, as far as it is reported.
Time RunsSince(const RealTasks& real, Time now) {
  Time since = 0;
  for (const auto& [id, task] : real) {
    if (task->releasing || task->suspended) continue;
    since = std::max(since, task->started == kForever ? now : task->started);
  }
  return since;
}

// The gang's phase, from what its tasks really do. Of a stop that was carried
// out in part, what still runs has refused: the gang runs, below its minimum
// perhaps, and the next plan decides anew.
void SettlePhase(SchedulerTables& tables, GangEdit& gang,
                 const RealTasks& real) {
  const bool releasing = HasTask(*gang, TaskPhase::kReleasing);
  if (HasTask(*gang, TaskPhase::kRunning)) {
    // What had refused to stop has run all the time.
    const bool ran =
        gang->phase == GangPhase::kRunning || gang->started != kForever;
    if (!ran) gang->started = RunsSince(real, tables.now);
    tables.life.GoOn(gang);
    tables.activator.VictimsChanged(*gang);
  } else if (releasing && gang->phase != GangPhase::kSuspending) {
    gang->phase = GangPhase::kStopping;
  } else if (HasTask(*gang, TaskPhase::kSuspended) &&
             (IsLive(*gang) || gang->phase == GangPhase::kWaiting)) {
    tables.life.Rest(*gang);
  }
  if (IsLive(*gang) && gang->repair_reason == ReasonCode::kNone) {
    gang->repair_reason = tables.life.WhyLeaves(*gang);
  }
}

void ReconcileGang(SchedulerTables& tables, GangIndex g,
                   const RealTasks& real) {
  const GangRecord& r = tables.gangs.at(g);
  if (IsNominated(r)) {
    // A nominated task does not run; what really runs undoes the nomination.
    if (real.empty() && r.phase == GangPhase::kNominated) return;
    const bool runs = std::ranges::any_of(r.tasks, [&](const auto& task) {
      return task.phase == TaskPhase::kNominated && real.contains(task.task);
    });
    if (runs || r.phase == GangPhase::kNominated) tables.life.UndoNomination(g);
  }
  if (real.empty() && r.tasks.empty()) return;
  GangEdit gang(tables, g);
  std::vector<TaskId> recorded;
  for (const TaskRecord& task : r.tasks) {
    if (task.phase != TaskPhase::kNominated) recorded.push_back(task.task);
  }
  for (const TaskId id : recorded) {
    const auto it = real.find(id);
    if (it == real.end()) {
      Lose(tables, gang, id);
    } else {
      TakeOver(tables, gang, *FindTask(*gang, id), *it->second);
    }
  }
  // A gang that runs keeps nothing suspended.
  const bool runs = std::ranges::any_of(real, [](const auto& reported) {
    return RealPhase(*reported.second) == TaskPhase::kRunning;
  });
  for (const auto& [id, task] : real) {
    if (FindTask(r, id) != nullptr || (runs && task->suspended)) continue;
    Discover(tables, gang, *task);
  }
  SettlePhase(tables, gang, real);
  tables.life.Update(gang);
}

}  // namespace

absl::Status Take(SchedulerTables& tables, const Reconciled& e) {
  tables.report = ReconcileReport{};
  Reported reported;
  MUSTER_RETURN_IF_ERROR(Check(tables, e, &reported));
  const PendingDecisions before = AllPending(tables);
  ReconcileNodes(tables, e, reported);
  const RealTasks none;
  for (const GangIndex g : tables.gangs.Sorted()) {
    const auto real = reported.tasks.find(tables.gangs.at(g).key);
    ReconcileGang(tables, g,
                  real == reported.tasks.end() ? none : real->second);
  }
  for (const Node& node : e.nodes) {
    SettleUnnamed(tables, tables.cluster.Find(node.key).index);
  }
  for (const RealGang& gang : e.gangs) TakeTimes(tables, gang);
  CountAnswers(tables, before);
  return absl::OkStatus();
}

}  // namespace muster
