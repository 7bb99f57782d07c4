// Passes of a scheduler that works: what a host pays for one job, from its
// submission to its end, and for a pass that finds nothing new.
//
// Nodes with 8 devices each, in racks of 40; one gang holds 85 % of them whole,
// 64 gangs of one GPU a few more.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "benchmarks/padded.h"
#include "muster/scheduler.h"

namespace muster {
namespace {

using bench::Padded;

constexpr uint32_t kDevices = 8;
constexpr uint32_t kRack = 40;

void MustApply(Scheduler& scheduler, Time at, EventBody what) {
  if (!scheduler.Apply({at, std::move(what)}).ok()) std::abort();
}

Gang OneGpu(uint32_t number, Time submitted) {
  Gang gang;
  gang.key = Padded("job", number);
  gang.queue = "research";
  gang.submitted = submitted;
  Role& role = gang.roles.emplace_back();
  role.name = "worker";
  role.shape.resources = {1000, int64_t{1} << 30};
  role.shape.devices.count = 1;
  return gang;
}

void Answer(Scheduler& scheduler, const Plan& plan) {
  for (const Decision& d : plan.decisions) {
    MustApply(scheduler, plan.now, DecisionApplied{d.seq});
  }
}

Scheduler Busy(uint32_t nodes, uint32_t* gangs) {
  SchedulerConfig config;
  config.topologies = {{"net", {"rack"}}};
  Scheduler scheduler = *Scheduler::Create(std::move(config));
  for (uint32_t n = 0; n < nodes; ++n) {
    Node node;
    node.key = Padded("n", n);
    node.capacity = {128'000, int64_t{1} << 40};
    node.devices.assign(kDevices, {.model = "H100"});
    node.labels = {{"rack", Padded("r", n / kRack)}};
    MustApply(scheduler, 0, NodeChanged{std::move(node)});
  }
  Queue queue;
  queue.key = "research";
  MustApply(scheduler, 0, QueueChanged{std::move(queue)});
  Gang filler = OneGpu(0, 0);
  filler.key = "filler";
  Role& role = filler.roles[0];
  role.min_tasks = role.desired_tasks = nodes * 85 / 100;
  role.shape.devices.count = kDevices;
  MustApply(scheduler, 0, GangSubmitted{std::move(filler)});
  *gangs = 64;
  for (uint32_t g = 0; g < *gangs; ++g) {
    MustApply(scheduler, 0, GangSubmitted{OneGpu(g, 1)});
  }
  Plan plan;
  scheduler.Schedule(0, &plan);
  Answer(scheduler, plan);
  return scheduler;
}

// Submit, place, start, finish: one 1-GPU gang through its whole life.
void BM_PassOneGpu(benchmark::State& state) {
  uint32_t next = 0;
  Scheduler scheduler = Busy(static_cast<uint32_t>(state.range(0)), &next);
  Plan plan;
  Time now = 1;
  for (auto _ : state) {
    Gang gang = OneGpu(next++, now);
    std::string key = gang.key;
    MustApply(scheduler, now, GangSubmitted{std::move(gang)});
    scheduler.Schedule(now, &plan);
    Answer(scheduler, plan);
    MustApply(scheduler, ++now, GangFinished{std::move(key)});
  }
  state.counters["gangs_per_s"] = benchmark::Counter(
      static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(BM_PassOneGpu)
    ->ArgName("nodes")
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Arg(100'000);

// A thousand gangs of 16 classes wait for more than there is; one small gang
// ends: the pass looks at every class once.
void BM_PassBlockedClasses(benchmark::State& state) {
  const uint32_t nodes = static_cast<uint32_t>(state.range(0));
  uint32_t next = 0;
  Scheduler scheduler = Busy(nodes, &next);
  for (uint32_t g = 0; g < 1000; ++g) {
    Gang gang = OneGpu(next + g, g);
    gang.roles[0].min_tasks = gang.roles[0].desired_tasks = nodes / 5 + g % 16;
    gang.roles[0].shape.devices.count = kDevices;
    MustApply(scheduler, 1, GangSubmitted{std::move(gang)});
  }
  Plan plan;
  Time now = 1;
  scheduler.Schedule(now, &plan);
  uint32_t first = 0;
  for (auto _ : state) {
    MustApply(scheduler, ++now, GangFinished{Padded("job", first)});
    scheduler.Schedule(now, &plan);
    state.PauseTiming();
    MustApply(scheduler, now, GangSubmitted{OneGpu(first, 0)});
    first = (first + 1) % 64;
    scheduler.Schedule(now, &plan);
    Answer(scheduler, plan);
    state.ResumeTiming();
  }
  state.counters["classes"] = static_cast<double>(plan.waiting.size());
}
BENCHMARK(BM_PassBlockedClasses)
    ->ArgName("nodes")
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000);

}  // namespace
}  // namespace muster
