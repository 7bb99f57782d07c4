// The cases in which other schedulers are slow, each with its answer checked.
// Counter cpu_ms: median CPU time of the deciding pass, of five worlds that are
// alike.
//   BM_Reclaim      8 N running tasks of a queue without a guarantee, 8 N
//                   waiting ones of a queue that is guaranteed all
//                   (KAI-Scheduler's scale test)
//   BM_NoRoom       10 x 8 from a queue of which all but one of 80 devices may
//                   be reclaimed: no victims, and told so
//   BM_GangReclaim  a gang of N/2 x 8 takes N/2 nodes back from tasks of 2;
//                   runner_up: 1 if the plan tells the next best victims, who
//                   are there
//   BM_Subgroups    N tasks in groups of ten, a rack each, inside one block
//                   (Volcano's network-topology test)
//   BM_PreemptFull  512 whole devices, on a full cluster
//   BM_TasPreemption   a gang makes room in one of eight groups of blocks,
//   where
//                   workloads of all priorities run (Kueue's benchmark: see
//                   kueue_world.h); victims: of so low a top priority as can
//                   be, fewest: the fewest that there can be; it fails for more
//   BM_Fill         32 N tasks of one CPU in 10 queues on N nodes of 32
//   BM_NearFull     the same tasks where 31 of 32 CPUs are in use everywhere
//                   (both: Armada's scheduling benchmarks)
//   BM_Hopeless     10,000 gangs that can never run, of 100 shapes, before
//                   5,000 that can; vs_without: the pass without the former
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kueue_world.h"
#include "benchmarks/padded.h"
#include "benchmarks/scheduler_host.h"
#include "benchmarks/yardstick.h"

