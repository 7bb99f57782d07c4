// Elastic gangs: 1 to 8 tasks of one device each.
//   BM_GrowAll        the pass that starts them all and lets them grow to the
//                     end; there is room for all
//   BM_GrowAfterLoss  then 1 % of the nodes go down: their events, and the
//                     passes until nothing is decided any more: there is room
//                     for what was lost
// Counter cpu_ms, without the answers: the median of five worlds, in whose
// lives it is done once.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/scheduler_host.h"

namespace muster::bench {
namespace {

constexpr uint32_t kDevices = 8;
constexpr int kWorlds = 5;

// A node for each gang, and some that are left.
SchedulerHost ElasticHost(uint32_t gangs) {
  SchedulerHost host(MakeConfig());
  host.AddNodes(gangs + gangs / 50, kDevices);
  host.AddQueue("q");
  for (uint32_t g = 0; g < gangs; ++g) {
    Gang gang = MakeGang(Padded("g", g), "q", 1, 1);
    gang.roles[0].desired_tasks = kDevices;
    host.Apply(GangSubmitted{std::move(gang)});
  }
  return host;
}

// Starts and growths, in one pass.
double GrowAll(benchmark::State& state, uint32_t gangs) {
  Untimed untimed(state);
  SchedulerHost host = ElasticHost(gangs);
  const double cpu = untimed.Timed([&] { host.Pass(); });
  Premise(state, host.plan.tasks.size() == size_t{gangs} * kDevices,
          "not all tasks start");
  state.counters["decisions"] =
      host.Decided(DecisionKind::kStart) + host.Decided(DecisionKind::kGrow);
  return cpu;
}

double GrowAfterLoss(benchmark::State& state, uint32_t gangs) {
  Untimed untimed(state);
  SchedulerHost host = ElasticHost(gangs);
  host.Settle();
  host.now += kSecond;
  double cpu = untimed.Timed([&] {
    for (uint32_t n = 0; n < gangs; n += 100) {
      host.Apply(NodeDown{Padded("n", n)});
    }
  });
  size_t decisions = 0;
  while (true) {
    cpu += untimed.Timed([&] { host.Pass(); });
    decisions += host.plan.decisions.size();
    if (host.plan.decisions.empty()) break;
    host.Answer();
  }
  state.counters["decisions"] = static_cast<double>(decisions);
  Premise(state, decisions > 0, "nothing was lost");
  return cpu;
}

using Case = double (*)(benchmark::State&, uint32_t);

void MedianOfWorlds(benchmark::State& state, Case run, uint32_t gangs) {
  std::vector<double> cpu;
  for (auto _ : state) {
    for (int i = 0; i < kWorlds && !state.error_occurred(); ++i) {
      cpu.push_back(run(state, gangs));
    }
  }
  state.counters["cpu_ms"] = Median(std::move(cpu)) * 1e3;
}

int Register() {
  for (const auto& [name, run] :
       std::initializer_list<std::pair<const char*, Case>>{
           {"BM_GrowAll", GrowAll}, {"BM_GrowAfterLoss", GrowAfterLoss}}) {
    for (const uint32_t gangs : {1'000u, 8'000u}) {
      RegisterOnce(std::string(name) + "/gangs:" + std::to_string(gangs),
                   MedianOfWorlds, run, gangs);
    }
  }
  return 0;
}

[[maybe_unused]] const int kRegistered = Register();

}  // namespace
}  // namespace muster::bench
