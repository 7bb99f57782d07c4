// Calls that a scheduler of 90b007d answered by copying its whole state
// (what-ifs, plans that are followed), those that still do, and submissions.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/padded.h"
#include "benchmarks/scheduler_host.h"
#include "test/allocation_count.h"

namespace muster::bench {
namespace {

constexpr double kMicro = 1e6;
constexpr uint32_t kQueues = 10;
constexpr uint32_t kShapes = 10;

// Gangs of one task with one device, in a hundred classes.
Gang OneOfMany(uint32_t number, Time submitted) {
  Gang gang =
      MakeGang(Padded("g", number), Padded("q", number % kQueues), 1, 1);
  gang.submitted = submitted;
  gang.roles[0].shape.resources.Set(0, 1000 + number / kQueues % kShapes);
  return gang;
}

// All devices in use by the first gangs; the others wait.
SchedulerHost FullCluster(uint32_t nodes, uint32_t gangs) {
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  for (uint32_t q = 0; q < kQueues; ++q) host.AddQueue(Padded("q", q));
  for (uint32_t g = 0; g < gangs; ++g) {
    host.Apply(GangSubmitted{OneOfMany(g, 0)});
  }
  host.Settle();
  return host;
}

// A world of gangs that run by turns: one that ends is replaced by one that
// waits, and that by a new one.
class Replaced {
 public:
  Replaced(uint32_t nodes, uint32_t gangs)
      : host(FullCluster(nodes, gangs)), next_(gangs) {
    for (uint32_t g = 0; g < nodes * 8; ++g) running_.push_back(Padded("g", g));
  }

  // Each time another one, so that its part of the state is cold.
  std::string& NextToEnd() { return running_[turn_++ * 37 % running_.size()]; }
  // Makes it end, with a pass that starts another one in its place; false if
  // that does not do just that. `pass` is called to make it.
  template <class F>
  bool End(std::string& gang, F&& pass) {
    pass(Event{host.now, GangFinished{gang}});
    if (host.plan.decisions.size() != 1) return false;
    gang = host.plan.Text(host.plan.decisions[0].gang_key);
    return true;
  }
  Gang Fresh() {
    ++next_;
    return OneOfMany(next_ - 1, next_);
  }

  SchedulerHost host;

 private:
  uint32_t next_;
  uint32_t turn_ = 0;
  std::vector<std::string> running_;
};

// One running gang ends, in a what-if and for real: its room is given to one
// that waits.
void BM_WhatIf(benchmark::State& state) {
  static auto& world = *new Replaced(static_cast<uint32_t>(state.range(0)),
                                     static_cast<uint32_t>(state.range(1)));
  Scheduler& scheduler = world.host.scheduler;
  std::vector<double> what_if, real, allocations, bytes;
  Plan supposed;
  const auto suppose = [&](const Event& event) {
    return scheduler.WhatIf(world.host.now, {&event, 1}, &supposed).ok() &&
           supposed.decisions.size() == 1;
  };
  const uint64_t hash = scheduler.StateHash();
  if (!Premise(state,
               suppose({world.host.now, GangFinished{world.NextToEnd()}}) &&
                   scheduler.StateHash() == hash,
               "a what-if is none")) {
    return;
  }
  for (auto _ : state) {
    Untimed untimed(state);
    const Event one{world.host.now, GangFinished{world.NextToEnd()}};
    const size_t count = test::Allocations(), size = test::AllocatedBytes();
    bool as_meant = false;
    what_if.push_back(untimed.Timed([&] { as_meant = suppose(one); }));
    allocations.push_back(static_cast<double>(test::Allocations() - count));
    bytes.push_back(static_cast<double>(test::AllocatedBytes() - size));
    as_meant &= world.End(world.NextToEnd(), [&](const Event& event) {
      real.push_back(CpuOf([&] {
        world.host.Apply(event);
        world.host.Pass();
      }));
    });
    if (!Premise(state, as_meant, "the room is not given to one")) return;
    world.host.Answer();
    world.host.Apply(GangSubmitted{world.Fresh()});
    world.host.Settle();
  }
  state.counters["extra_us"] = (Median(what_if) - Median(real)) * kMicro;
  state.counters["what_if_us"] = Median(what_if) * kMicro;
  state.counters["real_us"] = Median(real) * kMicro;
  state.counters["allocations"] = Median(allocations);
  state.counters["bytes"] = Median(bytes);
  state.counters["max_bytes"] = *std::ranges::max_element(bytes);
}
BENCHMARK(BM_WhatIf)->ArgNames({"nodes", "gangs"})->Args({10'000, 100'000});

// Keeps what a scheduler tells, for another one to follow.
class Recorder final : public Journal {
 public:
  struct Record {
    std::unique_ptr<Event> event{};  // One of the two.
    std::unique_ptr<PlanRecord> plan{};
  };
  void Applied(const Event& event) override {
    records.push_back({std::make_unique<Event>(event), nullptr});
  }
  void Planned(const PlanRecord& plan) override {
    records.push_back({nullptr, std::make_unique<PlanRecord>(plan)});
  }
  std::vector<Record> records;
};

// The records of 100,000 plans: in each a gang starts where another ended.
// Made and followed by turns, so that not all are kept at a time.
void BM_Follow(benchmark::State& state) {
  constexpr uint32_t kPlans = 100'000;
  constexpr uint32_t kGangs = 10'000;
  constexpr uint32_t kBatch = 1'000;
  std::vector<double> follow, events;
  for (auto _ : state) {
    Untimed untimed(state);
    Replaced leader(1'000, kGangs);
    Scheduler follower = *Scheduler::Restore(leader.host.scheduler.State());
    Recorder recorder;
    leader.host.scheduler.SetJournal(&recorder);
    double plans_s = 0, events_s = 0;
    uint32_t decided = 0;
    bool ok = true;
    for (uint32_t plan = 0; plan < kPlans && ok; plan += kBatch) {
      recorder.records.clear();
      for (uint32_t i = 0; i < kBatch; ++i) {
        ok &= leader.End(leader.NextToEnd(), [&](const Event& event) {
          leader.host.Apply(event);
          leader.host.Apply(GangSubmitted{leader.Fresh()});
          leader.host.Pass();
        });
        leader.host.Answer();
      }
      untimed.Timed([&] {
        for (const Recorder::Record& r : recorder.records) {
          if (r.plan) {
            plans_s += CpuOf([&] { ok &= follower.Follow(*r.plan).ok(); });
            decided += r.plan->decisions.size() == 1;
          } else {
            events_s += CpuOf([&] { ok &= follower.Apply(*r.event).ok(); });
          }
        }
      });
    }
    ok &= follower.StateHash() == leader.host.scheduler.StateHash();
    if (!Premise(state, ok && decided == kPlans, "plans that decide nothing")) {
      return;
    }
    follow.push_back(plans_s);
    events.push_back(events_s);
  }
  state.counters["s_per_100k"] = Median(follow);
  state.counters["events_s"] = Median(events);
}
BENCHMARK(BM_Follow)->Unit(benchmark::kSecond);

// Handed in at once by the thread that schedules; then passes of a bounded
// length until all are taken and have been looked at.
void BM_SubmitMany(benchmark::State& state) {
  constexpr uint32_t kGangs = 100'000;
  std::vector<double> submit, all, longest, passes;
  for (auto _ : state) {
    SchedulerConfig config = MakeConfig();
    config.work_budget = 20'000;
    SchedulerHost host(std::move(config));
    host.AddNodes(2'000, 8);
    for (uint32_t q = 0; q < kQueues; ++q) host.AddQueue(Padded("q", q));
    std::vector<Gang> gangs;
    for (uint32_t g = 0; g < kGangs; ++g) gangs.push_back(OneOfMany(g, g));
    submit.push_back(CpuOf([&] {
      for (Gang& gang : gangs) {
        if (!host.scheduler.Submit(std::move(gang)).ok()) std::abort();
      }
    }));
    double sum = 0, worst = 0, count = 0;
    do {
      const double seconds = CpuOf([&] { host.Pass(); });
      worst = std::max(worst, seconds);
      sum += seconds;
      ++count;
      host.Answer();
    } while (host.plan.inbox_left || host.plan.budget_exhausted);
    all.push_back(sum);
    longest.push_back(worst);
    passes.push_back(count);
  }
  state.counters["submit_us"] = Median(submit) * kMicro / kGangs;
  state.counters["passes"] = Median(passes);
  state.counters["passes_s"] = Median(all);
  state.counters["longest_ms"] = Median(longest) * 1e3;
}
BENCHMARK(BM_SubmitMany)->Unit(benchmark::kMillisecond);

void BM_RestoreAndState(benchmark::State& state) {
  const auto nodes = static_cast<uint32_t>(state.range(0));
  SchedulerHost host(MakeConfig());
  host.AddNodes(nodes, 8);
  for (uint32_t q = 0; q < kQueues; ++q) host.AddQueue(Padded("q", q));
  for (uint32_t g = 0; g < nodes; ++g) {
    const std::string queue = Padded("q", g % kQueues);
    host.Apply(GangSubmitted{MakeGang(Padded("gpu", g), queue, 8, 1)});
    host.Apply(GangSubmitted{MakeGang(Padded("cpu", g), queue, 2, 0)});
  }
  host.Settle();
  std::vector<double> make, restore, hash;
  for (auto _ : state) {
    SchedulerState s;
    make.push_back(CpuOf([&] { s = host.scheduler.State(); }));
    hash.push_back(
        CpuOf([&] { benchmark::DoNotOptimize(host.scheduler.StateHash()); }));
    bool ok = false;
    restore.push_back(CpuOf([&] { ok = Scheduler::Restore(s).ok(); }));
    if (!ok) std::abort();
  }
  state.counters["state_ms"] = Median(make) * 1e3;
  state.counters["restore_ms"] = Median(restore) * 1e3;
  state.counters["hash_ms"] = Median(hash) * 1e3;
}
BENCHMARK(BM_RestoreAndState)
    ->ArgNames({"nodes", "tasks"})
    ->Args({10'000, 100'000})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::bench
