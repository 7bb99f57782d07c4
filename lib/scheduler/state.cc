// The state as a value, and back.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lib/base/hash.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/impl.h"
#include "lib/scheduler/validate.h"

namespace muster {

GangState Scheduler::Impl::StateOf(GangIndex g) const {
  const GangRecord& r = gangs.at(g);
  const Template& t = gangs.description(r.description);
  GangState s;
  s.gang = gangs.Describe(r);
  s.gang.queue = queues.at(r.queue).queue.key;
  s.gang.priority_class = classes[r.priority_class].key;
  s.phase = r.phase;
  s.cancel = r.cancel;
  s.trouble = r.trouble;
  s.attempts = r.attempts;
  s.failures = r.failures;
  s.backoff_until = r.backoff_until;
  s.started = r.started;
  s.checkpoint = r.checkpoint;
  for (const OpenRecord& open : r.open) {
    s.open.push_back({open.seq, open.kind, open.on_behalf_of, {}});
  }
  for (const TaskRecord& task : r.tasks) {
    TaskState& out = s.tasks.emplace_back();
    out.task = task.task;
    out.phase = task.phase;
    out.attempt = task.attempt;
    if (task.phase != TaskPhase::kSucceeded) {
      out.node = cluster.node(task.at.node).key;
      out.devices = task.at.devices;
      out.slot = task.at.slot;
    }
    out.alternative = AlternativeOf(t, task);
    for (OpenDecision& open : s.open) {
      if (open.seq == task.open_seq) open.tasks.push_back(task.task);
    }
  }
  return s;
}

SchedulerState Scheduler::Impl::State() const {
  SchedulerState s;
  s.config = config;
  s.now = now;
  s.version = version;
  s.next_seq = next_seq;
  for (NodeIndex n : cluster.nodes()) {
    const NodeRecord& r = nodes[n];
    s.nodes.push_back(
        {cluster.node(n), r.down, r.draining, r.spot_notice, r.others});
  }
  for (const auto& [key, set] : node_sets) s.node_sets.push_back(set);
  for (QueueIndex q = 0; q < queues.limit(); ++q) {
    if (queues.at(q).exists) s.queues.push_back(queues.at(q).queue);
  }
  std::sort(s.queues.begin(), s.queues.end(),
            [](const Queue& a, const Queue& b) { return a.key < b.key; });
  for (size_t c = 1; c < classes.size(); ++c) {
    s.priority_classes.push_back(classes[c]);
  }
  std::sort(s.priority_classes.begin(), s.priority_classes.end(),
            [](const PriorityClass& a, const PriorityClass& b) {
              return a.key < b.key;
            });
  for (GangIndex g : gangs.Sorted()) s.gangs.push_back(StateOf(g));
  return s;
}

// Into an empty scheduler made with state.config.
absl::Status Scheduler::Impl::Load(const SchedulerState& state) {
  now = state.now;
  for (const NodeState& n : state.nodes) {
    MUSTER_RETURN_IF_ERROR(ValidateNode(config, n.node));
    if (cluster.Find(n.node.key).valid()) {
      return absl::InvalidArgumentError(
          absl::StrCat("state.nodes: '", n.node.key, "' twice"));
    }
    UpsertNode(n.node);
    const NodeIndex index = cluster.Find(n.node.key).index;
    MUSTER_RETURN_IF_ERROR(ValidateOthers(config, n.others));
    MUSTER_RETURN_IF_ERROR(ValidateDevices(index, n.others.devices));
    nodes[index].down = n.down;
    nodes[index].draining = n.draining;
    nodes[index].spot_notice = n.spot_notice;
    nodes[index].others = n.others;
    nodes[index].others.node = n.node.key;
    cluster.SetOthers(index, nodes[index].others);
    RefreshAvailability(index);
  }
  for (const NodeSet& set : state.node_sets) {
    MUSTER_RETURN_IF_ERROR(On(NodeSetChanged{set}));
  }
  for (const PriorityClass& c : state.priority_classes) {
    MUSTER_RETURN_IF_ERROR(On(PriorityClassChanged{c}));
  }
  MUSTER_RETURN_IF_ERROR(LoadQueues(state.queues));
  for (const GangState& g : state.gangs) {
    MUSTER_RETURN_IF_ERROR(LoadGang(g, state.next_seq));
  }
  now = state.now;
  version = state.version;
  next_seq = state.next_seq;
  return absl::OkStatus();
}

// Parents first, whatever the order of the keys.
absl::Status Scheduler::Impl::LoadQueues(const std::vector<Queue>& all) {
  StringMap<std::vector<const Queue*>> below;
  for (const Queue& q : all) below[q.parent].push_back(&q);
  std::vector<std::string> next{""};
  size_t loaded = 0;
  while (!next.empty()) {
    const std::string parent = std::move(next.back());
    next.pop_back();
    for (const Queue* q : below[parent]) {
      if (queues.Find(q->key) != kNoQueue) {
        return absl::InvalidArgumentError(
            absl::StrCat("state.queues: '", q->key, "' twice"));
      }
      MUSTER_RETURN_IF_ERROR(On(QueueChanged{*q}));
      next.push_back(q->key);
      ++loaded;
    }
  }
  if (loaded == all.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "state.queues: some queue's parents lead to no root");
}

absl::Status Scheduler::Impl::LoadGang(const GangState& s, uint64_t seqs) {
  Gang gang = s.gang;
  const QueueIndex q = queues.Find(gang.queue);
  const bool closed = q != kNoQueue && queues.at(q).queue.closed;
  if (closed) queues.at(q).queue.closed = false;
  const absl::Status submitted = On(GangSubmitted{std::move(gang)});
  if (closed) queues.at(q).queue.closed = true;
  MUSTER_RETURN_IF_ERROR(submitted);
  const GangIndex g = gangs.Find(s.gang.key);
  Delist(g);
  GangRecord& r = gangs.at(g);
  r.phase = s.phase;
  r.cancel = s.cancel;
  r.trouble = s.trouble;
  r.attempts = s.attempts;
  r.failures = s.failures;
  r.backoff_until = s.backoff_until;
  r.started = s.started;
  r.checkpoint = s.checkpoint;
  for (const OpenDecision& o : s.open) {
    if (o.seq == 0 || o.seq >= seqs || open_.contains(o.seq) ||
        o.tasks.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("state.gangs '", r.key, "'.open: decision ", o.seq,
                       " has no tasks, is there twice or was never made"));
    }
    r.open.push_back(
        {o.seq, o.kind, static_cast<uint32_t>(o.tasks.size()), o.on_behalf_of});
    open_[o.seq] = g;
  }
  MUSTER_RETURN_IF_ERROR(LoadTasks(s, r));
  Enlist(g);
  const absl::Status whole = ValidateGangState(g);
  if (whole.ok()) return whole;
  return absl::InvalidArgumentError(
      absl::StrCat("state.gangs: ", whole.message()));
}

