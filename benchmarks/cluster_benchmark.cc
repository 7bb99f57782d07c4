// What the cluster's hot questions cost: a scan for slots, by node; a task
// taken and given back; a node that changes.

#include <cstdint>
#include <string>
#include <utility>

#include "benchmark/benchmark.h"
#include "lib/cluster/cluster.h"

namespace muster {
namespace {

constexpr ResourceKind kGpu = 2;

Node MakeNode(int i) {
  Node node{.key = "node-" + std::to_string(i), .capacity = {96'000, 1 << 20}};
  node.devices.assign(8, {.model = i % 3 == 0 ? "A100" : "H100",
                          .memory_bytes = int64_t{80} << 30});
  for (int32_t d = 0; d < 8; ++d) node.devices[size_t(d)].island = d / 4;
  node.labels = {{"block", std::to_string(i / 256)},
                 {"rack", std::to_string(i / 16)}};
  return node;
}

// Three quarters of the nodes hold something.
Cluster MakeCluster(int nodes) {
  Cluster cluster(3, kGpu, {{"fabric", {"block", "rack"}}});
  Role role;
  role.shape.resources = {4'000, 16'384};
  role.shape.devices.count = 1;
  const ShapeId shape = cluster.Intern(role, 0);
  for (int i = 0; i < nodes; ++i) {
    const NodeIndex n = cluster.Upsert(MakeNode(i)).index;
    Allocation a;
    for (int t = 0; t < i * 7 % 12 - 3; ++t) {
      cluster.Take(n, shape, Ledger::kBoth, &a);
    }
  }
  return cluster;
}

Role MakeRole(uint32_t count, int32_t milli, int64_t memory = 0) {
  Role role;
  role.shape.resources = {8'000, 32'768};
  role.shape.devices = {.count = count, .milli = milli, .memory_bytes = memory};
  return role;
}

void ScanSlots(benchmark::State& state, const Role& role, uint32_t limit) {
  Cluster cluster = MakeCluster(static_cast<int>(state.range(0)));
  const ShapeId shape = cluster.Intern(role, 0);
  const uint32_t nodes = cluster.node_limit();
  for (auto _ : state) {
    uint64_t slots = 0;
    for (NodeIndex n = 0; n < nodes; ++n) {
      slots += cluster.Slots(n, shape, Ledger::kBoth, limit);
    }
    benchmark::DoNotOptimize(slots);
  }
  state.counters["per_node"] =
      benchmark::Counter(nodes, benchmark::Counter::kIsIterationInvariantRate |
                                    benchmark::Counter::kInvert);
}

void Nodes(benchmark::internal::Benchmark* b) {
  b->Arg(100)->Arg(1'213)->Arg(10'000)->Arg(100'000);
}

BENCHMARK_CAPTURE(ScanSlots, one_gpu_any, MakeRole(1, 1000), 1)->Apply(Nodes);
BENCHMARK_CAPTURE(ScanSlots, one_gpu, MakeRole(1, 1000), 1'000)->Apply(Nodes);
BENCHMARK_CAPTURE(ScanSlots, four_gpus, MakeRole(4, 1000), 8)->Apply(Nodes);
BENCHMARK_CAPTURE(ScanSlots, fraction, MakeRole(1, 300), 1)->Arg(1'213);
BENCHMARK_CAPTURE(ScanSlots, two_fractions, MakeRole(2, 300), 8)->Arg(1'213);
BENCHMARK_CAPTURE(ScanSlots, memory, MakeRole(1, 0, int64_t{10} << 30), 8)
    ->Arg(1'213);

void TakeAndCredit(benchmark::State& state, const Role& role) {
  Cluster cluster = MakeCluster(1'213);
  const ShapeId shape = cluster.Intern(role, 0);
  NodeIndex n = 0;
  for (auto _ : state) {
    Allocation a;
    if (cluster.Take(n, shape, Ledger::kBoth, &a)) {
      cluster.Credit(a, Ledger::kBoth);
    }
    n = n + 1 < 1'213 ? n + 1 : 0;
  }
}
BENCHMARK_CAPTURE(TakeAndCredit, one_gpu, MakeRole(1, 1000));
BENCHMARK_CAPTURE(TakeAndCredit, four_gpus, MakeRole(4, 1000));
BENCHMARK_CAPTURE(TakeAndCredit, fraction, MakeRole(1, 300));

void TryAndRollBack(benchmark::State& state) {
  Cluster cluster = MakeCluster(1'213);
  const ShapeId shape = cluster.Intern(MakeRole(1, 1000), 0);
  for (auto _ : state) {
    const Cluster::Mark mark = cluster.Begin();
    for (NodeIndex n = 0; n < 64; ++n) {
      Allocation a;
      cluster.Take(n, shape, Ledger::kBoth, &a);
    }
    cluster.Rollback(mark);
  }
}
BENCHMARK(TryAndRollBack);

// One node's label changes; then everything lazy is asked for.
void RelabelOneNode(benchmark::State& state) {
  Cluster cluster = MakeCluster(static_cast<int>(state.range(0)));
  const ShapeId shape = cluster.Intern(MakeRole(1, 1000), 0);
  Node node = MakeNode(50);
  int round = 0;
  for (auto _ : state) {
    node.labels[1].value = std::to_string(++round % 2);
    const NodeIndex n = cluster.Upsert(node).index;
    benchmark::DoNotOptimize(cluster.Admits(n, shape));
    benchmark::DoNotOptimize(cluster.index(0).nodes.size());
  }
}
BENCHMARK(RelabelOneNode)->Apply(Nodes);

// A host that reports the same nodes with other capacities.
void ResizeOneNode(benchmark::State& state) {
  Cluster cluster = MakeCluster(static_cast<int>(state.range(0)));
  const ShapeId shape = cluster.Intern(MakeRole(1, 1000), 0);
  Node node = MakeNode(50);
  int64_t round = 0;
  for (auto _ : state) {
    node.capacity.Set(0, 96'000 + ++round % 2);
    const NodeIndex n = cluster.Upsert(node).index;
    benchmark::DoNotOptimize(cluster.Admits(n, shape));
    benchmark::DoNotOptimize(cluster.index(0).nodes.size());
  }
}
BENCHMARK(ResizeOneNode)->Apply(Nodes);

void AddNodes(benchmark::State& state) {
  for (auto _ : state) {
    Cluster cluster = MakeCluster(static_cast<int>(state.range(0)));
    benchmark::DoNotOptimize(cluster.index(0).nodes.size());
  }
}
BENCHMARK(AddNodes)->Apply(Nodes)->Unit(benchmark::kMillisecond);

void Fork(benchmark::State& state) {
  const Cluster cluster = MakeCluster(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    Cluster copy = cluster;
    benchmark::DoNotOptimize(copy.node_limit());
  }
}
BENCHMARK(Fork)->Apply(Nodes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster
