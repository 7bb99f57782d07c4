// What one event costs a job of 8 and of 1,000 tasks, and what its manifest
// costs to read.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "muster/workload/life.h"
#include "muster/workload/parse.h"
#include "muster/workload/rendezvous.h"

namespace muster::workload {
namespace {

std::string Manifest(int64_t tasks) {
  return R"(apiVersion: training.kubedl.io/v1alpha1
kind: TFJob
metadata: {name: bench}
spec:
  backoffLimit: 1000000000
  tfReplicaSpecs:
    PS:
      replicas: 2
      template: {spec: {containers: [{name: tensorflow, image: i}]}}
    Worker:
      replicas: )" +
         std::to_string(tasks - 2) + R"(
      template: {spec: {containers: [{name: tensorflow, image: i}]}}
)";
}

Job MakeJob(int64_t tasks) {
  Job job = std::move(Parse(Manifest(tasks))->front().job);
  job.failure.backoff_base = 0;
  return job;
}

// Workers die in turn, each by a signal that is retried, and start again: exit,
// start, ready are three events.
void BM_Step(benchmark::State& state) {
  const auto tasks = state.range(0);
  const auto life = Life::Make(MakeJob(tasks));
  LifeState s = life->Begin();
  LifeOutput out;
  Placed placed;
  for (uint32_t r = 0; r < life->job().roles.size(); ++r) {
    for (uint32_t i = 0; i < life->job().roles[r].replicas; ++i) {
      placed.places.push_back({r, i});
    }
  }
  std::vector<LifeEvent> events{Submitted{}, placed};
  for (size_t i = 0; i < events.size(); ++i) {
    const LifeEvent event = events[i];
    (void)life->Step(event, 0, &s, &out);
    for (const Action& a : out.actions) {
      if (a.kind == ActionKind::kStart) {
        events.emplace_back(TaskReady{a.task, a.attempt});
      }
    }
  }
  const auto workers = static_cast<uint32_t>(tasks - 2);
  uint32_t index = 0, attempt = 0, restarts = 0;
  for (auto _ : state) {
    attempt = s.tasks[2 + index].attempt;
    (void)life->Step(TaskExited{{1, index}, attempt, 137}, 0, &s, &out);
    (void)life->Step(TaskStarted{{1, index}, attempt + 1}, 0, &s, &out);
    (void)life->Step(TaskReady{{1, index}, attempt + 1}, 0, &s, &out);
    index = (index + 1) % workers;
    ++restarts;
  }
  if (s.restarts != restarts || s.phase != LifePhase::kRunning) {
    state.SkipWithError("the job does not restart its tasks");
  }
  state.counters["events_per_s"] =
      benchmark::Counter(3.0 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(BM_Step)->ArgName("tasks")->Arg(8)->Arg(1000);

void BM_Parse(benchmark::State& state) {
  const std::string manifest = Manifest(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Parse(manifest));
}
BENCHMARK(BM_Parse)->ArgName("tasks")->Arg(8)->Unit(benchmark::kMicrosecond);

// TF_CONFIG of every task: bytes grow with the square of the tasks.
void BM_Rendezvous(benchmark::State& state) {
  const Job job = MakeJob(state.range(0));
  int64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    const auto rendezvous = Rendezvous::Make(job, ClusterEndpoints(job));
    for (uint32_t r = 0; r < job.roles.size(); ++r) {
      for (uint32_t i = 0; i < job.roles[r].replicas; ++i) {
        for (const auto& [name, value] : rendezvous->ForTask({r, i}).env) {
          bytes += static_cast<int64_t>(value.size());
        }
      }
    }
  }
  state.counters["bytes"] = static_cast<double>(bytes);
}
BENCHMARK(BM_Rendezvous)
    ->ArgName("tasks")
    ->Arg(8)
    ->Arg(1000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::workload
