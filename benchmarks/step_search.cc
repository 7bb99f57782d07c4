#include "benchmarks/step_search.h"

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>

namespace muster::bench {
namespace {

constexpr uint32_t kBatch = 16;

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

// Of all searches timed but those that an index answers.
double g_least = 1e9, g_most = 0;

void Time(benchmark::State& state, uint32_t nodes, const MakeSearch& make,
          bool counts) {
  const std::unique_ptr<StepSearch> search = make(nodes);
  double least = 1e18, per_step = 1e18;  // Whatever else the machine does.
  uint64_t steps = 0;
  const auto batch = [&] {
    search->Prepare(kBatch);
    steps = 0;
    const double start = ThreadSeconds();
    for (uint32_t i = 0; i < kBatch; ++i) steps += search->Ask(i);
    const double took = ThreadSeconds() - start;
    if (!search->Finish()) state.SkipWithError("another answer");
    return took;
  };
  batch();  // Memory is there.
  for (auto _ : state) {
    const double took = batch();
    state.SetIterationTime(took);
    least = std::min(least, took / kBatch * 1e9);
    per_step = std::min(per_step, took * 1e9 / static_cast<double>(steps));
  }
  if (counts) g_least = std::min(g_least, per_step);
  if (counts) g_most = std::max(g_most, per_step);
  state.counters["ns_per_step"] = per_step;
  state.counters["ns"] = least;
  state.counters["steps"] = static_cast<double>(steps) / kBatch;
}

}  // namespace

void RegisterSearch(const std::string& name, std::span<const uint32_t> nodes,
                    const MakeSearch& make, bool counts) {
  for (const uint32_t n : nodes) {
    const std::string full = "BM_Step/" + name + "/nodes:" + std::to_string(n);
    benchmark::RegisterBenchmark(
        full.c_str(),
        [=](benchmark::State& state) { Time(state, n, make, counts); })
        ->UseManualTime()
        ->MinTime(0.05)
        ->Unit(benchmark::kMicrosecond);
  }
}

void RegisterSpread() {
  benchmark::RegisterBenchmark("BM_StepSpread", [](benchmark::State& state) {
    for (auto _ : state) continue;
    if (g_most == 0) return state.SkipWithError("nothing was timed");
    state.counters["least_ns"] = g_least;
    state.counters["most_ns"] = g_most;
    state.counters["spread"] = g_most / g_least;
  })->Iterations(1);
}

}  // namespace muster::bench
