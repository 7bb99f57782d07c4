// Taking over the host's whole state.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/impl.h"
#include "lib/scheduler/validate.h"

namespace muster {

namespace {

absl::Status Invalid(const std::string& what) {
  return absl::InvalidArgumentError(what);
}

}  // namespace

absl::Status Scheduler::Impl::On(const Reconciled& e) {
  reconcile_report_ = ReconcileReport{};
  MUSTER_RETURN_IF_ERROR(CheckReconciled(e));
  const std::vector<OwedAnswer> before = OwedAnswers();
  ReconcileNodes(e);
  ReconcileTasks(e);
  CountAnswers(before);
  return absl::OkStatus();
}

std::vector<Scheduler::Impl::OwedAnswer> Scheduler::Impl::OwedAnswers() const {
  std::vector<OwedAnswer> all;
  for (GangIndex g = 0; g < gangs.limit(); ++g) {
    const GangRecord& r = gangs.at(g);
    if (!r.exists) continue;
    for (const OpenRecord& open : r.open) {
      OwedAnswer& d = all.emplace_back();
      d.gang = {g, r.generation};
      d.seq = open.seq;
      for (const TaskRecord& task : r.tasks) {
        if (task.open_seq != open.seq) continue;
        d.tasks.push_back(task.task);
        d.starts = task.phase == TaskPhase::kStarting;
      }
    }
  }
  return all;
}

// Refused are those of which a task was to start and does not run, or was to
// stop and does.
void Scheduler::Impl::CountAnswers(const std::vector<OwedAnswer>& before) {
  for (const OwedAnswer& d : before) {
    if (open_.contains(d.seq)) continue;  // Unanswered still.
    GangRecord& r = gangs.at(d.gang.index);
    const bool lives = r.exists && r.generation == d.gang.generation;
    const auto refused = [&](TaskId id) {
      const TaskRecord* task = lives ? FindTask(r, id) : nullptr;
      const bool runs = task != nullptr && task->phase == TaskPhase::kRunning;
      return runs != d.starts;
    };
    ++(std::ranges::any_of(d.tasks, refused)
           ? reconcile_report_.decisions_refused
           : reconcile_report_.decisions_applied);
  }
}

absl::StatusOr<ReconcileReport> Scheduler::Impl::Reconcile(
    Time at, const Reconciled& whole) {
  MUSTER_RETURN_IF_ERROR(Apply({at, whole}));
  return reconcile_report_;
}

// Everything is checked before anything is changed.
absl::Status Scheduler::Impl::CheckReconciled(const Reconciled& e) const {
  std::map<std::string_view, size_t> devices;
  for (const Node& node : e.nodes) {
    MUSTER_RETURN_IF_ERROR(ValidateNode(config, node));
    if (!devices.emplace(node.key, node.devices.size()).second) {
      return Invalid(absl::StrCat("reconciled.nodes: '", node.key, "' twice"));
    }
  }
  std::set<std::string_view> seen;
  for (const OtherUsage& usage : e.others) {
    MUSTER_RETURN_IF_ERROR(ValidateOthers(config, usage));
    const auto node = devices.find(usage.node);
    if (node == devices.end() || !seen.insert(usage.node).second) {
      return Invalid(absl::StrCat("reconciled.others: '", usage.node,
                                  "' is not among the nodes, or is twice"));
    }
    for (const DeviceShare& share : usage.devices) {
      if (share.device >= node->second) {
        return Invalid(absl::StrCat("reconciled.others '", usage.node,
                                    "': device ", share.device, " of ",
                                    node->second));
      }
    }
  }
  for (const std::string& key : e.down) {
    if (!devices.contains(key)) {
      return Invalid(
          absl::StrCat("reconciled.down: '", key, "' is not among the nodes"));
    }
  }
  std::set<std::pair<std::string_view, TaskId>> tasks;
  for (size_t i = 0; i < e.tasks.size(); ++i) {
    const RealTask& task = e.tasks[i];
    const std::string at = absl::StrCat("reconciled.tasks[", i, "]");
    const GangIndex g = gangs.Find(task.gang);
    if (g == GangStore::kNoGang) {
      return absl::NotFoundError(
          absl::StrCat(at, ".gang: '", task.gang, "' is not known"));
    }
    const Template& t = gangs.description(gangs.at(g).description);
    if (task.task.role >= t.prepared.shapes.size() ||
        task.task.index >=
            t.prepared.gang.roles[task.task.role].desired_tasks ||
        task.alternative >= t.prepared.shapes[task.task.role].size()) {
      return Invalid(absl::StrCat(
          at, ".task: gang '", task.gang, "' has no task (", task.task.role,
          ", ", task.task.index, ") of alternative ", task.alternative));
    }
    if (!tasks.emplace(task.gang, task.task).second) {
      return Invalid(absl::StrCat(at, ".task: is there twice"));
    }
    const auto node = devices.find(task.node);
    if (node == devices.end()) {
      return Invalid(
          absl::StrCat(at, ".node: '", task.node, "' is not among the nodes"));
    }
    const ShapeId shape = t.prepared.shapes[task.task.role][task.alternative];
    MUSTER_RETURN_IF_ERROR(CheckSlot(at, shape, task.slot));
    const uint32_t wanted = cluster.device_request(shape).count;
    if (wanted > node->second) {
      return Invalid(absl::StrCat(at, ".node: '", task.node, "' has ",
                                  node->second, " devices; the task needs ",
                                  wanted));
    }
    for (uint32_t d : task.devices) {
      if (d >= node->second) {
        return Invalid(absl::StrCat(at, ".devices: ", d, " of ", node->second));
      }
    }
  }
  return absl::OkStatus();
}

void Scheduler::Impl::ReconcileNodes(const Reconciled& e) {
  std::set<std::string_view> named;
  for (const Node& node : e.nodes) named.insert(node.key);
  std::vector<std::string> gone;
  for (NodeIndex n : cluster.nodes()) {
    const std::string& key = cluster.node(n).key;
    if (!named.contains(key)) gone.push_back(key);
  }
  for (const std::string& key : gone) {
    reconcile_report_.tasks_lost += CountTasksOn(cluster.Find(key).index);
    On(NodeRemoved{key}).IgnoreError();
    ++reconcile_report_.nodes_removed;
  }
  for (const Node& node : e.nodes) {
    const NodeId known = cluster.Find(node.key);
    if (!known.valid()) {
      ++reconcile_report_.nodes_added;
      UpsertNode(node);
      continue;
    }
    Node sorted = node;
    std::sort(sorted.labels.begin(), sorted.labels.end());
    if (cluster.node(known.index) == sorted) continue;
    ++reconcile_report_.nodes_changed;
    UpsertNode(node);
  }
  std::map<std::string_view, const OtherUsage*> others;
  for (const OtherUsage& usage : e.others) others[usage.node] = &usage;
  const std::set<std::string_view> down(e.down.begin(), e.down.end());
  for (const Node& node : e.nodes) {
    const NodeIndex n = cluster.Find(node.key).index;
    const auto usage = others.find(node.key);
    OtherUsage next;
    if (usage != others.end()) next = *usage->second;
    next.node = node.key;
    if (!(nodes[n].others == next)) {
      cluster.SetOthers(n, next);
      nodes[n].others = std::move(next);
    }
    suspects_.insert(n);
    if (nodes[n].down != down.contains(node.key)) {
      nodes[n].down = !nodes[n].down;
      RefreshAvailability(n);
    }
  }
}

uint32_t Scheduler::Impl::CountTasksOn(NodeIndex n) const {
  uint32_t count = 0;
  for (GangIndex g = 0; g < gangs.limit(); ++g) {
    if (!gangs.at(g).exists) continue;
    for (const TaskRecord& task : gangs.at(g).tasks) {
      count += task.at.node == n && task.phase != TaskPhase::kNominated &&
               task.phase != TaskPhase::kSucceeded;
    }
  }
  return count;
}

void Scheduler::Impl::ReconcileTasks(const Reconciled& e) {
  std::map<std::string_view, std::map<TaskId, const RealTask*>> real;
  for (const RealTask& task : e.tasks) real[task.gang][task.task] = &task;
  const std::map<TaskId, const RealTask*> none;
  for (GangIndex g : gangs.Sorted()) {
    const auto it = real.find(gangs.at(g).key);
    ReconcileGang(g, it == real.end() ? none : it->second);
  }
}

void Scheduler::Impl::ReconcileGang(
    GangIndex g, const std::map<TaskId, const RealTask*>& real) {
  GangRecord& r = gangs.at(g);
  ReconcileReport& report = reconcile_report_;
  if (r.phase == GangPhase::kNominated) {
    // A nomination is a promise, not a task; what really runs undoes it.
    if (real.empty()) return;
    UndoNomination(g);
  }
  if (real.empty() && r.tasks.empty()) return;
  Delist(g);
  std::vector<TaskId> believed;
  for (const TaskRecord& task : r.tasks) believed.push_back(task.task);
  for (TaskId id : believed) {
    TaskRecord& task = *FindTask(r, id);
    const auto it = real.find(id);
    if (it == real.end()) {
      if (task.phase == TaskPhase::kSucceeded ||
          task.phase == TaskPhase::kSuspended) {
        continue;
      }
      const bool releasing = task.phase == TaskPhase::kReleasing;
      report.tasks_lost += !releasing;
      report.tasks_confirmed += releasing;
      Answer(g, id, 0,
             releasing ? TaskOutcome::kReleased : TaskOutcome::kFailed);
      continue;
    }
    ReconcileTask(r, task, *it->second);
  }
  for (const auto& [id, task] : real) {
    if (FindTask(r, id) == nullptr) FindRealTask(r, *task);
  }
  SettlePhase(r);
  Update(g);
}

// A task that is known: takes over where and how it really is.
void Scheduler::Impl::ReconcileTask(GangRecord& r, TaskRecord& task,
                                    const RealTask& real) {
  const Allocation at = RealAllocation(r, real, &task.at);
  bool moved = false;
  const bool was_resting = task.phase == TaskPhase::kSuspended ||
                           task.phase == TaskPhase::kSucceeded;
  if (!(at == task.at)) {
    MoveTask(r, task, at);
    moved = true;
  }
  const TaskPhase phase =
      real.releasing ? TaskPhase::kReleasing : TaskPhase::kRunning;
  if (task.phase != phase || phase == TaskPhase::kRunning) Settle(r, task);
  SetPhase(r, task, phase);
  if (was_resting) {
    ++reconcile_report_.tasks_found;
  } else if (moved) {
    ++reconcile_report_.tasks_moved;
  } else {
    ++reconcile_report_.tasks_confirmed;
  }
}

// A task that runs and was not believed to.
void Scheduler::Impl::FindRealTask(GangRecord& r, const RealTask& real) {
  TaskRecord task;
  task.task = real.task;
  task.attempt = ++r.attempts;
  task.phase = real.releasing ? TaskPhase::kReleasing : TaskPhase::kRunning;
  task.at = RealAllocation(r, real, nullptr);
  const auto place = std::lower_bound(
      r.tasks.begin(), r.tasks.end(), task.task,
      [](const TaskRecord& t, TaskId id) { return t.task < id; });
  Hold(r, *r.tasks.insert(place, task));
  suspects_.insert(task.at.node);
  ++reconcile_report_.tasks_found;
}

Allocation Scheduler::Impl::RealAllocation(const GangRecord& r,
                                           const RealTask& real,
                                           const Allocation* believed) const {
  const Template& t = gangs.description(r.description);
  Allocation at;
  at.node = cluster.Find(real.node).index;
  at.shape = t.prepared.shapes[real.task.role][real.alternative];
  for (uint32_t d : real.devices) at.devices |= uint64_t{1} << d;
  FillIn(cluster, believed != nullptr ? *believed : Allocation{.node = ~0u},
         real.slot, &at);
  return at;
}

// The gang's phase, from what its tasks really do.
void Scheduler::Impl::SettlePhase(GangRecord& r) {
  bool running = false, releasing = false;
  for (const TaskRecord& task : r.tasks) {
    running |= task.phase == TaskPhase::kRunning;
    releasing |= task.phase == TaskPhase::kReleasing;
  }
  const bool stopping =
      r.phase == GangPhase::kStopping || r.phase == GangPhase::kSuspending;
  if (running && (!stopping || !releasing)) {
    if (r.phase != GangPhase::kRunning) r.started = now;
    r.phase = GangPhase::kRunning;
    for (size_t i = r.tasks.size(); i-- > 0;) {
      if (r.tasks[i].phase == TaskPhase::kSuspended) {
        DropTask(r, r.tasks[i].task);
      }
    }
  } else if (running || releasing) {
    r.phase = stopping ? r.phase : GangPhase::kStopping;
  }
  CountTasks(r, &counts_);
  if (r.phase == GangPhase::kRunning && r.trouble == ReasonCode::kNone &&
      !Satisfied(gangs.description(r.description), counts_)) {
    r.trouble = ReasonCode::kTaskFailed;
  }
}

}  // namespace muster
