// What musterd's decisions cost, without store and processes: jobs a second,
// a restart, and the memory of jobs that wait. vs_peer, of BM_ControllerJobs:
// its CPU time over that of reading the same manifests as JSON and a gang's
// whole life in the library alone, in the same run.
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "adapters/local/controller/controller.h"
#include "muster/scheduler.h"

namespace muster::local {
namespace {

constexpr int64_t kGiB = int64_t{1} << 30;

ControllerConfig Config() {
  ControllerConfig config;
  config.state = "/var/lib/muster";
  config.node.key = "local";
  config.node.capacity = {64'000, 512 * kGiB};
  config.node.devices.assign(8, Device{.memory_bytes = 80 * kGiB});
  return config;
}

// One task; no two manifests are equal, as those of people's commands.
std::string Manifest(uint64_t number, int cpus) {
  const std::string n = std::to_string(number);
  return R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"job-)" +
         n + R"("},"spec":{"backoffLimit":0,"template":{"spec":{)" +
         R"("restartPolicy":"Never","containers":[{"name":"main",)" +
         R"("command":["python","train.py","--seed",")" + n +
         R"("],"resources":{"requests":{"cpu":")" + std::to_string(cpus) +
         R"("}}}]}}}})";
}

Submission Ask(uint64_t number, int cpus) {
  Submission submission{.uid = 1000, .gid = 1000, .directory = "/data/ann"};
  submission.manifest = Manifest(number, cpus);
  for (int i = 0; i < 40; ++i) {  // About 3 KB, as a login's.
    submission.environment.push_back("VARIABLE_" + std::to_string(i) + "=" +
                                     std::string(60, 'x'));
  }
  return submission;
}

// A store in memory.
struct Store {
  std::map<uint64_t, JobRow> jobs;
  std::vector<LifeRow> life;
  std::string journal;

  void Keep(const TurnSave& save) {
    for (const JobRow& row : save.jobs) jobs[row.id] = row;
    life.insert(life.end(), save.life.begin(), save.life.end());
    if (save.journal_begins) journal.clear();
    journal += save.journal;
  }
};

void Must(bool ok) {
  if (!ok) std::abort();
}

std::unique_ptr<Controller> Begin() {
  auto made = Controller::Begin(Config(), kSecond);
  Must(made.ok());
  return *std::move(made);
}

// Jobs that wait for ever: more cores than there are, in one turn each.
void Queue(Controller* controller, int64_t jobs, Store* store) {
  for (int64_t i = 0; i < jobs; ++i) {
    Must(controller->Submit(Ask(static_cast<uint64_t>(i), 100), kSecond).ok());
    const Turn turn = controller->Step(kSecond);
    if (store != nullptr) store->Keep(turn.save);
  }
}

// What nobody can do without: the manifest is JSON, and the scheduler decides.
class Peer {
 public:
  Peer() : scheduler_(*Scheduler::Create({})) {
    Apply(NodeChanged{Config().node});
    Apply(QueueChanged{muster::Queue{.key = "q"}});
  }

  // One job of one task, from its manifest to its end.
  void RunOne(uint64_t number) {
    const auto manifest = nlohmann::json::parse(Manifest(number, 1), nullptr,
                                                /*allow_exceptions=*/false);
    Must(!manifest.is_discarded());
    now_ += kMillisecond;
    Gang gang;
    gang.key = std::to_string(number);
    gang.queue = "q";
    gang.roles.emplace_back();
    gang.roles[0].name =
        manifest["spec"]["template"]["spec"]["containers"][0]["name"];
    gang.roles[0].min_tasks = gang.roles[0].desired_tasks = 1;
    gang.roles[0].shape.resources = {1000};
    const std::string key = gang.key;
    Apply(GangSubmitted{std::move(gang)});
    scheduler_.Schedule(now_, &plan_);
    Must(plan_.tasks.size() == 1);
    TasksAnswered ready{key, {TaskAnswer{.attempt = plan_.tasks[0].attempt}}};
    Apply(std::move(ready));
    scheduler_.Schedule(now_, &plan_);
    Apply(GangFinished{key});
    scheduler_.Schedule(now_, &plan_);
  }

 private:
  void Apply(EventBody what) {
    Must(scheduler_.Apply(Event{now_, std::move(what)}).ok());
  }

  Scheduler scheduler_;
  Time now_ = kSecond;
  Plan plan_;
};

double CpuSeconds() {
  timespec used{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) +
         static_cast<double>(used.tv_nsec) * 1e-9;
}

// CPU seconds of one, the median of some dozens of hundred each.
double PeerSeconds() {
  constexpr size_t kSamples = 25, kEach = 100;
  Peer peer;
  uint64_t number = 0;
  std::vector<double> samples;
  for (size_t i = 0; i < kSamples; ++i) {
    const double begin = CpuSeconds();
    for (size_t job = 0; job < kEach; ++job) peer.RunOne(++number);
    samples.push_back((CpuSeconds() - begin) / kEach);
  }
  std::ranges::nth_element(samples, samples.begin() + kSamples / 2);
  return samples[kSamples / 2];
}

// From submission to its end, one job of one task behind the other, in three
// turns, with so many others that wait.
void BM_ControllerJobs(benchmark::State& state) {
  const auto controller = Begin();
  Queue(controller.get(), state.range(0), nullptr);
  uint64_t number = 1'000'000;
  Time now = kSecond;
  const double begin = CpuSeconds();
  for (auto _ : state) {
    now += kMillisecond;
    Must(controller->Submit(Ask(++number, 1), now).ok());
    const Turn start = controller->Step(now);
    Must(start.commands.size() == 1);
    const TaskKey task = start.commands[0].task;
    controller->TaskReady(task, now);
    controller->Step(now);
    controller->TaskExited(task, 0, workload::ExitReason::kExited, now);
    const Turn end = controller->Step(now);
    Must(end.save.jobs.size() == 1 && end.save.jobs[0].exit_code == 0);
  }
  const double each =
      (CpuSeconds() - begin) / static_cast<double>(state.iterations());
  Must(controller->defects().empty());
  state.counters["jobs_per_s"] = benchmark::Counter(
      static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["vs_peer"] = each / PeerSeconds();
}
BENCHMARK(BM_ControllerJobs)
    ->ArgName("queued")
    ->Arg(0)
    ->Arg(10'000)
    ->Unit(benchmark::kMicrosecond);

// One submission of an array whose elements wait, in one turn.
void BM_ControllerArray(benchmark::State& state) {
  Submission submission = Ask(1, 100);
  for (uint32_t i = 0; i < state.range(0); ++i) submission.array.push_back(i);
  for (auto _ : state) {
    state.PauseTiming();
    auto controller = Begin();
    state.ResumeTiming();
    Must(controller->Submit(submission, kSecond).ok());
    benchmark::DoNotOptimize(controller->Step(kSecond));
    state.PauseTiming();
    controller.reset();
    state.ResumeTiming();
  }
  state.counters["jobs_per_s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) *
                             static_cast<double>(state.range(0)),
                         benchmark::Counter::kIsRate);
}
BENCHMARK(BM_ControllerArray)
    ->ArgName("elements")
    ->Arg(1000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);

void BM_ControllerRestore(benchmark::State& state) {
  Store store;
  auto controller = Begin();
  Queue(controller.get(), state.range(0), &store);
  StoredState saved{.life = store.life,
                    .journal = store.journal,
                    .next_job = store.jobs.rbegin()->first + 1};
  for (auto& [id, row] : store.jobs) saved.jobs.push_back(row);
  controller.reset();
  for (auto _ : state) {
    state.PauseTiming();
    StoredState copy = saved;
    state.ResumeTiming();
    auto restored = Controller::Restore(Config(), std::move(copy), kSecond);
    Must(restored.ok());
    benchmark::DoNotOptimize((*restored)->Step(kSecond));
    state.PauseTiming();
    Must((*restored)->Jobs().size() == saved.jobs.size());
    restored->reset();
    state.ResumeTiming();
  }
  state.counters["journal_mb"] =
      static_cast<double>(store.journal.size()) / 1e6;
}
BENCHMARK(BM_ControllerRestore)
    ->ArgName("jobs")
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);

// What a job that waits takes of the memory, scheduler included.
void BM_ControllerMemory(benchmark::State& state) {
  double each = 0;
  for (auto _ : state) {
    const auto before = mallinfo2().uordblks + mallinfo2().hblkhd;
    const auto controller = Begin();
    Queue(controller.get(), state.range(0), nullptr);
    const auto after = mallinfo2().uordblks + mallinfo2().hblkhd;
    each = static_cast<double>(after - before) /
           static_cast<double>(state.range(0));
  }
  state.counters["bytes_per_job"] = each;
}
BENCHMARK(BM_ControllerMemory)
    ->ArgName("jobs")
    ->Arg(10'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster::local
