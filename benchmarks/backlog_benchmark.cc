// What one event costs on a full cluster with a standing backlog: Apply and the
// pass behind it, together. Cases BM_Backlog/nodes:N/EVENT; counters
//   cpu_us, p99_us   of the events, median and 99th percentile
//   settle_us        mean, from the event until all decisions are answered and
//                    nothing follows any more
//   starts, evictions   in the mean of an event
//   running, waiting, free_share   the world before the case
//   next_pass_vs_quiet   after a what-if; the median against a quiet pass
//                    (quiet_us), both with nothing in the core's caches: what
//                    is compared is what they do
//   peak_mb          the most memory the process has had since the case began,
//                    its world included
// Between two events a second goes by. MUSTER_BACKLOG_EVENTS is how many there
// are (1,000; 200 on 30,000 nodes).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/backlog_world.h"
#include "benchmarks/padded.h"
#include "benchmarks/peak_memory.h"

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

void Report(benchmark::State& state, BacklogWorld& world,
            const std::vector<double>& cpu, const std::vector<double>& settle) {
  const auto events = static_cast<double>(cpu.size());
  state.counters["cpu_us"] = Median(cpu) * kMicro;
  state.counters["p99_us"] = Quantile(cpu, 0.99) * kMicro;
  state.counters["settle_us"] = Mean(settle) * kMicro;
  state.counters["starts"] = static_cast<double>(world.starts) / events;
  state.counters["evictions"] = static_cast<double>(world.evictions) / events;
  state.counters["peak_mb"] = PeakMb();
}

void BM_Backlog(benchmark::State& state, uint32_t nodes, const Step& step) {
  ResetPeak();
  BacklogWorld& world = SettledBacklog(nodes);
  state.counters["running"] = world.host.Count(GangPhase::kRunning);
  state.counters["waiting"] = world.host.Count(GangPhase::kWaiting);
  state.counters["free_share"] = world.FreeShare();
  world.starts = world.evictions = 0;
  const uint32_t events = EventsOn(nodes);
  std::vector<double> cpu, settle;
  for (auto _ : state) {
    for (uint32_t i = 0; i < events; ++i) {
      Untimed untimed(state);
      world.host.now += kSecond;
      world.Settle();
      step.prepare(world);
      cpu.push_back(untimed.Timed([&] { step.act(world); }));
      settle.push_back(cpu.back() + CpuOf([&] { world.Follow(); }));
      step.after(world);
    }
  }
  Report(state, world, cpu, settle);
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

// What if one gang finished: and the pass after the answer, which has forgotten
// nothing. It is compared with a quiet pass after another scheduler's what-if,
// as both find the core's caches full of something else.
void BM_WhatIf(benchmark::State& state, uint32_t nodes) {
  ResetPeak();
  BacklogWorld& world = SettledBacklog(nodes);
  BacklogWorld other(1'000);
  other.FillAndSettle();
  constexpr uint32_t kCompareEach = 8;
  const uint32_t events = EventsOn(nodes);
  std::vector<double> cpu, quiet, next;
  for (auto _ : state) {
    for (uint32_t i = 0; i < events; ++i) {
      Untimed untimed(state);
      world.host.now += kSecond;
      world.Settle();
      const bool compare = i % kCompareEach == 0;
      if (compare) {
        AskWhatIf(other, FinishOfOne(other));
        CoolCaches();
        quiet.push_back(CpuOf([&] { world.host.Pass(); }));
      }
      const Event event = FinishOfOne(world);
      cpu.push_back(untimed.Timed([&] { AskWhatIf(world, event); }));
      if (compare) {
        CoolCaches();
        next.push_back(CpuOf([&] { world.host.Pass(); }));
      }
    }
  }
  state.counters["cpu_us"] = Median(cpu) * kMicro;
  state.counters["p99_us"] = Quantile(cpu, 0.99) * kMicro;
  state.counters["quiet_us"] = Median(quiet) * kMicro;
  state.counters["next_pass_vs_quiet"] = Median(next) / Median(quiet);
  state.counters["peak_mb"] = PeakMb();
}

// A new world: the gangs that fill it, and the first pass over those that wait.
// Done once in a world's life: the least of three worlds.
void BM_Fill(benchmark::State& state, uint32_t nodes) {
  constexpr int kWorlds = 3;
  DropSettledBacklog();
  ResetPeak();
  double fill = std::numeric_limits<double>::max(), first = fill;
  for (auto _ : state) {
    for (int i = 0; i < kWorlds; ++i) {
      Untimed untimed(state);
      BacklogWorld world(nodes);
      fill = std::min(fill, untimed.Timed([&] {
        world.SubmitRunning();
        world.host.Pass();
      }));
      world.Follow();
      world.host.now += 3600 * kSecond;
      first = std::min(first, untimed.Timed([&] {
        world.SubmitWaiting();
        world.host.Pass();
      }));
    }
  }
  state.counters["fill_us"] = fill * kMicro;
  state.counters["first_us"] = first * kMicro;
  state.counters["cpu_us"] = (fill + first) * kMicro;
  state.counters["peak_mb"] = PeakMb();
}

// Fill first: it wants no other world beside its own.
int Register() {
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
