// Single events on large states, with the pass behind them: what a scheduler
// pays for news that say little. Worlds are made once, and are after each
// iteration as they were.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {
namespace {

constexpr double kMicro = 1e6;

// Ten gangs wait, each of a class of its own, for more than all gangs that may
// be stopped hold: the search for victims is long and finds none.
SchedulerHost FullCluster(uint32_t nodes) {
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  host.AddQueue("q");
  host.AddClass("low", 0, OnPreempted::kRequeue);
  host.AddClass("firm", 0, OnPreempted::kNever);
  host.AddClass("high", 10, OnPreempted::kRequeue);
  const uint32_t firm = nodes / 20;
  for (uint32_t g = 0; g < nodes; ++g) {
    Gang gang = MakeGang(Padded("run", g), "q", 1, 8);
    gang.priority_class = g < firm ? "firm" : "low";
    host.Apply(GangSubmitted{std::move(gang)});
  }
  host.Settle();
  for (uint32_t g = 0; g < 10; ++g) {
    Gang gang = MakeGang(Padded("wait", g), "q", nodes - firm + 1 + g, 8);
    gang.priority_class = "high";
    host.Apply(GangSubmitted{std::move(gang)});
  }
  host.Settle();
  return host;
}

// CPU time of the event with its pass, over many.
template <class What>
double EventAndPass(SchedulerHost& host, uint32_t count, const What& what) {
  std::vector<Event> events;
  for (uint32_t i = 0; i < count; ++i) events.push_back({host.now, what(i)});
  const double all = CpuOf([&] {
    for (const Event& event : events) {
      host.Apply(event);
      host.Pass();
    }
  });
  return all / count;
}

// The pass after an answer that changes nothing: of a decision, of a task.
void BM_DuplicateAnswer(benchmark::State& state) {
  constexpr uint32_t kNodes = 2'000;
  constexpr uint32_t kBatch = 1'000;
  static auto& host = *new SchedulerHost(FullCluster(kNodes));
  const SchedulerState before = host.Content();
  if (!Premise(state,
               host.Count(GangPhase::kRunning) == kNodes &&
                   host.Count(GangPhase::kWaiting) == 10,
               "not full, or not ten wait")) {
    return;
  }
  std::vector<double> quiet, decision, task;
  for (auto _ : state) {
    quiet.push_back(CpuOf([&] {
                      for (uint32_t i = 0; i < kBatch; ++i) host.Pass();
                    }) /
                    kBatch);
    decision.push_back(EventAndPass(
        host, kBatch, [](uint32_t i) { return DecisionApplied{1 + i}; }));
    task.push_back(EventAndPass(host, kBatch, [](uint32_t i) {
      return TasksAnswered{Padded("run", i), {TaskAnswer{}}};
    }));
  }
  if (!Premise(state, host.Content() == before,
               "an answer changed something")) {
    return;
  }
  state.counters["cpu_us"] = Median(decision) * kMicro;
  state.counters["vs_quiet"] = Median(decision) / Median(quiet);
  state.counters["task_us"] = Median(task) * kMicro;
  state.counters["quiet_us"] = Median(quiet) * kMicro;
}
BENCHMARK(BM_DuplicateAnswer);

// For each node a gang of eight tasks with a device, and one of two without.
SchedulerHost TenTasksANode(uint32_t nodes) {
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  host.AddQueue("q");
  for (uint32_t g = 0; g < nodes; ++g) {
    host.Apply(GangSubmitted{MakeGang(Padded("gpu", g), "q", 8, 1)});
  }
  host.Settle();
  for (uint32_t g = 0; g < nodes; ++g) {
    host.Apply(GangSubmitted{MakeGang(Padded("cpu", g), "q", 2, 0)});
  }
  host.Settle();
  return host;
}

// A node is told anew, as it is: only the event, and with its pass.
void BM_NodeChanged(benchmark::State& state) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  static auto& host = *new SchedulerHost(TenTasksANode(nodes));
  const SchedulerState before = host.Content();
  if (!Premise(state,
               nodes * 10 == state.range(1) &&
                   host.Count(GangPhase::kRunning) == nodes * 2,
               "not so many tasks")) {
    return;
  }
  std::vector<Event> events;
  for (uint32_t n = 0; n < nodes; ++n) {
    events.push_back({host.now, NodeChanged{MakeNode(n * 7 % nodes, 8)}});
  }
  std::vector<double> alone, with_pass;
  for (auto _ : state) {
    alone.push_back(CpuOf([&] {
                      for (const Event& event : events) host.Apply(event);
                    }) /
                    nodes);
    with_pass.push_back(CpuOf([&] {
                          for (const Event& event : events) {
                            host.Apply(event);
                            host.Pass();
                          }
                        }) /
                        nodes);
  }
  if (!Premise(state, host.Content() == before, "a node changed something")) {
    return;
  }
  state.counters["cpu_us"] = Median(alone) * kMicro;
  state.counters["with_pass_us"] = Median(with_pass) * kMicro;
}
BENCHMARK(BM_NodeChanged)
    ->ArgNames({"nodes", "tasks"})
    ->Args({10'000, 100'000});

