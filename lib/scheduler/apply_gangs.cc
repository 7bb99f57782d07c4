// Events about gangs and their tasks.
#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/impl.h"
#include "lib/scheduler/validate.h"

namespace muster {

namespace {

absl::Status UnknownGang(const std::string& key) {
  return absl::NotFoundError(absl::StrCat("gang '", key, "' is not known"));
}

bool IsStop(DecisionKind kind) {
  return kind == DecisionKind::kEvict || kind == DecisionKind::kShrink ||
         kind == DecisionKind::kSuspend || kind == DecisionKind::kCancel;
}

}  // namespace

namespace {

uint64_t GuessDevices(const Cluster& cluster, NodeIndex n, uint32_t count) {
  const uint32_t all = static_cast<uint32_t>(cluster.node(n).devices.size());
  uint64_t chosen = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t best = all;
    for (uint32_t d = 0; d < all; ++d) {
      if ((chosen >> d & 1) != 0) continue;
      if (best == all || cluster.free_milli(n, d, Ledger::kNow) >
                             cluster.free_milli(n, best, Ledger::kNow)) {
        best = d;
      }
    }
    chosen |= uint64_t{1} << best;
  }
  return chosen;
}

// The first free slot for the partition: on this device, or on any if none is
// known yet.
void GuessPartition(const Cluster& cluster, Allocation* at) {
  std::vector<Allocation> places;
  cluster.PartitionPlaces(at->node, at->shape, Ledger::kNow, &places);
  for (const Allocation& place : places) {
    if (at->devices == 0 || place.devices == at->devices) {
      *at = place;
      return;
    }
  }
}

}  // namespace

void FillIn(const Cluster& cluster, const Allocation& believed,
            std::optional<uint32_t> slot, Allocation* at) {
  const DeviceRequest& request = cluster.device_request(at->shape);
  if (request.count == 0) return;
  const bool same = at->node == believed.node;
  if (at->devices == 0 && same) at->devices = believed.devices;
  if (request.partition.empty()) {
    if (at->devices == 0) {
      at->devices = GuessDevices(cluster, at->node, request.count);
    }
    return;
  }
  at->slot = 0;
  if (slot.has_value()) {
    at->slot = *slot;
  } else if (same && at->devices == believed.devices) {
    at->slot = believed.slot;
  } else {
    GuessPartition(cluster, at);
  }
  if (at->devices == 0) at->devices = GuessDevices(cluster, at->node, 1);
}

absl::Status Scheduler::Impl::Apply(const Event& event) {
  if (event.at > kForever / 2 || event.at < -(kForever / 2)) {
    return absl::InvalidArgumentError(
        absl::StrCat("event.at: ", event.at, " is not in +-", kForever / 2));
  }
  const Time before = now;
  now = std::max(now, event.at);
  absl::Status status =
      std::visit([this](const auto& e) { return On(e); }, event.what);
  if (!status.ok()) {
    now = before;
    return status;
  }
  ++version;
  if (now > before) WakeParked();
  if (journal != nullptr) journal->Applied(event);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const GangSubmitted& e) {
  const Gang& gang = e.gang;
  MUSTER_RETURN_IF_ERROR(ValidateGang(config, gang));
  if (gangs.Find(gang.key) != GangStore::kNoGang) {
    return absl::AlreadyExistsError(
        absl::StrCat("gang '", gang.key, "' is there already"));
  }
  const std::string field = absl::StrCat("gang '", gang.key, "'");
  const QueueIndex q = queues.Find(gang.queue);
  if (q == kNoQueue) {
    return absl::NotFoundError(
        absl::StrCat(field, ".queue: '", gang.queue, "' is not known"));
  }
  if (!queues.IsLeaf(q)) {
    return absl::InvalidArgumentError(absl::StrCat(
        field, ".queue: '", gang.queue, "' has children; gangs go to leaves"));
  }
  if (queues.at(q).queue.closed) {
    return absl::FailedPreconditionError(
        absl::StrCat(field, ".queue: '", gang.queue, "' is closed"));
  }
  const auto cls = class_by_key.find(gang.priority_class);
  if (cls == class_by_key.end()) {
    return absl::NotFoundError(absl::StrCat(
        field, ".priority_class: '", gang.priority_class, "' is not known"));
  }
  for (const Role& role : gang.roles) {
    for (const std::string& set : role.node_sets) {
      if (!cluster.HasNodeSet(set)) {
        return absl::NotFoundError(
            absl::StrCat(field, ".roles.node_sets: '", set, "' is not known"));
      }
    }
  }
  const GangIndex g = gangs.Add(gang.key);
  GangRecord& r = gangs.at(g);
  r.description = gangs.Intern(gang, cluster);
  r.queue = q;
  r.priority_class = cls->second;
  r.user = gang.user;
  r.account = gang.account;
  r.submitted = gang.submitted;
  r.held = gang.held;
  r.not_before = gang.not_before;
  r.max_runtime = gang.max_runtime;
  r.expected_runtime = gang.expected_runtime;
  r.restart_cost = gang.restart_cost;
  ++queues.at(q).gangs;
  Enlist(g);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const GangHeld& e) {
  const GangIndex g = gangs.Find(e.gang);
  if (g == GangStore::kNoGang) return UnknownGang(e.gang);
  Delist(g);
  gangs.at(g).held = e.held;
  Enlist(g);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const GangReprioritized& e) {
  const GangIndex g = gangs.Find(e.gang);
  if (g == GangStore::kNoGang) return UnknownGang(e.gang);
  const auto cls = class_by_key.find(e.priority_class);
  if (cls == class_by_key.end()) {
    return absl::NotFoundError(
        absl::StrCat("gang '", e.gang, "'.priority_class: '", e.priority_class,
                     "' is not known"));
  }
  Delist(g);
  gangs.at(g).priority_class = cls->second;
  Enlist(g);
  ++started_version_;
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const GangCancelled& e) {
  const GangIndex g = gangs.Find(e.gang);
  if (g == GangStore::kNoGang) return UnknownGang(e.gang);
  Delist(g);
  GangRecord& r = gangs.at(g);
  r.cancel = true;
  if (r.phase == GangPhase::kNominated || r.phase == GangPhase::kSuspended) {
    Stopped(g);
  }
  Update(g);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const GangFinished& e) {
  const GangIndex g = gangs.Find(e.gang);
  if (g == GangStore::kNoGang) return UnknownGang(e.gang);
  Delist(g);
  Stopped(g);
  RemoveGang(g);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const CheckpointTaken& e) {
  const GangIndex g = gangs.Find(e.gang);
  if (g == GangStore::kNoGang) return UnknownGang(e.gang);
  if (e.at > now) {
    return absl::InvalidArgumentError(absl::StrCat("checkpoint of gang '",
                                                   e.gang, "'.at: ", e.at,
                                                   " is later than the event"));
  }
  gangs.at(g).checkpoint = std::max(gangs.at(g).checkpoint, e.at);
  return absl::OkStatus();
}

