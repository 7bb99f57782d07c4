#include "benchmarks/step_search.h"

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <vector>

namespace muster { extern uint64_t g_trace[64]; }
namespace muster::bench {
namespace {

constexpr uint32_t kBatch = 16;

double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec) * 1e-9;
}

double Median(std::vector<double>& values) {
  const auto middle =
      values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Time(benchmark::State& state, uint32_t nodes, const MakeSearch& make) {
  const std::unique_ptr<StepSearch> search = make(nodes);
  std::vector<double> times, per_step;
  uint64_t steps = 0;
  const auto batch = [&] {
    search->Prepare(kBatch);
    steps = 0;
    for (auto& t : g_trace) t = 0;
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
    times.push_back(took / kBatch * 1e9);
    per_step.push_back(took * 1e9 / static_cast<double>(steps));
  }
  if (times.empty()) return;
  for (int i = 0; i < 64; ++i) if (g_trace[i]) state.counters["t" + std::to_string(i)] = static_cast<double>(g_trace[i]) / kBatch;
  state.counters["ns_per_step"] = Median(per_step);
  state.counters["ns"] = Median(times);
  state.counters["steps"] = static_cast<double>(steps) / kBatch;
}

}  // namespace

void RegisterSearch(const std::string& name, std::span<const uint32_t> nodes,
                    const MakeSearch& make) {
  for (const uint32_t n : nodes) {
    const std::string full = "BM_Step/" + name + "/nodes:" + std::to_string(n);
    benchmark::RegisterBenchmark(
        full.c_str(),
        [n, make](benchmark::State& state) { Time(state, n, make); })
        ->UseManualTime()
        ->MinTime(0.05)
        ->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace muster::bench
