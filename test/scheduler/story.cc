#include "test/scheduler/story.h"

#include <algorithm>
#include <utility>

#include "gtest/gtest.h"

namespace muster {

Gang Job(const std::string& key, uint32_t tasks, uint32_t gpus) {
  Gang gang;
  gang.key = key;
  gang.queue = "q";
  Role role;
  role.min_tasks = tasks;
  role.desired_tasks = tasks;
  role.shape.devices.count = gpus;
  gang.roles.push_back(role);
  return gang;
}

Gang Job(const std::string& key, uint32_t tasks, uint32_t gpus,
         const std::string& priority_class) {
  Gang gang = Job(key, tasks, gpus);
  gang.priority_class = priority_class;
  return gang;
}

Gang Elastic(const std::string& key, uint32_t min, uint32_t desired,
             const std::string& priority_class) {
  Gang gang = Job(key, min, 1, priority_class);
  gang.roles[0].desired_tasks = desired;
  return gang;
}

Gang WithMemory(Gang gang, int64_t bytes) {
  gang.roles[0].shape.devices = {.count = 1, .milli = 0, .memory_bytes = bytes};
  return gang;
}

Node Machine(const std::string& key, uint32_t gpus) {
  Node node;
  node.key = key;
  node.capacity = {64'000, int64_t{1} << 38};
  node.devices.resize(gpus);
  return node;
}

Quota GpuQuota(std::optional<int64_t> guaranteed,
               std::optional<int64_t> limit) {
  Quota quota{.resource = "gpu"};
  if (guaranteed) quota.guarantee = *guaranteed * kWholeDevice;
  if (limit) quota.limit = *limit * kWholeDevice;
  return quota;
}

std::string Line(const DecisionRecord& d) {
  std::string line = std::string(Name(d.kind)) + " " + d.gang;
  if (!d.on_behalf_of.empty()) line += " for " + d.on_behalf_of;
  const bool places =
      d.kind == DecisionKind::kStart || d.kind == DecisionKind::kGrow ||
      d.kind == DecisionKind::kNominate || d.kind == DecisionKind::kResume;
  if (places || d.kind == DecisionKind::kShrink) line += ":";
  for (const PlannedTaskRecord& t : d.tasks) {
    if (places) line += " " + t.node;
    if (d.kind == DecisionKind::kShrink) {
      line += " " + std::to_string(t.task.role) + "/" +
              std::to_string(t.task.index);
    }
  }
  return line;
}

Story::Story(SchedulerConfig config)
    : scheduler_(*Scheduler::Create(std::move(config))) {}

absl::Status Story::Try(const EventBody& what) {
  const absl::Status status = scheduler_.Apply({now, what});
  const absl::Status valid = scheduler_.Validate();
  EXPECT_TRUE(valid.ok()) << valid;
  return status;
}

void Story::Happens(const EventBody& what) {
  const absl::Status status = Try(what);
  EXPECT_TRUE(status.ok()) << status;
}

void Story::HasNode(const std::string& key, uint32_t gpus) {
  Happens(NodeChanged{Machine(key, gpus)});
}

void Story::HasQueue(const std::string& key, std::vector<Quota> quotas,
                     const std::string& parent, uint32_t weight) {
  Queue queue;
  queue.key = key;
  queue.parent = parent;
  queue.weight = weight;
  queue.quotas = std::move(quotas);
  Happens(QueueChanged{queue});
}

void Story::HasClasses() {
  Happens(PriorityClassChanged{{.key = "low", .value = 0}});
  Happens(PriorityClassChanged{{.key = "mid", .value = 10}});
  Happens(PriorityClassChanged{{.key = "high", .value = 20}});
}

void Story::Submit(Gang gang) { Happens(GangSubmitted{std::move(gang)}); }

std::vector<std::string> Story::Pass() {
  scheduler_.Schedule(now, &plan_);
  const absl::Status valid = scheduler_.Validate();
  EXPECT_TRUE(valid.ok()) << valid;
  const PlanRecord record = scheduler_.Record(plan_);
  std::vector<std::string> lines;
  for (const DecisionRecord& d : record.decisions) {
    lines.push_back(Line(d));
    asked_.push_back(d);
    pending_.push_back(d.seq);
  }
  return lines;
}

std::vector<std::string> Story::PassAfter(int64_t seconds) {
  now += seconds * kSecond;
  return Pass();
}

void Story::AllDone() {
  for (uint64_t seq : std::exchange(pending_, {}))
    Happens(DecisionApplied{seq});
}

uint64_t Story::Seq(DecisionKind kind, const std::string& gang) const {
  for (auto d = asked_.rbegin(); d != asked_.rend(); ++d) {
    if (d->kind == kind && d->gang == gang) return d->seq;
  }
  ADD_FAILURE() << "no decision to " << Name(kind) << " " << gang;
  return 0;
}

void Story::Applied(DecisionKind kind, const std::string& gang) {
  const uint64_t seq = Seq(kind, gang);
  std::erase(pending_, seq);
  Happens(DecisionApplied{seq});
}

void Story::Refused(DecisionKind kind, const std::string& gang) {
  const uint64_t seq = Seq(kind, gang);
  std::erase(pending_, seq);
  Happens(DecisionRefused{seq});
}

void Story::Answers(const std::string& gang, TaskId task, TaskOutcome outcome,
                    uint32_t attempt) {
  Happens(TasksAnswered{gang, {{task, attempt, outcome, "", {}}}});
}

std::string Story::Phase(const std::string& gang) const {
  const absl::StatusOr<GangState> state = scheduler_.Find(gang);
  return state.ok() ? std::string(Name(state->phase)) : "gone";
}

std::string Story::Why(const std::string& gang) const {
  const absl::StatusOr<Explanation> e = scheduler_.Explain(gang);
  return e.ok() ? ToText(e->reason) : std::string("gone");
}

GangState Story::Of(const std::string& gang) const {
  absl::StatusOr<GangState> state = scheduler_.Find(gang);
  EXPECT_TRUE(state.ok()) << state.status();
  return state.ok() ? *state : GangState();
}

std::string Story::Where(const std::string& gang) const {
  std::string nodes;
  for (const TaskState& t : Of(gang).tasks) {
    nodes += (nodes.empty() ? "" : " ") + t.node;
  }
  return nodes;
}

int64_t Story::FreeGpus(const std::string& node, Ledger ledger) const {
  const ClusterView cluster = scheduler_.cluster();
  return cluster.free(cluster.Find(node).index, cluster.device_kind(), ledger) /
         kWholeDevice;
}

void Story::ExpectRestorable() const {
  const SchedulerState state = scheduler_.State();
  absl::StatusOr<Scheduler> again = Scheduler::Restore(state);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->StateHash(), scheduler_.StateHash());
  EXPECT_EQ(again->State(), state);
}

}  // namespace muster