namespace muster::bench {
namespace {

constexpr int kWorlds = 5;
constexpr uint32_t kCpus = 32;

Gang PriorityGang(std::string key, const char* priority, uint32_t tasks) {
  Gang gang = MakeGang(std::move(key), "q", tasks, 8);
  gang.priority_class = priority;
  return gang;
}

// Makes the world five times, and the pass in it; `answer` tells what is wrong
// with the plan, nothing if it is the one that is asked for.
template <class Make, class Answer>
void OnePass(benchmark::State& state, Make&& make, Answer&& answer) {
  std::vector<double> cpu;
  for (auto _ : state) {
    for (int world = 0; world < kWorlds; ++world) {
      Untimed untimed(state);
      SchedulerHost host = make();
      cpu.push_back(untimed.Timed([&] { host.Pass(); }));
      Premise(state, answer(host), "another answer than the right one");
    }
  }
  state.counters["cpu_ms"] = Median(cpu) * 1e3;
}

struct Wave {
  uint32_t gangs;
  uint32_t tasks;
  uint32_t devices;
};

void Submit(SchedulerHost& host, const char* prefix, const std::string& queue,
            const Wave& wave) {
  for (uint32_t g = 0; g < wave.gangs; ++g) {
    host.Apply(GangSubmitted{
        MakeGang(Padded(prefix, g), queue, wave.tasks, wave.devices)});
  }
}

// What the queue "a" runs, and the queue "b" asks for afterwards.
SchedulerHost ReclaimHost(uint32_t nodes, std::optional<int64_t> guaranteed_a,
                          int64_t guaranteed_b, Wave runs, Wave waits) {
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  host.AddQueue("a", guaranteed_a);
  host.AddQueue("b", guaranteed_b);
  Submit(host, "run", "a", runs);
  host.Settle();
  Submit(host, "wait", "b", waits);
  return host;
}

void BM_Reclaim(benchmark::State& state, uint32_t nodes) {
  OnePass(
      state,
      [&] {
        return ReclaimHost(nodes, {}, 8 * int64_t{nodes}, {8 * nodes, 1, 1},
                           {8 * nodes, 1, 1});
      },
      [&](const SchedulerHost& host) {
        return host.Decided(DecisionKind::kEvict) == 8 * nodes &&
               host.Count(GangPhase::kNominated) == 8 * nodes;
      });
}

void BM_NoRoom(benchmark::State& state, uint32_t nodes) {
  double proven = 0;
  OnePass(
      state,
      [&] {
        return ReclaimHost(nodes, 8 * int64_t{nodes} - 79, 80,
                           {8 * nodes, 1, 1}, {1, 10, 8});
      },
      [&](const SchedulerHost& host) {
        proven = host.plan.waiting.size() == 1 &&
                 host.plan.waiting[0].reason.code != ReasonCode::kBudget &&
                 host.plan.next_wakeup == kForever;
        return host.plan.decisions.empty();
      });
  state.counters["proven"] = proven;
}

void BM_GangReclaim(benchmark::State& state, uint32_t nodes) {
  bool runner_up = true;
  OnePass(
      state,
      [&] {
        return ReclaimHost(nodes, {}, 4 * int64_t{nodes}, {4 * nodes, 1, 2},
                           {1, nodes / 2, 8});
      },
      [&](const SchedulerHost& host) {
        for (const Preemption& preemption : host.plan.preemptions) {
          runner_up &= preemption.runner_up.victims > 0;
        }
        return host.Decided(DecisionKind::kEvict) == 2 * nodes;
      });
  state.counters["runner_up"] = runner_up ? 1 : 0;
}

void BM_Subgroups(benchmark::State& state, uint32_t nodes) {
  OnePass(
      state,
      [&] {
        SchedulerHost host(MakeConfig());
        for (uint32_t n = 0; n < nodes; ++n) {
          Node node = MakeNode(n, 8);
          node.labels = {{"block", "b"}, {"rack", Padded("r", n / 10)}};
          host.Apply(NodeChanged{std::move(node)});
        }
        host.AddQueue("q");
        Gang gang = MakeGang("gang", "q", 10, 8);
        const Role role = gang.roles[0];
        gang.roles.clear();
        gang.groups.resize(1);
        gang.groups[0].topology.required = "block";
        for (uint32_t g = 0; g < nodes / 10; ++g) {
          Role& one = gang.roles.emplace_back(role);
          one.name = Padded("s", g);
          one.topology.required = "rack";
        }
        host.Apply(GangSubmitted{std::move(gang)});
        return host;
      },
      [&](const SchedulerHost& host) {
        return host.Decided(DecisionKind::kStart) == 1;
      });
}

// One gang after the other in one world: it is large.
void BM_PreemptFull(benchmark::State& state, uint32_t nodes) {
  constexpr uint32_t kGangs = 11;
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  host.AddQueue("q");
  host.AddClass("low", 0, OnPreempted::kRequeue);
  host.AddClass("high", 10, OnPreempted::kRequeue);
  for (uint32_t g = 0; g < nodes; ++g) {
    host.Apply(GangSubmitted{PriorityGang(Padded("run", g), "low", 1)});
  }
  host.Settle();
  std::vector<double> cpu;
  for (auto _ : state) {
    for (uint32_t g = 0; g < kGangs; ++g) {
      Untimed untimed(state);
      host.Apply(GangSubmitted{PriorityGang(Padded("gang", g), "high", 64)});
      cpu.push_back(untimed.Timed([&] { host.Pass(); }));
      Premise(state, host.Decided(DecisionKind::kEvict) == 64,
              "not 64 evictions");
      host.Answer();
      host.Settle();
    }
  }
  state.counters["cpu_ms"] = Median(cpu) * 1e3;
}

void BM_TasPreemption(benchmark::State& state, uint32_t nodes) {
  const KueueWorld world(nodes);
  const uint32_t top = world.LowestTop();
  const uint32_t fewest = world.FewestVictims(top);
  OnePass(
      state,
      [&] {
        SchedulerHost host = world.MakeHost();
        host.Apply(GangSubmitted{world.Preemptor()});
        return host;
      },
      [&](const SchedulerHost& host) {
        if (host.plan.preemptions.size() != 1) return false;
        const Preemption& made = host.plan.preemptions[0];
        state.counters["victims"] = made.victims;
        return host.Count(GangPhase::kNominated) == 1 &&
               host.Decided(DecisionKind::kEvict) == made.victims &&
               made.priority <= static_cast<int32_t>(top) &&
               made.victims <= fewest;
      });
  state.counters["fewest"] = fewest;
}

// Nodes of CPUs alone, and one queue in ten for each of the tasks of one.
SchedulerHost CpuHost(uint32_t nodes) {
  SchedulerHost host(MakeConfig());
  for (uint32_t n = 0; n < nodes; ++n) {
    Node node = MakeNode(n, 0);
    node.capacity = {int64_t{kCpus} * 1000, int64_t{1} << 40};
    host.Apply(NodeChanged{std::move(node)});
  }
  for (uint32_t q = 0; q < 10; ++q) host.AddQueue(Padded("q", q));
  return host;
}

void SubmitCpuTasks(SchedulerHost& host, uint32_t count) {
  for (uint32_t g = 0; g < count; ++g) {
    host.Apply(
        GangSubmitted{MakeGang(Padded("g", g), Padded("q", g % 10), 1, 0)});
  }
}

void BM_FillCpus(benchmark::State& state, uint32_t nodes) {
  OnePass(
      state,
      [&] {
        SchedulerHost host = CpuHost(nodes);
        SubmitCpuTasks(host, kCpus * nodes);
        return host;
      },
      [&](const SchedulerHost& host) {
        return host.Decided(DecisionKind::kStart) == kCpus * nodes;
      });
}

void BM_NearFull(benchmark::State& state, uint32_t nodes) {
  constexpr uint32_t kTasks = 32'000;
  OnePass(
      state,
      [&] {
        SchedulerHost host = CpuHost(nodes);
        for (uint32_t n = 0; n < nodes; ++n) {
          ExternalUsage usage;
          usage.node = Padded("n", n);
          usage.amount = {int64_t{kCpus - 1} * 1000};
          host.Apply(ExternalUsageChanged{std::move(usage)});
        }
        SubmitCpuTasks(host, kTasks);
        return host;
      },
      [&](const SchedulerHost& host) {
        return host.Decided(DecisionKind::kStart) == std::min(kTasks, nodes);
      });
}

// The second pass with its submissions; the hopeless ones stand before it.
double HopelessPass(uint32_t nodes, bool hopeless, bool* right) {
  constexpr uint32_t kHopeless = 10'000;
  constexpr uint32_t kShapes = 100;
  constexpr uint32_t kRunnable = 5'000;
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  host.AddQueue("q");
  host.AddClass("low", 0, OnPreempted::kRequeue);
  host.AddClass("high", 10, OnPreempted::kRequeue);
  for (uint32_t g = 0; hopeless && g < kHopeless; ++g) {
    Gang gang = PriorityGang(Padded("never", g), "high", 1);
    // More than a node has.
    gang.roles[0].shape.resources.Set(0, 300'000 + g % kShapes);
    host.Apply(GangSubmitted{std::move(gang)});
  }
  const auto submit = [&](std::string key) {
    host.Apply(GangSubmitted{PriorityGang(std::move(key), "low", 1)});
  };
  submit("first");  // In both worlds the index is there.
  host.Pass();
  for (uint32_t g = 1; g < kRunnable; ++g) submit(Padded("g", g));
  const double cpu = CpuOf([&] { host.Pass(); });
  *right &=
      host.Decided(DecisionKind::kStart) == std::min(kRunnable, nodes) - 1;
  return cpu;
}

void BM_Hopeless(benchmark::State& state, uint32_t nodes) {
  std::vector<double> with, without;
  bool right = true;
  for (auto _ : state) {
    for (int world = 0; world < kWorlds; ++world) {
      without.push_back(HopelessPass(nodes, false, &right));
      with.push_back(HopelessPass(nodes, true, &right));
    }
  }
  Premise(state, right, "not all that can run start");
  state.counters["cpu_ms"] = Median(with) * 1e3;
  state.counters["vs_without"] = Median(with) / Median(without);
}

int Register() {
  using Case = void (*)(benchmark::State&, uint32_t);
  const auto add = [](const char* name, Case run,
                      std::initializer_list<uint32_t> sizes) {
    for (const uint32_t nodes : sizes) {
      RegisterOnce(std::string(name) + "/nodes:" + std::to_string(nodes), run,
                   nodes);
    }
  };
  RegisterOnce("BM_Yardstick", BM_Yardstick);
  add("BM_Reclaim", BM_Reclaim, {100, 500, 1'000});
  add("BM_NoRoom", BM_NoRoom, {100, 500, 1'000, 2'000});
  add("BM_GangReclaim", BM_GangReclaim, {100, 500, 1'000, 2'000});
  add("BM_Subgroups", BM_Subgroups, {1'000});
  add("BM_PreemptFull", BM_PreemptFull, {1'000, 10'000, 100'000});
  add("BM_TasPreemption", BM_TasPreemption, {250, 500, 1'000, 2'000});
  add("BM_Fill", BM_FillCpus, {100, 1'000});
  add("BM_NearFull", BM_NearFull, {1'000, 10'000});
  add("BM_Hopeless", BM_Hopeless, {10'000});
  return 0;
}

[[maybe_unused]] const int kRegistered = Register();

}  // namespace
}  // namespace muster::bench