// Eight gangs of one task a node; half of all gangs wait, in sixteen classes.
class FailingNodes {
 public:
  explicit FailingNodes(uint32_t gangs)
      : host_(MakeConfig()), nodes_(gangs / 16) {
    host_.AddNodes(nodes_, 8);
    host_.AddQueue("q");
    for (uint32_t g = 0; g < gangs; ++g) {
      Gang gang = MakeGang(Padded("g", g), "q", 1, 1);
      gang.submitted = g;
      if (g >= nodes_ * 8) gang.roles[0].shape.resources.Set(0, 1000 + g % 16);
      host_.Apply(GangSubmitted{std::move(gang)});
    }
    host_.Settle();
  }

  struct Times {
    double events = 0;
    double passes = 0;
    bool as_meant = false;  // What was lost has started again, all of it.
  };
  // A node goes down and comes back. What ran on it goes before what waits: it
  // starts there again, so that all is as before.
  Times Fail() {
    const std::string node = Padded("n", next_ % nodes_);
    next_ += 37;
    Times t;
    const Event down{host_.now, NodeDown{node}}, up{host_.now, NodeUp{node}};
    t.events += CpuOf([&] { host_.Apply(down); });
    t.passes += CpuOf([&] { host_.Pass(); });
    t.events += CpuOf([&] { host_.Apply(up); });
    t.passes += CpuOf([&] { host_.Pass(); });
    t.as_meant = host_.plan.decisions.size() == 8;
    host_.Answer();
    return t;
  }

 private:
  SchedulerHost host_;
  uint32_t nodes_;
  uint32_t next_ = 0;
};

// Both sizes are measured by turns, whichever is asked for: so each case has
// the ratio of its own run.
void BM_NodeDown(benchmark::State& state) {
  constexpr uint32_t kSmall = 1'000;
  constexpr uint32_t kLarge = 100'000;
  static auto& small = *new FailingNodes(kSmall);
  static auto& large = *new FailingNodes(kLarge);
  const bool is_large = state.range(0) == kLarge;
  std::vector<double> small_events, large_events, small_all, large_all;
  for (auto _ : state) {
    const FailingNodes::Times s = small.Fail(), l = large.Fail();
    if (!Premise(state, s.as_meant && l.as_meant, "not all starts again")) {
      return;
    }
    small_events.push_back(s.events);
    large_events.push_back(l.events);
    small_all.push_back(s.events + s.passes);
    large_all.push_back(l.events + l.passes);
  }
  state.counters["cpu_us"] =
      Median(is_large ? large_events : small_events) * kMicro;
  state.counters["with_passes_us"] =
      Median(is_large ? large_all : small_all) * kMicro;
  state.counters["ratio_100x"] = Median(large_events) / Median(small_events);
  state.counters["with_passes_ratio"] = Median(large_all) / Median(small_all);
}
BENCHMARK(BM_NodeDown)->ArgName("gangs")->Arg(1'000)->Arg(100'000);

// A full cluster of 2,000 nodes, and a backlog of 10,000 gangs in 500 classes:
// 20 queues, half of them with a guarantee, three priorities.
class Backlog {
 public:
  static constexpr uint32_t kNodes = 2'000;
  static constexpr uint32_t kQueues = 20;
  static constexpr uint32_t kClasses = 500;
  static constexpr uint32_t kGangs = 10'000;
  static constexpr uint32_t kOnes = kNodes * 2;

