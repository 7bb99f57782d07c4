#include "test/wire/random_host.h"

#include <utility>

namespace muster::wire {
namespace {

constexpr int kNodes = 8;
constexpr int64_t kGiB = int64_t{1} << 30;

// Hosts differ in what they can do.
SchedulerConfig Config(uint64_t seed) {
  SchedulerConfig config;
  config.topologies = {{.key = "network", .levels = {"block", "rack"}}};
  config.host = {.suspend = (seed & 1) != 0,
                 .shrink = (seed & 2) == 0,
                 .choose_devices = (seed & 4) == 0,
                 .nominate = (seed & 8) == 0};
  config.partition_schemes = CommonPartitionSchemes();
  return config;
}

std::string NodeKey(uint64_t i) { return "node-" + std::to_string(i); }

Node MakeNode(uint64_t i) {
  Node node{.key = NodeKey(i)};
  node.capacity = {32000, 256 * kGiB};
  node.devices.assign(4, {.model = i % 2 == 0 ? "H100" : "A100",
                          .memory_bytes = 80 * kGiB,
                          .island = 0});
  if (i % 3 == 0) {
    for (Device& d : node.devices) d.partition_scheme = "a100-80gb";
    node.devices[0].partitions = {{"3g.40gb", 0}, {"1g.10gb", 4}};
  }
  node.labels = {{"block", "b0"}, {"rack", "r" + std::to_string(i / 4)}};
  return node;
}

}  // namespace

RandomHost::RandomHost(uint64_t seed)
    : random_(seed), scheduler_(*Scheduler::Create(Config(seed))) {
  SetUp();
}

void RandomHost::SetUp() {
  for (int i = 0; i < kNodes; ++i) Report(NodeChanged{MakeNode(i)});
  Report(PriorityClassChanged{
      {.key = "low", .value = 1, .on_preempted = OnPreempted::kSuspend}});
  Report(PriorityClassChanged{{.key = "high", .value = 9, .grace = kSecond}});
  Report(QueueChanged{{.key = "company"}});
  for (const char* team : {"blue", "red"}) {
    Queue queue{.key = team, .parent = "company"};
    queue.quotas = {{.resource = "gpu", .guarantee = 16000, .limit = 28000}};
    Report(QueueChanged{queue});
  }
}

void RandomHost::Step() {
  now_ += static_cast<Time>(Below(60)) * kSecond;
  SomethingHappens();
  Answer();
  scheduler_.Schedule(now_, &plan_);
  for (const Decision& d : plan_.decisions) open_.push_back(d.seq);
}

void RandomHost::Report(EventBody what) {
  scheduler_.Apply({.at = now_, .what = std::move(what)}).IgnoreError();
}

void RandomHost::SomethingHappens() {
  switch (Below(16)) {
    case 0:
      return Report(NodeDown{SomeNode()});
    case 1:
    case 2:
      return Report(NodeUp{SomeNode()});
    case 3:
      return Report(NodeDrained{SomeNode(), Below(3) == 0});
    case 4:
      return Report(GangCancelled{GangIn(GangPhase::kWaiting)});
    case 5:
      return Report(CheckpointTaken{GangIn(GangPhase::kRunning), now_});
    case 6:
      return Report(TasksAnswered{GangIn(GangPhase::kRunning),
                                  {{.outcome = TaskOutcome::kFailed}}});
    case 7:
      return Report(GangHeld{GangIn(GangPhase::kWaiting), Below(2) == 0});
    case 8:
    case 9:
      return Report(GangFinished{GangIn(GangPhase::kRunning)});
    case 10:
      return ReportAll();
    default:
      return Submit();
  }
}

void RandomHost::Submit() {
  Gang gang{.key = "gang-" + std::to_string(++submitted_),
            .queue = Below(2) == 0 ? "blue" : "red",
            .priority_class = Below(3) == 0 ? "high" : "low",
            .submitted = now_};
  Role& role = gang.roles.emplace_back();
  role.name = "worker";
  role.min_tasks = static_cast<uint32_t>(1 + Below(4));
  role.desired_tasks = role.min_tasks + static_cast<uint32_t>(Below(3));
  role.shape.resources = {1000, kGiB};
  role.shape.devices.count = static_cast<uint32_t>(1 + Below(4));
  if (Below(4) == 0) {
    role.shape.devices.count = 1;
    role.shape.devices.partition = Below(2) == 0 ? "1g.10gb" : "3g.40gb";
  }
  if (Below(8) == 0) gang.max_runtime = 300 * kSecond;
  if (Below(3) == 0) role.topology.required = "rack";
  if (Below(2) == 0) {
    scheduler_.Submit(std::move(gang)).IgnoreError();
  } else {
    Report(GangSubmitted{std::move(gang)});
  }
}

void RandomHost::Answer() {
  std::vector<uint64_t> waiting;
  for (const uint64_t seq : open_) {
    const uint64_t dice = Below(10);
    if (dice < 2) waiting.push_back(seq);
    if (dice == 2) Report(DecisionRefused{seq});
    if (dice > 2) Report(DecisionApplied{seq});
  }
  open_ = std::move(waiting);
}

// All is as the scheduler believes, but for the first task of one gang.
void RandomHost::ReportAll() {
  const std::string lost = GangIn(GangPhase::kRunning);
  Reconciled whole;
  const SchedulerState state = scheduler_.State();
  for (const NodeState& node : state.nodes) {
    whole.nodes.push_back(node.node);
    if (node.down) whole.down.push_back(node.node.key);
  }
  for (const GangState& gang : state.gangs) {
    for (const TaskState& task : gang.tasks) {
      const bool releasing = task.phase == TaskPhase::kReleasing;
      if (!releasing && task.phase != TaskPhase::kRunning) continue;
      if (gang.gang.key == lost && task.task == TaskId{}) continue;
      whole.tasks.push_back({.gang = gang.gang.key,
                             .task = task.task,
                             .node = task.node,
                             .releasing = releasing});
    }
  }
  Report(std::move(whole));
}

std::string RandomHost::GangIn(GangPhase phase) {
  std::vector<std::string> keys;
  for (const GangState& gang : scheduler_.State().gangs) {
    if (gang.phase == phase) keys.push_back(gang.gang.key);
  }
  return keys.empty() ? "" : keys[Below(keys.size())];
}

std::string RandomHost::SomeNode() { return NodeKey(Below(kNodes)); }

}  // namespace muster::wire
