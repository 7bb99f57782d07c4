// Elastic gangs that grow: whether a pass costs as much as what it gives.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {
namespace {

constexpr double kMilli = 1e3;
constexpr uint32_t kDevices = 8;
constexpr uint32_t kQueues = 9;
constexpr uint32_t kSmall = 1'000;
constexpr uint32_t kLarge = 8'000;

// So many gangs run at their minimum of one task with one device, and desire
// eight. Nodes come with room for `more` tasks a gang: the pass that lets the
// gangs grow into it, by turns of one task.
double GrowthSeconds(benchmark::State& state, uint32_t gangs, uint32_t more) {
  Untimed untimed(state);
  SchedulerHost host(MakeConfig());
  const uint32_t full = gangs / kDevices, nodes = full * (1 + more);
  host.AddNodes(nodes, kDevices);
  for (uint32_t n = full; n < nodes; ++n) host.Apply(NodeDown{Padded("n", n)});
  for (uint32_t q = 0; q < kQueues; ++q) host.AddQueue(Padded("q", q));
  for (uint32_t g = 0; g < gangs; ++g) {
    Gang gang = MakeGang(Padded("g", g), Padded("q", g % kQueues), 1, 1);
    gang.submitted = g;
    gang.roles[0].desired_tasks = 8;
    host.Apply(GangSubmitted{std::move(gang)});
  }
  host.Settle();
  for (uint32_t n = full; n < nodes; ++n) host.Apply(NodeUp{Padded("n", n)});
  const double seconds = untimed.Timed([&] { host.Pass(); });
  Premise(state, host.plan.tasks.size() == size_t{gangs} * more,
          "not all grow by so much");
  return seconds;
}

void Growth(benchmark::State& state, uint32_t more) {
  const auto gangs = static_cast<uint32_t>(state.range(0));
  std::vector<double> small, large;
  for (auto _ : state) {
    large.push_back(GrowthSeconds(state, gangs, more));
    if (gangs == kLarge && !state.error_occurred()) {
      small.push_back(GrowthSeconds(state, kSmall, more));
    }
    if (state.error_occurred()) return;
  }
  state.counters["ms"] = Median(large) * kMilli;
  state.counters["us_per_task"] = Median(large) * 1e6 / (gangs * more);
  if (gangs == kLarge) {
    state.counters["ratio_8x"] = Median(large) / Median(small);
  }
}

// Each gang gets one task.
void BM_Growth(benchmark::State& state) { Growth(state, 1); }
// Each gang gets all it desires.
void BM_GrowthToDesired(benchmark::State& state) { Growth(state, 7); }

BENCHMARK(BM_Growth)
    ->ArgName("gangs")
    ->Arg(kSmall)
    ->Arg(2'000)
    ->Arg(4'000)
    ->Arg(kLarge)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(BM_GrowthToDesired)
    ->ArgName("gangs")
    ->Arg(kSmall)
    ->Arg(kLarge)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::bench
