// What JSON of the API server costs: a list of pods, one event, a body.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/api/writers.h"
#include "adapters/kubernetes/client/line_splitter.h"
#include "adapters/kubernetes/client/watch_event.h"
#include "benchmarks/kubernetes_objects.h"
#include "benchmarks/scheduler_host.h"
#include "simdjson.h"

namespace muster::kubernetes::api {
namespace {

std::string SomeList(int64_t pods) {
  return bench::ListJson(
      "PodList",
      [](int64_t i) { return bench::PodJson(i, bench::NodeName(i)); }, 0, pods);
}

// Of the same bytes, by simdjson alone; nothing is made of what it finds.
class ParserAlone {
 public:
  explicit ParserAlone(const std::string& list) : list_(list) {}

  void Parse() {
    simdjson::dom::element all;
    if (parser_.parse(list_).get(all) != simdjson::SUCCESS) std::abort();
    benchmark::DoNotOptimize(all);
  }

 private:
  simdjson::padded_string list_;
  simdjson::dom::parser parser_{};
};

// vs_simdjson: the median over what ParserAlone takes, in turns with it.
void BM_ReadPodList(benchmark::State& state) {
  const std::string list = SomeList(state.range(0));
  Reader reader;
  ParserAlone alone(list);
  std::vector<double> seconds, alone_seconds;
  for (auto _ : state) {
    int64_t gpus = 0, bad = 0;
    bool ok = false;
    seconds.push_back(bench::CpuOf([&] {
      ok = reader
               .ReadList<Pod>(
                   list,
                   [&](const Pod& pod) {
                     gpus += pod.requests.at("nvidia.com/gpu");
                   },
                   [&](const BadObject&) { ++bad; })
               .ok();
    }));
    state.PauseTiming();
    alone_seconds.push_back(bench::CpuOf([&] { alone.Parse(); }));
    state.ResumeTiming();
    if (!ok || bad != 0 || gpus != 1000 * state.range(0)) {
      state.SkipWithError("the list was not read");
      break;
    }
  }
  const auto pods = static_cast<double>(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(list.size()));
  state.counters["us_per_pod"] = benchmark::Counter(
      pods / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["vs_simdjson"] =
      bench::Median(seconds) / bench::Median(alone_seconds);
  state.counters["bytes_per_pod"] =
      static_cast<double>(list.size()) / static_cast<double>(state.range(0));
}
BENCHMARK(BM_ReadPodList)->Arg(5000)->Unit(benchmark::kMillisecond);

void BM_ReadPodEvent(benchmark::State& state) {
  std::string line = R"({"type":"ADDED","object":)" +
                     bench::PodJson(7, bench::NodeName(7)) + "}";
  const size_t size = line.size();
  line.append(client::kPadding, ' ');
  client::WatchReader watch;
  Reader reader;
  for (auto _ : state) {
    const auto event = watch.ReadEvent(std::string_view(line).substr(0, size));
    auto pod = event.ok() ? reader.Read<Pod>(event->object) : event.status();
    if (!pod.ok()) {
      state.SkipWithError("the event was not read");
      break;
    }
    benchmark::DoNotOptimize(pod);
  }
}
BENCHMARK(BM_ReadPodEvent)->Unit(benchmark::kMicrosecond);

void BM_WriteBinding(benchmark::State& state) {
  const PodBinding binding{.namespace_name = "research",
                           .name = "train-00007",
                           .uid = "5b1f7a52-0000-4000-8000-000000000007",
                           .node = "node-00017"};
  for (auto _ : state) {
    benchmark::DoNotOptimize(BindingBody(
        binding, {{"muster.dev/decision", "42"}, {"muster.dev/task", "3"}}));
  }
}
BENCHMARK(BM_WriteBinding)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace muster::kubernetes::api
