// What the controller costs: from a parsed event to the request that the
// transport gets, and from a cluster's lists to the first decisions.
// vs_core: by how much more than the library alone takes, in the same run, for
// gangs of the same shapes on as many nodes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "adapters/kubernetes/host/object_sink.h"
#include "benchmarks/kubernetes_objects.h"
#include "benchmarks/kubernetes_world.h"
#include "benchmarks/padded.h"
#include "benchmarks/peak_memory.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {
namespace {

constexpr uint32_t kNodes = 1'000;
constexpr int64_t kGpus = 8 * kNodes;
constexpr int64_t kMicros = 1'000'000;
constexpr int64_t kMillis = 1'000;

void Report(benchmark::State& state, const char* name,
            const std::vector<double>& seconds) {
  state.counters[std::string(name) + "_p50_us"] =
      kMicros * Quantile(seconds, 0.5);
  state.counters[std::string(name) + "_p99_us"] =
      kMicros * Quantile(seconds, 0.99);
}

// The library alone: nodes as those of KubernetesWorld, and a gang like one of
// its pods.
SchedulerHost CoreHost() {
  SchedulerHost host(MakeConfig());
  host.AddNodes(kNodes, 8);
  host.AddQueue("q");
  return host;
}

Gang CoreGang(int64_t number) {
  constexpr int64_t kShapes = 48;
  Gang gang = MakeGang(Padded("g", static_cast<uint32_t>(number)), "q", 1, 1);
  gang.roles[0].shape.resources.Set(0, 1000 + 100 * (number % kShapes));
  return gang;
}

// CPU seconds: so many are submitted, placed in one pass, and run.
double CoreBatch(int64_t gangs) {
  SchedulerHost host = CoreHost();
  std::vector<Event> events;
  for (int64_t i = 0; i < gangs; ++i) {
    events.push_back({.at = host.now, .what = GangSubmitted{CoreGang(i)}});
  }
  return CpuOf([&] {
    for (const Event& event : events) host.Apply(event);
    host.Pass();
    host.Answer();
  });
}

// CPU seconds of a gang's whole life, with a pass behind each of its events;
// median over hundreds of lives, where half of the devices are free.
double CoreLife() {
  constexpr int64_t kSamples = 20, kLives = 100;
  SchedulerHost host = CoreHost();
  int64_t number = 0;
  for (; number < kGpus / 2; ++number) {
    host.Apply(GangSubmitted{CoreGang(number)});
  }
  host.Settle();
  std::vector<double> seconds;
  for (int64_t sample = 0; sample < kSamples; ++sample) {
    std::vector<Gang> gangs;
    for (int64_t i = 0; i < kLives; ++i) gangs.push_back(CoreGang(number++));
    seconds.push_back(CpuOf([&] {
                        for (Gang& gang : gangs) {
                          const std::string key = gang.key;
                          host.now += 10 * kMillisecond;
                          host.Apply(GangSubmitted{std::move(gang)});
                          host.Pass();
                          host.Answer();
                          host.Pass();
                          host.Apply(GangFinished{key});
                          host.Pass();
                        }
                      }) /
                      kLives);
  }
  return Median(std::move(seconds));
}

// One event at a time, 10 ms apart: a pod comes, its binding is answered, it
// runs, another one ends and is deleted. `waiting`: so many pods wait for room
// behind a full cluster; else half of it is free.
void BM_PodEvent(benchmark::State& state) {
  const int64_t waiting = state.range(0);
  KubernetesWorld world(kNodes, 64);
  const int64_t pods = waiting > 0 ? kGpus + waiting : kGpus / 2;
  for (int64_t i = 0; i < pods; ++i) {
    world.observer().Observe(world.MakePod());
  }
  std::deque<BoundPod> running = world.Settle();
  if (!Premise(state, static_cast<int64_t>(running.size()) == pods - waiting,
               "all that has room runs")) {
    return;
  }
  std::vector<double> all, came, answered, ran, ended, gone;
  const auto event = [&](std::vector<double>* samples, auto&& observe) {
    world.Pass(10);
    const double seconds = CpuOf([&] {
      observe();
      world.Step();
    });
    samples->push_back(seconds);
    all.push_back(seconds);
  };
  const size_t bindings = world.transport().Count("/binding");
  for (auto _ : state) {
    const kubernetes::api::Pod& pod = world.MakePod();
    event(&came, [&] { world.observer().Observe(pod); });
    const std::string over = running.front().uid;
    running.pop_front();
    kubernetes::api::Pod& last = world.PodOf(over);
    last.phase = "Succeeded";
    event(&ended, [&] { world.observer().Observe(last); });
    event(&gone, [&] { world.observer().PodGone(over); });
    world.ForgetPod(over);
    event(&answered, [&] { world.transport().Poll(0); });
    for (const BoundPod& bound : world.TakeBound()) {
      kubernetes::api::Pod& bound_pod = world.PodOf(bound.uid);
      bound_pod.node_name = bound.node;
      bound_pod.phase = "Running";
      event(&ran, [&] { world.observer().Observe(bound_pod); });
      running.push_back(bound);
    }
  }
  const auto bound =
      static_cast<int64_t>(world.transport().Count("/binding") - bindings);
  if (!Premise(state, bound == static_cast<int64_t>(state.iterations()),
               "each pod that ended made room for one")) {
    return;
  }
  if (!Premise(state, world.controller().defects().empty(), "no defects")) {
    return;
  }
  const double life = Median(came) + Median(answered) + Median(ran) +
                      Median(ended) + Median(gone);
  state.counters["vs_core"] = life / CoreLife();
  state.counters["p50_us"] = kMicros * Quantile(all, 0.5);
  state.counters["p99_us"] = kMicros * Quantile(all, 0.99);
  state.counters["most_us"] = kMicros * Quantile(all, 1);
  Report(state, "came", came);
  Report(state, "answered", answered);
  Report(state, "ran", ran);
  Report(state, "ended", ended);
  Report(state, "gone", gone);
}
BENCHMARK(BM_PodEvent)
    ->ArgName("waiting")
    ->Arg(0)
    ->Arg(1000)
    ->Iterations(5000)
    ->Unit(benchmark::kMicrosecond);

// So many pods come at once to an empty cluster; all bindings may travel.
void BM_PodBatch(benchmark::State& state) {
  const int64_t pods = state.range(0);
  std::vector<double> all, observed, decided, sent, core;
  for (auto _ : state) {
    state.PauseTiming();
    KubernetesWorld world(kNodes, static_cast<int>(pods));
    std::vector<const kubernetes::api::Pod*> batch;
    for (int64_t i = 0; i < pods; ++i) batch.push_back(&world.MakePod());
    state.ResumeTiming();
    observed.push_back(CpuOf([&] {
      for (const kubernetes::api::Pod* pod : batch) {
        world.observer().Observe(*pod);
      }
    }));
    decided.push_back(CpuOf([&] { world.Decide(); }));
    sent.push_back(CpuOf([&] { world.Send(); }));
    all.push_back(observed.back() + decided.back() + sent.back());
    state.PauseTiming();
    const bool bound =
        static_cast<int64_t>(world.transport().Count("/binding")) == pods;
    if (!Premise(state, bound, "all are bound")) return;
    core.push_back(CoreBatch(pods));
    state.ResumeTiming();
  }
  state.counters["batch_ms"] = kMillis * Median(all);
  state.counters["vs_core"] = Median(all) / Median(core);
  state.counters["observe_ms"] = kMillis * Median(observed);
  state.counters["decide_ms"] = kMillis * Median(decided);
  state.counters["send_ms"] = kMillis * Median(sent);
}
BENCHMARK(BM_PodBatch)
    ->ArgName("pods")
    ->Arg(5000)
    ->Iterations(10)
    ->Unit(benchmark::kMillisecond);

// Lists in pages, as a reflector gets them, into the controller.
template <typename T>
double ReadList(kubernetes::Observer* observer, const std::string& kind,
                absl::FunctionRef<std::string(int64_t)> item, int64_t count) {
  constexpr int64_t kPage = 500;
  size_t bad = 0;
  kubernetes::ObjectSink<T> sink(
      {.is = [&](const T& object) { observer->Observe(object); },
       .gone = [](const kubernetes::ObjectName&) {},
       .bad = [&](const kubernetes::api::BadObject&) { ++bad; }});
  double seconds = 0;
  for (int64_t i = 0; i < count; i += kPage) {
    const std::string page =
        ListJson(kind, item, i, std::min(count, i + kPage));
    seconds += CpuOf([&] {
      if (i == 0) sink.OnListBegin();
      if (!sink.OnListPage(page).ok()) ++bad;
      if (i + kPage >= count) sink.OnListEnd();
    });
  }
  if (bad > 0) std::abort();
  return seconds;
}

// From the lists of a cluster to the first decisions: ten pods a node, of which
// nine tenths of the GPUs run one each; the others wait.
void BM_Sync(benchmark::State& state) {
  const int64_t nodes = state.range(0), pods = 10 * nodes;
  const int64_t running = 8 * nodes * 9 / 10;
  ResetPeak();
  for (auto _ : state) {
    auto controller = kubernetes::Controller::Create({});
    if (!controller.ok()) std::abort();
    kubernetes::Observer& observer = (*controller)->observer();
    const double read =
        ReadList<kubernetes::api::Node>(&observer, "NodeList", NodeJson,
                                        nodes) +
        ReadList<kubernetes::api::Pod>(
            &observer, "PodList",
            [&](int64_t i) {
              return PodJson(i, i < running ? NodeName(i / 8) : "");
            },
            pods);
    absl::Status status;
    const Time now = 2'000'000'000 * kSecond;
    const double synced = CpuOf([&] { status = (*controller)->Synced(now); });
    // A pass has a work budget; what it leaves is for the next.
    std::vector<kubernetes::ApiRequest> requests;
    int64_t bound = 0;
    int steps = 0;
    double decided = 0;
    for (; bound < 8 * nodes - running && steps < 100; ++steps) {
      decided += CpuOf([&] { (*controller)->Step(now, &requests); });
      bound = std::ranges::count_if(requests, [](const auto& r) {
        return std::holds_alternative<kubernetes::BindRequest>(r.body);
      });
    }
    state.counters["read_s"] = read;
    state.counters["synced_s"] = synced;
    state.counters["decided_s"] = decided;
    state.counters["steps"] = steps;
    state.counters["cpu_s"] = read + synced + decided;
    state.counters["rss_mb"] = PeakMb();
    if (!Premise(state, status.ok() && bound == 8 * nodes - running,
                 "what is free is given away")) {
      return;
    }
  }
}
BENCHMARK(BM_Sync)
    ->ArgName("nodes")
    ->Arg(1000)
    ->Arg(10'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::bench
