// Where a gang goes: what one question to the solver costs.
//
// BM_Place asks and changes nothing; BM_PlaceCommit places for good (and
// brings the other live shapes up to date, too); BM_PlaceUndo places inside a
// transaction and rolls it back. Medians over batches, as ns_median. vs_scan,
// vs_simd_scan and vs_rebuild: how many times longer peers take in the same
// run that only find out how much room each domain has (scan_peer.h).
//
// Without a suffix a case runs on a steady state with one resource kind;
// /scattered, /uneven: another state; /full: four kinds, 64 shapes with
// selectors in turn, islands of devices.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/busy_cluster.h"
#include "benchmarks/scan_peer.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kBatch = 64;
constexpr size_t kPeerRuns = 25;

struct Case {
  uint32_t nodes = 0;
  uint32_t tasks = 1;
  uint32_t devices = 1;
  const char* required = "";
  State state = State::kSteady;
  Kinds kinds = Kinds::kOne;
};

double Seconds(Clock::duration d) {
  return std::chrono::duration<double>(d).count();
}

double Median(std::vector<double> values) {
  const auto middle =
      values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double MedianOf(size_t runs, const std::function<void()>& what) {
  std::vector<double> times;
  for (size_t i = 0; i < runs; ++i) {
    const Clock::time_point start = Clock::now();
    what();
    times.push_back(Seconds(Clock::now() - start));
  }
  return Median(std::move(times));
}

void ComparePeers(benchmark::State& state, const Case& c, BusyCluster& busy,
                  ShapeId shape, double median) {
  ScanPeer peer(busy.cluster);
  const auto ratio = [&](const std::function<uint32_t()>& sum) {
    return MedianOf(kPeerRuns, [&] { benchmark::DoNotOptimize(sum()); }) /
           median;
  };
  state.counters["vs_scan"] = ratio([&] { return peer.Plain(c.devices); });
  state.counters["vs_simd_scan"] = ratio([&] { return peer.Simd(c.devices); });
  state.counters["vs_rebuild"] =
      ratio([&] { return peer.Rebuild(busy.cluster, shape); });
}

enum class Act : uint8_t { kAsk, kCommit, kUndo };

// Times batches of questions; what they placed is undone between batches.
void BM_Placement(benchmark::State& state, const Case& c, Act act) {
  BusyCluster& busy = Busy(c.nodes, c.state, c.kinds);
  Cluster& cluster = busy.cluster;
  const std::vector<PreparedGang> gangs =
      busy.Gangs(c.tasks, c.devices, c.required);
  std::vector<PreparedGang> others;  // Shapes that live beside it.
  for (const uint32_t devices : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    if (c.kinds == Kinds::kFour || devices == c.devices) continue;
    others.push_back(busy.Gangs(1, devices, "")[0]);
  }
  const std::unique_ptr<GangSolver> solver = NewGangSolver();
  PlacementRequest request;
  PlacementResult result;
  size_t fits = 0, asked = 0;
  const auto ask = [&](const PreparedGang& gang, bool dry_run) {
    request.gang = &gang;
    request.dry_run = dry_run;
    solver->Place(cluster, request, &result);
    ++asked;
    fits += result.fit == Fit::kFits;
  };
  const auto warm = [&] {
    for (const PreparedGang& gang : gangs) ask(gang, true);
    for (const PreparedGang& gang : others) ask(gang, true);
  };
  // What is placed for good uses up what is free: not too much of it.
  const size_t batch_size =
      act == Act::kCommit
          ? std::clamp<size_t>(c.nodes / 200 / c.tasks, 1, kBatch)
          : kBatch;
  std::vector<double> batches;
  size_t next = 0;
  for (auto _ : state) {
    state.PauseTiming();
    warm();
    const Cluster::Mark batch = cluster.Begin();
    state.ResumeTiming();
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < batch_size; ++i) {
      const PreparedGang& gang = gangs[next++ % gangs.size()];
      if (act == Act::kUndo) {
        const Cluster::Mark mark = cluster.Begin();
        ask(gang, false);
        cluster.Rollback(mark);
      } else {
        ask(gang, act == Act::kAsk);
      }
    }
    if (act == Act::kCommit) {
      for (const PreparedGang& gang : others) ask(gang, true);
    }
    const double took = Seconds(Clock::now() - start);
    state.PauseTiming();
    cluster.Rollback(batch);
    batches.push_back(took / static_cast<double>(batch_size));
    state.ResumeTiming();
  }
  state.SetItemsProcessed(static_cast<int64_t>(batches.size() * batch_size));
  const double median = Median(batches);
  state.counters["ns_median"] = median * 1e9;
  state.counters["fits"] =
      static_cast<double>(fits) / static_cast<double>(asked);
  state.counters["steps"] = static_cast<double>(result.steps);
  state.counters["optimal"] = result.certificate.optimal ? 1 : 0;
  ComparePeers(state, c, busy, gangs[0].shapes[0][0], median);
}

std::string Text(const Case& c) {
  std::string text = "nodes:" + std::to_string(c.nodes) +
                     "/gang:" + std::to_string(c.tasks) + "x" +
                     std::to_string(c.devices);
  if (c.state == State::kScattered) text += "/scattered";
  if (c.state == State::kUneven) text += "/uneven";
  if (c.kinds == Kinds::kFour) text += "/full";
  return text;
}

void Register(const Case& c) {
  const auto add = [&](const char* name, Act act) {
    benchmark::RegisterBenchmark((std::string(name) + "/" + Text(c)).c_str(),
                                 BM_Placement, c, act)
        ->Unit(benchmark::kMicrosecond);
  };
  add("BM_Place", Act::kAsk);
  add("BM_PlaceCommit", Act::kCommit);
  add("BM_PlaceUndo", Act::kUndo);
}

void RegisterGangs(uint32_t nodes, State state, Kinds kinds) {
  Register({nodes, 1, 1, "", state, kinds});
  Register({nodes, 8, 8, "", state, kinds});
  if (nodes < 1000) return;
  Register({nodes, 64, 8, "block", state, kinds});
  if (nodes >= 10000) Register({nodes, 512, 8, "", state, kinds});
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const uint32_t nodes : {100u, 1000u, 10000u, 100000u, 1000000u}) {
    RegisterGangs(nodes, State::kSteady, Kinds::kOne);
  }
  RegisterGangs(100000, State::kScattered, Kinds::kOne);
  RegisterGangs(100000, State::kUneven, Kinds::kOne);
  RegisterGangs(100000, State::kSteady, Kinds::kFour);
  RegisterGangs(100000, State::kScattered, Kinds::kFour);
  return true;
}();

}  // namespace
}  // namespace muster::bench