// Where a started task really is. An empty answer means as planned.
absl::StatusOr<Allocation> Scheduler::Impl::RealPlace(
    const GangRecord& r, const Allocation& planned, const TaskAnswer& a) const {
  Allocation real = planned;
  if (!a.node.empty()) {
    const absl::StatusOr<NodeIndex> n = NodeNamed(a.node);
    if (!n.ok()) return n.status();
    real.node = *n;
  }
  const std::string field = absl::StrCat("gang '", r.key, "'");
  const std::string& key = cluster.node(real.node).key;
  const size_t count = cluster.node(real.node).devices.size();
  const uint32_t wanted = cluster.device_request(planned.shape).count;
  if (!a.devices.empty()) {
    real.devices = 0;
    for (uint32_t d : a.devices) {
      if (d >= count) {
        return absl::InvalidArgumentError(absl::StrCat(
            field, ": device ", d, " of node '", key, "', which has ", count));
      }
      real.devices |= uint64_t{1} << d;
    }
  } else if (real.node != planned.node && wanted > 0) {
    if (wanted > count) {
      return absl::InvalidArgumentError(
          absl::StrCat(field, ": a task with ", wanted, " devices on node '",
                       key, "', which has ", count));
    }
    real.devices = 0;
  }
  MUSTER_RETURN_IF_ERROR(CheckSlot(field, real.shape, a.slot));
  FillIn(cluster, planned, a.slot, &real);
  return real;
}

absl::Status Scheduler::Impl::CheckSlot(const std::string& field, ShapeId shape,
                                        std::optional<uint32_t> slot) const {
  if (!slot.has_value()) return absl::OkStatus();
  if (cluster.device_request(shape).partition.empty()) {
    return absl::InvalidArgumentError(field +
                                      ".slot: the task has no partition");
  }
  if (*slot < PartitionScheme::kMaxSlices) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ".slot: ", *slot, " is not in 0..",
                   PartitionScheme::kMaxSlices - 1));
}