absl::Status Scheduler::Impl::LoadTasks(const GangState& s, GangRecord& r) {
  const Template& t = gangs.description(r.description);
  const bool resting = s.phase == GangPhase::kWaiting;
  for (const TaskState& in : s.tasks) {
    const std::string field =
        absl::StrCat("state.gangs '", r.key, "'.tasks (", in.task.role, ", ",
                     in.task.index, ")");
    const bool known =
        in.task.role < t.prepared.shapes.size() &&
        in.task.index < t.prepared.gang.roles[in.task.role].desired_tasks &&
        in.alternative < t.prepared.shapes[in.task.role].size();
    if (!known || resting ||
        (!r.tasks.empty() && !(r.tasks.back().task < in.task))) {
      return absl::InvalidArgumentError(field +
                                        ": the gang has no such task there");
    }
    TaskRecord task;
    task.task = in.task;
    task.phase = in.phase;
    task.attempt = in.attempt;
    task.at.shape = t.prepared.shapes[in.task.role][in.alternative];
    task.at.devices = in.devices;
    task.at.slot = in.slot;
    if (in.phase != TaskPhase::kSucceeded) {
      const absl::StatusOr<NodeIndex> n = NodeNamed(in.node);
      if (!n.ok()) return n.status();
      task.at.node = *n;
    }
    for (const OpenDecision& o : s.open) {
      if (std::find(o.tasks.begin(), o.tasks.end(), in.task) != o.tasks.end()) {
        task.open_seq = o.seq;
      }
    }
    r.tasks.push_back(task);
    Hold(r, r.tasks.back());
  }
  for (OpenRecord& open : r.open) {
    const auto owed = static_cast<uint32_t>(std::count_if(
        r.tasks.begin(), r.tasks.end(),
        [&](const TaskRecord& task) { return task.open_seq == open.seq; }));
    if (owed != open.unanswered) {
      return absl::InvalidArgumentError(
          absl::StrCat("state.gangs '", r.key, "'.open: decision ", open.seq,
                       " names tasks that are nowhere"));
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
