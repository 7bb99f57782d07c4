// One preemption of 64 GPUs on a cluster whose every GPU is held by a small
// gang: one to four tasks of one or two GPUs on neighbouring nodes, three
// priorities, costs drawn from a fixed stream. Arguments: nodes.
//
// BM_WholeNodesInOneRack: eight tasks of eight GPUs, one rack required.
// BM_SingleGpusInOneRack: 64 tasks of one GPU, one rack required.
// BM_SingleGpusAnywhere:  64 tasks of one GPU, no topology.
// The counters: steps a preemption, victims, solver questions and the share of
// the time spent in them.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/random.h"
#include "lib/cluster/cluster.h"
#include "lib/preempt/victim_search.h"
#include "lib/solver/gang_solver.h"

namespace muster {
namespace {

constexpr ResourceKind kGpu = 1;
constexpr uint32_t kGpusPerNode = 8;
constexpr uint32_t kNodesPerRack = 20;

using bench::Random;

Role GpuRole(uint32_t tasks, uint32_t gpus) {
  Role role;
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.resources = Resources({1000, 0});
  role.shape.devices.count = gpus;
  return role;
}

// The library's solver, counting.
class CountingSolver : public GangSolver {
 public:
  using Clock = std::chrono::steady_clock;

  void Place(Cluster& cluster, const PlacementRequest& request,
             PlacementResult* result) override {
    const Clock::time_point start = Clock::now();
    solver_->Place(cluster, request, result);
    spent += Clock::now() - start;
    ++questions;
  }
  void Grow(Cluster& cluster, const PlacementRequest& request,
            PlacementResult* result) override {
    solver_->Grow(cluster, request, result);
  }

  Clock::duration spent{};
  uint64_t questions = 0;

 private:
  std::unique_ptr<GangSolver> solver_ = NewGangSolver();
};

// A full cluster; its gangs by (priority, key).
class FullCluster {
 public:
  explicit FullCluster(uint32_t nodes)
      : cluster_(2, kGpu, {Topology{.key = "net", .levels = {"rack"}}}) {
    for (uint32_t n = 0; n < nodes; ++n) {
      Node node;
      node.key = "n" + std::to_string(1'000'000 + n);
      node.capacity = Resources({1'000'000, 0});
      node.devices.resize(kGpusPerNode);
      node.labels = {
          {"rack", "r" + std::to_string(100'000 + n / kNodesPerRack)}};
      cluster_.Upsert(node);
    }
    one_ = cluster_.Intern(GpuRole(1, 1), 0);
    two_ = cluster_.Intern(GpuRole(1, 2), 0);
    for (uint32_t n = 0; n < nodes; n += kNodesPerRack) FillRack(n);
    for (size_t g = 0; g < tasks_.size(); ++g) {
      candidates_[g].tasks = tasks_[g];
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const VictimCandidate& a, const VictimCandidate& b) {
                       return a.priority < b.priority;
                     });
  }

  Cluster& cluster() { return cluster_; }
  const std::vector<VictimCandidate>& candidates() const { return candidates_; }

 private:
  void FillRack(uint32_t first) {
    std::vector<uint32_t> free(kNodesPerRack, kGpusPerNode);
    for (uint32_t node = 0; node < kNodesPerRack;) {
      if (free[node] == 0) {
        ++node;
        continue;
      }
      std::vector<Assignment>& tasks = tasks_.emplace_back();
      const bool pairs = random_() % 3 == 0;
      const uint64_t count = 1 + random_() % 4;
      for (uint32_t n = node; n < kNodesPerRack && tasks.size() < count; ++n) {
        const uint32_t gpus = pairs && free[n] >= 2 ? 2 : 1;
        if (free[n] < gpus) continue;
        Take(first + n, gpus, &tasks);
        free[n] -= gpus;
      }
      const auto size = static_cast<int64_t>(tasks.size());
      candidates_.push_back(
          {.gang = {.index = static_cast<uint32_t>(tasks_.size() - 1)},
           .priority = static_cast<int32_t>(random_() % 3),
           .cost = size * static_cast<int64_t>(1 + random_() % 14'400'000)});
    }
  }

  void Take(NodeIndex node, uint32_t gpus, std::vector<Assignment>* tasks) {
    Assignment task;
    task.task.index = static_cast<uint32_t>(tasks->size());
    cluster_.Take(node, gpus == 2 ? two_ : one_, Ledger::kBoth, &task.at);
    tasks->push_back(task);
  }

  Cluster cluster_;
  Random random_{1};
  ShapeId one_ = 0;
  ShapeId two_ = 0;
  std::vector<std::vector<Assignment>> tasks_;
  std::vector<VictimCandidate> candidates_;
};

void Preempt(benchmark::State& state, uint32_t tasks, uint32_t gpus,
             const std::string& level) {
  FullCluster full(static_cast<uint32_t>(state.range(0)));
  PreparedGang gang;
  gang.gang.groups.resize(1);
  gang.gang.groups[0].topology.required = level;
  gang.gang.roles.push_back(GpuRole(tasks, gpus));
  gang.shapes = {{full.cluster().Intern(gang.gang.roles[0], 0)}};
  PreemptionRequest request;
  request.placement.gang = &gang;
  request.placement.ledger = Ledger::kLater;
  request.candidates = full.candidates();
  CountingSolver solver;
  const std::unique_ptr<VictimSearch> preemptor = NewVictimSearch();
  PreemptionResult result;
  CountingSolver::Clock::duration total{};
  for (auto _ : state) {
    const Cluster::Mark mark = full.cluster().Begin();
    const auto start = CountingSolver::Clock::now();
    preemptor->Choose(full.cluster(), solver, request, &result);
    total += CountingSolver::Clock::now() - start;
    full.cluster().Rollback(mark);
  }
  if (result.fit != Fit::kFits) state.SkipWithError("no victims found");
  const auto rounds = static_cast<double>(state.iterations());
  state.counters["candidates"] = static_cast<double>(full.candidates().size());
  state.counters["victims"] = static_cast<double>(result.victims.size());
  state.counters["steps"] = static_cast<double>(result.steps);
  state.counters["questions"] = static_cast<double>(solver.questions) / rounds;
  state.counters["solver_share"] =
      static_cast<double>(solver.spent.count()) /
      static_cast<double>(std::max<int64_t>(1, total.count()));
}

void BM_WholeNodesInOneRack(benchmark::State& state) {
  Preempt(state, 8, 8, "rack");
}
void BM_SingleGpusInOneRack(benchmark::State& state) {
  Preempt(state, 64, 1, "rack");
}
void BM_SingleGpusAnywhere(benchmark::State& state) {
  Preempt(state, 64, 1, "");
}

BENCHMARK(BM_WholeNodesInOneRack)
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SingleGpusInOneRack)
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_SingleGpusAnywhere)
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster
