// A scheduler with a host that does at once what it is told, and what a case
// needs to measure one call to it: the benchmarks of whole schedulers.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "muster/scheduler.h"

namespace muster::bench {

inline constexpr uint32_t kSchedulerRack = 16;        // Nodes a rack.
inline constexpr uint32_t kSchedulerBlock = 20 * 16;  // Nodes a block.

// CPU time of this thread: other work on the machine is not in it.
double CpuSeconds();

// CPU time of one call. About 0.3 us of it are the clock's: what takes less
// than some microseconds is called many times inside.
template <class F>
double CpuOf(F&& f) {
  const double begin = CpuSeconds();
  f();
  return CpuSeconds() - begin;
}

// The sample that a share of all, at most 1, is below.
double Quantile(std::vector<double> samples, double share);
double Median(std::vector<double> samples);

// What goes on in an iteration while it lives does not count for the case's
// time, but for what is Timed.
class Untimed {
 public:
  explicit Untimed(benchmark::State& state) : state_(state) {
    state_.PauseTiming();
  }
  Untimed(const Untimed&) = delete;
  Untimed& operator=(const Untimed&) = delete;
  ~Untimed() {
    if (!state_.error_occurred()) state_.ResumeTiming();
  }

  // CpuOf.
  template <class F>
  double Timed(F&& f) {
    state_.ResumeTiming();
    const double seconds = CpuOf(f);
    state_.PauseTiming();
    return seconds;
  }

 private:
  benchmark::State& state_;
};

// Whether it holds; else the case fails: it does not measure what it says.
bool Premise(benchmark::State& state, bool holds, const char* what);

// A case that repeats what it measures by itself, and tells it in counters.
template <class... Args>
void RegisterOnce(const std::string& name, Args&&... args) {
  benchmark::RegisterBenchmark(name.c_str(), std::forward<Args>(args)...)
      ->Iterations(1)
      ->Unit(benchmark::kMillisecond);
}

// Of cpu, memory and `devices` whole devices, in rack and block.
Node MakeNode(uint32_t number, uint32_t devices);
// One role of `tasks` tasks, alone.
Gang MakeGang(std::string key, const std::string& queue, uint32_t tasks,
              uint32_t devices);
// A configuration with that topology.
SchedulerConfig MakeConfig();

// Aborts where the scheduler refuses something: a case would measure nothing.
class SchedulerHost {
 public:
  explicit SchedulerHost(SchedulerConfig config);

  void Apply(EventBody what) { Apply(Event{now, std::move(what)}); }
  void Apply(const Event& event);
  void AddNodes(uint32_t count, uint32_t devices);
  // `guaranteed` in whole devices.
  void AddQueue(const std::string& key, std::optional<int64_t> guaranteed = {});
  void AddClass(const std::string& key, int32_t value, OnPreempted what);

  void Pass() { scheduler.Schedule(now, &plan); }
  // Does all that the last plan asks.
  void Answer();
  // Passes and answers until nothing is decided any more.
  void Settle();
  uint32_t Count(GangPhase phase) const;
  // How many decisions of the last plan are of that kind.
  uint32_t Decided(DecisionKind kind) const;
  // The state, but for how many events and passes there were.
  SchedulerState Content() const;

  Scheduler scheduler;
  Time now = 0;
  Plan plan;
};

}  // namespace muster::bench