absl::Status Scheduler::Impl::On(const TasksAnswered& e) {
  const GangIndex g = gangs.Find(e.gang);
  if (g == GangStore::kNoGang) return absl::OkStatus();  // Over.
  GangRecord& r = gangs.at(g);
  const std::vector<Role>& roles =
      gangs.description(r.description).prepared.gang.roles;
  for (size_t i = 0; i < e.tasks.size(); ++i) {
    const TaskAnswer& a = e.tasks[i];
    const std::string at =
        absl::StrCat("answer of gang '", e.gang, "'.tasks[", i, "]");
    if (a.task.role >= roles.size() ||
        a.task.index >= roles[a.task.role].desired_tasks) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, ".task: the gang has no task (", a.task.role, ", ",
                       a.task.index, ")"));
    }
    if (a.attempt > r.attempts) {
      return absl::InvalidArgumentError(
          absl::StrCat(at, ".attempt: ", a.attempt,
                       " was never planned; the last is ", r.attempts));
    }
    if (const TaskRecord* task = FindTask(r, a.task); task != nullptr) {
      MUSTER_RETURN_IF_ERROR(RealPlace(r, task->at, a).status());
    }
  }
  Delist(g);
  for (const TaskAnswer& a : e.tasks) {
    TaskRecord* task = FindTask(r, a.task);
    const bool current = task != nullptr &&
                         (a.attempt == 0 || a.attempt == task->attempt) &&
                         (task->phase == TaskPhase::kStarting ||
                          task->phase == TaskPhase::kRunning ||
                          task->phase == TaskPhase::kReleasing);
    if (current && a.outcome == TaskOutcome::kStarted) {
      const Allocation real = *RealPlace(r, task->at, a);
      if (!(real == task->at)) MoveTask(r, *task, real);
    }
    Answer(g, a.task, a.attempt, a.outcome);
  }
  Update(g);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const DecisionApplied& e) {
  if (e.seq == 0 || e.seq >= next_seq) {
    return absl::InvalidArgumentError(
        absl::StrCat("decision ", e.seq, " was never made"));
  }
  const auto it = open_.find(e.seq);
  if (it == open_.end()) return absl::OkStatus();  // Answered already.
  const GangIndex g = it->second;
  Delist(g);
  GangRecord& r = gangs.at(g);
  const auto open =
      std::find_if(r.open.begin(), r.open.end(),
                   [&](const OpenRecord& o) { return o.seq == e.seq; });
  const TaskOutcome outcome =
      IsStop(open->kind) ? TaskOutcome::kReleased : TaskOutcome::kStarted;
  std::vector<TaskId> owed;
  for (const TaskRecord& task : r.tasks) {
    if (task.open_seq == e.seq) owed.push_back(task.task);
  }
  for (TaskId id : owed) Answer(g, id, 0, outcome);
  Update(g);
  return absl::OkStatus();
}

absl::Status Scheduler::Impl::On(const DecisionRefused& e) {
  if (e.seq == 0 || e.seq >= next_seq) {
    return absl::InvalidArgumentError(
        absl::StrCat("decision ", e.seq, " was never made"));
  }
  const auto it = open_.find(e.seq);
  if (it == open_.end()) return absl::OkStatus();
  const GangIndex g = it->second;
  Delist(g);
  GangRecord& r = gangs.at(g);
  const auto open =
      std::find_if(r.open.begin(), r.open.end(),
                   [&](const OpenRecord& o) { return o.seq == e.seq; });
  const bool stop = IsStop(open->kind);
  const std::string on_behalf_of = open->on_behalf_of;
  std::vector<TaskId> owed;
  for (const TaskRecord& task : r.tasks) {
    if (task.open_seq == e.seq) owed.push_back(task.task);
  }
  for (TaskId id : owed) {
    if (!stop) {
      Answer(g, id, 0, TaskOutcome::kFailed);
      continue;
    }
    TaskRecord* task = FindTask(r, id);
    Settle(r, *task);
    SetPhase(r, *task, TaskPhase::kRunning);
    suspects_.insert(task->at.node);
  }
  if (stop) {
    // It goes on, and is left alone for a while.
    if (r.phase == GangPhase::kStopping || r.phase == GangPhase::kSuspending) {
      r.phase = GangPhase::kRunning;
    }
    r.cancel = false;
    r.failures = 0;
    r.backoff_until = now + config.backoff_base;
    const bool leaves =
        std::any_of(r.tasks.begin(), r.tasks.end(),
                    [&](const TaskRecord& t) { return MustLeave(r, t); });
    if (leaves && r.trouble == ReasonCode::kNone) {
      r.trouble = ReasonCode::kNodeDrained;
    }
    CountTasks(r, &counts_);
    if (!Satisfied(gangs.description(r.description), counts_) &&
        r.trouble == ReasonCode::kNone) {
      r.trouble = ReasonCode::kTaskFailed;
    }
  }
  Update(g);
  if (!stop) return absl::OkStatus();
  const GangIndex winner = gangs.Find(on_behalf_of);
  if (winner != GangStore::kNoGang &&
      gangs.at(winner).phase == GangPhase::kNominated) {
    UndoNomination(winner);
  }
  return absl::OkStatus();
}

}  // namespace muster
