// A fixed piece of work, half of it waiting for memory, by which other cases of
// a program are told without seconds: benchmarks/gate.py.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/random.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {

// cpu_us: 50,000 numbers are sorted and as many keys found in a tree of
// 100,000; the median of fifteen times.
inline void BM_Yardstick(benchmark::State& state) {
  constexpr uint32_t kKeys = 100'000, kFound = 50'000;
  constexpr int kTimes = 15;
  std::map<std::string, uint32_t> tree;
  for (uint32_t k = 0; k < kKeys; ++k) tree.emplace(Padded("key", k), k);
  std::vector<double> cpu;
  for (auto _ : state) {
    for (int i = 0; i < kTimes; ++i) {
      Untimed untimed(state);
      Random random(1);
      std::vector<uint32_t> numbers;
      std::vector<std::string> keys;
      for (uint32_t n = 0; n < kFound; ++n) {
        numbers.push_back(random.Below(kKeys));
        keys.push_back(Padded("key", numbers.back()));
      }
      cpu.push_back(untimed.Timed([&] {
        std::ranges::sort(numbers);
        uint64_t sum = numbers[kFound / 2];
        for (const std::string& key : keys) sum += tree.find(key)->second;
        benchmark::DoNotOptimize(sum);
      }));
    }
  }
  state.counters["cpu_us"] = Median(cpu) * 1e6;
}

}  // namespace muster::bench