  Backlog() : host(MakeConfig()) {
    host.AddNodes(kNodes, 8);
    for (uint32_t q = 0; q < kQueues; ++q) AddQueue(q);
    host.AddClass("low", 0, OnPreempted::kRequeue);
    host.AddClass("mid", 10, OnPreempted::kRequeue);
    host.AddClass("high", 100, OnPreempted::kRequeue);
    // A quarter of the devices is held one by one.
    for (uint32_t g = 0; g < kOnes; ++g) {
      Gang gang = MakeGang(Padded("one", g), QueueKey(g % kQueues), 1, 1);
      gang.priority_class = "high";
      host.Apply(GangSubmitted{std::move(gang)});
    }
    host.Settle();
    // About as many devices as there are.
    for (uint32_t g = 0; g < kClasses * 3; ++g) Submit("run", g);
    host.Settle();
    host.now = 3'600 * kSecond;
    for (uint32_t g = 0; g < kGangs; ++g) Submit("wait", g);
    host.Settle();
  }

  SchedulerHost host;

 private:
  static std::string QueueKey(uint32_t q) { return Padded("q", q); }

  void AddQueue(uint32_t q) {
    Queue queue;
    queue.key = QueueKey(q);
    if (q % 2 == 1) {
      queue.quotas = {
          {.resource = "gpu",
           .guarantee = int64_t{kNodes} * 8 * kWholeDevice / kQueues}};
    }
    host.Apply(QueueChanged{std::move(queue)});
  }

  // Gangs whose numbers are equal modulo the number of classes are alike.
  void Submit(const char* prefix, uint32_t number) {
    static constexpr std::pair<uint32_t, uint32_t> kShapes[] = {
        {1, 1}, {1, 2}, {1, 4}, {2, 8}, {4, 8},
        {8, 8}, {1, 1}, {2, 8}, {4, 2}, {16, 8}};
    static constexpr const char* kPriorities[] = {"low",  "low", "low", "low",
                                                  "low",  "low", "mid", "mid",
                                                  "high", "low", "low"};
    const uint32_t kind = number % kClasses;
    const auto [tasks, devices] = kShapes[kind % 10];
    Gang gang = MakeGang(Padded(prefix, number), QueueKey(kind % kQueues),
                         tasks, devices);
    gang.submitted = host.now;
    gang.priority_class = kPriorities[kind % 11];
    gang.roles[0].shape.resources.Set(0, 1000 + kind);
    if (kind % 4 == 1) gang.roles[0].topology.preferred = "rack";
    if (kind % 4 == 2) gang.roles[0].topology.required = "rack";
    host.Apply(GangSubmitted{std::move(gang)});
  }
};

// Of 4,000 gangs, of a running one each time.
void BM_Checkpoint(benchmark::State& state) {
  static SchedulerHost& host = (new Backlog)->host;
  std::vector<double> quiet, checkpoint;
  constexpr uint32_t kBatch = 100;
  static uint32_t next = 0;
  for (auto _ : state) {
    quiet.push_back(CpuOf([&] {
                      for (uint32_t i = 0; i < kBatch; ++i) host.Pass();
                    }) /
                    kBatch);
    host.now += kSecond;
    checkpoint.push_back(EventAndPass(host, kBatch, [&](uint32_t) {
      return CheckpointTaken{Padded("one", next++ % Backlog::kOnes), host.now};
    }));
  }
  state.counters["cpu_us"] = Median(checkpoint) * kMicro;
  state.counters["quiet_us"] = Median(quiet) * kMicro;
}
BENCHMARK(BM_Checkpoint);

void BM_OneDeviceFreed(benchmark::State& state) {
  Backlog backlog;
  SchedulerHost& host = backlog.host;
  std::vector<double> event, pass;
  double steps = 0;
  uint32_t next = 0;
  for (auto _ : state) {
    const Event finished{host.now, GangFinished{Padded("one", next++)}};
    event.push_back(CpuOf([&] { host.Apply(finished); }));
    pass.push_back(CpuOf([&] { host.Pass(); }));
    steps += static_cast<double>(host.plan.steps);
    state.SetIterationTime(event.back() + pass.back());
    host.Answer();
    host.Settle();
  }
  state.counters["event_us"] = Median(event) * kMicro;
  state.counters["pass_ms"] = Median(pass) * 1e3;
  state.counters["pass_max_ms"] = *std::ranges::max_element(pass) * 1e3;
  state.counters["steps"] = steps / static_cast<double>(state.iterations());
}
BENCHMARK(BM_OneDeviceFreed)->Iterations(30)->UseManualTime();

}  // namespace
}  // namespace muster::bench
