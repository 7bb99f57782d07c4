// What one event costs on a full cluster with a standing backlog: Apply and the
// pass behind it, together. Cases BM_Backlog/nodes:N/EVENT; counters
//   cpu_us, p99_us   of the events, median and 99th percentile
//   settle_us        mean, from the event until all decisions are answered and
//                    nothing follows any more
//   starts, evictions   in the mean of an event: of its pass and of what
//                    follows it, nothing of what comes before or brings the
//                    world back
//   runner_ups       of the preemptions of these, the share for which the plan
//                    tells the next best choice; only where there are some
//   running, waiting, free_share   the world before the case
//   next_pass_vs_quiet   the median of the pass behind a what-if over that of a
//                    quiet pass before it (quiet_us): the caches are as each
//                    finds them
//   next_pass_vs_quiet_cold   the same where both find nothing in the core's
//                    caches: what is compared is what they do
//   peak_mb          the most memory the process has had until then
//   case_peak_mb     the same since the case began, its world included
// Between two events a second goes by. MUSTER_BACKLOG_EVENTS is how many there
// are (1,000; 200 on 30,000 nodes).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/backlog_world.h"
#include "benchmarks/padded.h"
#include "benchmarks/peak_memory.h"
#include "benchmarks/yardstick.h"

namespace muster::bench {
namespace {

constexpr double kMicro = 1e6;

double Mean(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) /
         static_cast<double>(samples.size());
}

// Reads so much that nothing else is left in the core's own caches.
void CoolCaches() {
  static const std::vector<char> other(8 << 20, 1);
  constexpr size_t kLine = 64;
  int sum = 0;
  for (size_t i = 0; i < other.size(); i += kLine) sum += other[i];
  benchmark::DoNotOptimize(sum);
}

uint32_t EventsOn(uint32_t nodes) {
  if (const char* given = std::getenv("MUSTER_BACKLOG_EVENTS")) {
    return static_cast<uint32_t>(std::max(1, std::atoi(given)));
  }
  return nodes >= 30'000 ? 200 : 1'000;
}

// One event of a case. Prepare is not measured; Do is: it applies the event,
// and makes the pass unless it asks something else; After brings the world back
// to what it was like.
struct Step {
  std::function<void(BacklogWorld&)> prepare;
  std::function<void(BacklogWorld&)> act;
  std::function<void(BacklogWorld&)> after;
};

void ReportTimes(benchmark::State& state, const std::vector<double>& cpu) {
  state.counters["cpu_us"] = Median(cpu) * kMicro;
  state.counters["p99_us"] = Quantile(cpu, 0.99) * kMicro;
}

void ReportPeaks(benchmark::State& state) {
  state.counters["peak_mb"] = ProcessPeakMb();
  state.counters["case_peak_mb"] = PeakMb();
}

void ReportDecided(benchmark::State& state, const BacklogWorld::Decided& sum,
                   size_t events) {
  const auto mean = [events](uint64_t count) {
    return static_cast<double>(count) / static_cast<double>(events);
  };
  state.counters["starts"] = mean(sum.starts);
  state.counters["evictions"] = mean(sum.evictions);
  if (sum.preemptions > 0) {
    state.counters["runner_ups"] = static_cast<double>(sum.runner_ups) /
                                   static_cast<double>(sum.preemptions);
  }
}

void BM_Backlog(benchmark::State& state, uint32_t nodes, const Step& step) {
  ResetPeak();
  BacklogWorld& world = SettledBacklog(nodes);
  state.counters["running"] = world.host.Count(GangPhase::kRunning);
  state.counters["waiting"] = world.host.Count(GangPhase::kWaiting);
  state.counters["free_share"] = world.FreeShare();
  const uint32_t events = EventsOn(nodes);
  std::vector<double> cpu, settle;
  BacklogWorld::Decided sum;
  for (auto _ : state) {
    for (uint32_t i = 0; i < events; ++i) {
      Untimed untimed(state);
      world.host.now += kSecond;
      world.Settle();
      step.prepare(world);
      const BacklogWorld::Decided before = world.decided;
      cpu.push_back(untimed.Timed([&] { step.act(world); }));
      settle.push_back(cpu.back() + CpuOf([&] { world.Follow(); }));
      sum += world.decided - before;
      step.after(world);
    }
  }
  ReportTimes(state, cpu);
  state.counters["settle_us"] = Mean(settle) * kMicro;
  ReportDecided(state, sum, cpu.size());
  ReportPeaks(state);
}

// A case of one event with its pass.
template <class Make>
Step EventStep(
    Make make,
    std::function<void(BacklogWorld&)> after = [](BacklogWorld&) {}) {
  auto event = std::make_shared<Event>();
  return {.prepare =
              [event, make](BacklogWorld& world) {
                *event = {world.host.now, make(world)};
              },
          .act =
              [event](BacklogWorld& world) {
                world.host.Apply(*event);
                world.host.Pass();
              },
          .after = std::move(after)};
}

Step Quiet() {
  return {.prepare = [](BacklogWorld&) {},
          .act = [](BacklogWorld& world) { world.host.Pass(); },
          .after = [](BacklogWorld&) {}};
}

Step Duplicate() {
  return EventStep([](BacklogWorld& world) {
    return TasksAnswered{world.Draw(GangPhase::kRunning), {TaskAnswer{}}};
  });
}

Step Checkpoint() {
  return EventStep([](BacklogWorld& world) {
    return CheckpointTaken{world.Draw(GangPhase::kRunning), world.host.now};
  });
}

Step NodeUnchanged() {
  return EventStep([](BacklogWorld& world) {
    return NodeChanged{world.NodeAt(world.DrawNode())};
  });
}

// A label that no gang selects by comes, and goes again.
Step UnusedLabel() {
  auto number = std::make_shared<uint32_t>();
  return EventStep(
      [number](BacklogWorld& world) {
        *number = world.DrawNode();
        Node node = world.NodeAt(*number);
        node.labels.insert(node.labels.begin(), {"a", "unused"});
        return NodeChanged{std::move(node)};
      },
      [number](BacklogWorld& world) {
        world.host.Apply(NodeChanged{world.NodeAt(*number)});
        world.Settle();
      });
}

Step ExternalUsageUnchanged() {
  return EventStep([](BacklogWorld& world) {
    return ExternalUsageChanged{
        ExternalUsage{.node = world.NodeAt(world.DrawNode()).key}};
  });
}

void FinishOneThatWaits(BacklogWorld& world) {
  world.host.Apply(GangFinished{world.TakeOut(GangPhase::kWaiting)});
  world.Settle();
}

Step SubmitKnown() {
  return EventStep(
      [](BacklogWorld& world) { return GangSubmitted{world.MakeKnown()}; },
      FinishOneThatWaits);
}

Step SubmitNew() {
  return EventStep(
      [](BacklogWorld& world) { return GangSubmitted{world.MakeNew()}; },
      FinishOneThatWaits);
}

// A gang finishes; another one is submitted afterwards.
Step Finish() {
  return EventStep(
      [](BacklogWorld& world) {
        return GangFinished{world.TakeOut(GangPhase::kRunning)};
      },
      [](BacklogWorld& world) {
        world.host.Apply(GangSubmitted{world.MakeKnown()});
        world.Settle();
      });
}

// It is up again before the next one goes down.
Step NodeDownStep() {
  auto key = std::make_shared<std::string>();
  return EventStep(
      [key](BacklogWorld& world) {
        *key = world.NodeAt(world.DrawNode()).key;
        return NodeDown{*key};
      },
      [key](BacklogWorld& world) {
        world.host.Apply(NodeUp{*key});
        world.Settle();
      });
}

Step ExplainWaiting() {
  auto gang = std::make_shared<std::string>();
  return {.prepare =
              [gang](BacklogWorld& world) {
                *gang = world.Draw(GangPhase::kWaiting);
              },
          .act =
              [gang](BacklogWorld& world) {
                benchmark::DoNotOptimize(world.host.scheduler.Explain(*gang));
              },
          .after = [](BacklogWorld&) {}};
}

void AskWhatIf(BacklogWorld& world, const Event& event) {
  Plan plan;
  if (!world.host.scheduler.WhatIf(world.host.now, {&event, 1}, &plan).ok()) {
    std::abort();
  }
}

Event FinishOfOne(BacklogWorld& world) {
  return {world.host.now, GangFinished{world.Draw(GangPhase::kRunning)}};
}

// Passes that are compared: behind a what-if, and quiet ones before it.
struct Passes {
  std::vector<double> quiet{}, next{};
  double ratio() const { return Median(next) / Median(quiet); }
};

// What if one gang finished: and the pass after the answer, which has forgotten
// nothing. Every eighth time both passes are made with cold caches, the quiet
// one after another scheduler's what-if.
void BM_WhatIf(benchmark::State& state, uint32_t nodes) {
  ResetPeak();
  BacklogWorld& world = SettledBacklog(nodes);
  BacklogWorld other(1'000);
  other.FillAndSettle();
  constexpr uint32_t kColdEach = 8;
  const uint32_t events = EventsOn(nodes);
  std::vector<double> cpu;
  Passes warm, cold;
  for (auto _ : state) {
    for (uint32_t i = 0; i < events; ++i) {
      Untimed untimed(state);
      world.host.now += kSecond;
      world.Settle();
      const bool is_cold = i % kColdEach == 0;
      Passes& passes = is_cold ? cold : warm;
      if (is_cold) {
        AskWhatIf(other, FinishOfOne(other));
        CoolCaches();
      }
      passes.quiet.push_back(CpuOf([&] { world.host.Pass(); }));
      const Event event = FinishOfOne(world);
      cpu.push_back(untimed.Timed([&] { AskWhatIf(world, event); }));
      if (is_cold) CoolCaches();
      passes.next.push_back(CpuOf([&] { world.host.Pass(); }));
    }
  }
  ReportTimes(state, cpu);
  state.counters["quiet_us"] = Median(warm.quiet) * kMicro;
  state.counters["next_pass_vs_quiet"] = warm.ratio();
  state.counters["next_pass_vs_quiet_cold"] = cold.ratio();
  ReportPeaks(state);
}

// A new world: the gangs that fill it, and the first pass over those that wait.
// Done once in a world's life: the median of three worlds.
void BM_Fill(benchmark::State& state, uint32_t nodes) {
  constexpr int kWorlds = 3;
  DropSettledBacklog();
  ResetPeak();
  std::vector<double> fill, first, both;
  for (auto _ : state) {
    for (int i = 0; i < kWorlds; ++i) {
      Untimed untimed(state);
      BacklogWorld world(nodes);
      fill.push_back(untimed.Timed([&] {
        world.SubmitRunning();
        world.host.Pass();
      }));
      world.Follow();
      world.host.now += 3600 * kSecond;
      first.push_back(untimed.Timed([&] {
        world.SubmitWaiting();
        world.host.Pass();
      }));
      both.push_back(fill.back() + first.back());
    }
  }
  state.counters["fill_us"] = Median(fill) * kMicro;
  state.counters["first_us"] = Median(first) * kMicro;
  state.counters["cpu_us"] = Median(both) * kMicro;
  ReportPeaks(state);
}

// Fill first: it wants no other world beside its own.
int Register() {
  RegisterOnce("BM_Yardstick", BM_Yardstick);
  const std::pair<const char*, Step (*)()> steps[] = {
      {"Quiet", Quiet},
      {"Duplicate", Duplicate},
      {"Checkpoint", Checkpoint},
      {"NodeUnchanged", NodeUnchanged},
      {"UnusedLabel", UnusedLabel},
      {"ExternalUsageUnchanged", ExternalUsageUnchanged},
      {"SubmitKnown", SubmitKnown},
      {"Finish", Finish},
      {"NodeDown", NodeDownStep},
      {"Explain", ExplainWaiting}};
  for (const uint32_t nodes : {1'000u, 10'000u, 30'000u}) {
    const std::string on = "BM_Backlog/nodes:" + std::to_string(nodes) + "/";
    RegisterOnce(on + "Fill", BM_Fill, nodes);
    for (const auto& [name, step] : steps) {
      RegisterOnce(on + name, BM_Backlog, nodes, step());
    }
    RegisterOnce(on + "WhatIf", BM_WhatIf, nodes);
    // Last, as what came with it stays: a thousand shapes beside the 200.
    RegisterOnce(on + "SubmitNew", BM_Backlog, nodes, SubmitNew());
    RegisterOnce(on + "FinishManyShapes", BM_Backlog, nodes, Finish());
  }
  return 0;
}

[[maybe_unused]] const int kRegistered = Register();

}  // namespace
}  // namespace muster::bench
