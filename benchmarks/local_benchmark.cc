// The local runner as its user meets it: real programs, real processes, a disk.
// Times are in milliseconds. Divided by $MUSTER_BENCH_SCALE, the numbers of
// jobs are those of a check that it runs at all.
//   BM_SubmitToStart  from the start of `muster submit` to the job's first
//     instruction, p50_ms and p99_ms; round_trip_*: to the end of `muster
//     submit`, when the job is on the disk; base_*: fork, exec and fsync of one
//     page, in turns with it; vs_fork_exec_fsync: of the medians.
//   slurm_*, of this case and those that follow: of Slurm's commands and its
//     daemons, fewer jobs, where they are installed; the label says why not.
//     Of sbatch, whose jobs wait for the next turn of its loop, once a second;
//     slurm_srun_*: of srun, which starts its job at once.
//   BM_EndToStart     from a job's last instruction to the first one of the
//     next, on one GPU.
//   BM_Jobs           /bin/true, half of them one by one by two clients, half
//     as an array, in rounds until ten seconds are over: jobs_per_s, of all of
//     them; slowest_per_s, of one round; seconds; lost, wrong_code;
//     cpu_ms_per_job of the daemon; cpu_vs_fork_exec: that over the CPU time
//     that /bin/true takes by fork, exec and wait, in the same run.
//   BM_Array          submission of an array: array_task_ms.
//   BM_Queue          `muster queue`, p50_ms; rss_mb of the daemon then, and
//     peak_mb since its start.
//   BM_Restart        from kill -9 and a new start to an answer: p50_s.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "benchmarks/local_daemon.h"
#include "benchmarks/local_slurm.h"

namespace muster::local {
namespace {

// Has the GPU until the daemon's folder goes: what is queued does not start.
void Block(BenchDaemon& daemon) {
  daemon.Submit(
      {"sh", "-c",
       absl::StrCat("while [ -e ", daemon.fifo(), " ]; do sleep 0.2; done")},
      1);
}

uint32_t Scaled(uint32_t count) {
  const char* scale = std::getenv("MUSTER_BENCH_SCALE");
  const int by = scale == nullptr ? 1 : std::max(1, std::atoi(scale));
  return std::max(2u, count / static_cast<uint32_t>(by));
}

double Quantile(std::vector<double> samples, double share) {
  const auto at = static_cast<std::ptrdiff_t>(
      share * static_cast<double>(samples.size() - 1));
  std::ranges::nth_element(samples, samples.begin() + at);
  return samples[static_cast<size_t>(at)];
}

void Tell(benchmark::State& state, const std::string& prefix,
          const std::vector<double>& milliseconds) {
  state.counters[prefix + "p50_ms"] = Quantile(milliseconds, 0.5);
  state.counters[prefix + "p99_ms"] = Quantile(milliseconds, 0.99);
}

double Milliseconds(int64_t nanos) { return static_cast<double>(nanos) / 1e6; }

std::vector<uint32_t> Indices(uint32_t count) {
  std::vector<uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// What nobody can do without: a process, and one page on the disk.
double ForkExecFsync(BenchDaemon& daemon) {
  const std::string page(4096, 'x');
  const int64_t start = NowNanos();
  const int file = open((daemon.folder() + "/page").c_str(),
                        O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const bool kept = write(file, page.data(), page.size()) == ssize_t{4096} &&
                    fsync(file) == 0;
  close(file);
  if (!kept || !Run({MUSTER_STAMP, daemon.fifo()})) return 0;
  return Milliseconds(daemon.Stamps(1)[0].first - start);
}

// The same work by Slurm: f(slurm) is false where sbatch fails.
template <class F>
void BySlurm(benchmark::State& state, const F& f) {
  BenchSlurm slurm(MakeFolder());
  if (!slurm.problem().empty()) {
    state.SetLabel("slurm: not run, " + slurm.problem());
  } else if (!f(slurm)) {
    state.SetLabel("slurm: not run, sbatch has failed");
  }
}

std::string WrapStamp(BenchDaemon& daemon, const std::string& pause = "") {
  return absl::StrCat("--wrap=exec ", MUSTER_STAMP, " ", daemon.fifo(), " ",
                      pause);
}

// Interactive jobs, one when the one before it has ended.
void RunBySrun(benchmark::State& state, BenchDaemon& daemon,
               const BenchSlurm& slurm) {
  const uint32_t jobs = Scaled(30);
  std::vector<double> starts;
  const int64_t start = NowNanos();
  for (uint32_t i = 0; i < jobs; ++i) {
    const int64_t begin = NowNanos();
    if (!slurm.RunNow({MUSTER_STAMP, daemon.fifo()})) {
      state.SetLabel("srun: not run, it has failed");
      return;
    }
    starts.push_back(Milliseconds(daemon.Stamps(1)[0].first - begin));
  }
  Tell(state, "slurm_srun_", starts);
  state.counters["slurm_srun_jobs_per_s"] =
      jobs / (Milliseconds(NowNanos() - start) / 1e3);
}

// Each job when the one before it has ended.
bool SubmitToSlurm(benchmark::State& state, BenchDaemon& daemon,
                   const BenchSlurm& slurm) {
  std::vector<double> starts, round_trips;
  for (uint32_t i = 0; i < Scaled(30); ++i) {
    const int64_t begin = NowNanos();
    if (!slurm.Submit({WrapStamp(daemon)})) return false;
    round_trips.push_back(Milliseconds(NowNanos() - begin));
    starts.push_back(Milliseconds(daemon.Stamps(1)[0].first - begin));
    slurm.Idle();
  }
  Tell(state, "slurm_", starts);
  Tell(state, "slurm_round_trip_", round_trips);
  RunBySrun(state, daemon, slurm);
  return true;
}

void BM_SubmitToStart(benchmark::State& state) {
  BenchDaemon daemon(1);
  std::vector<double> starts, round_trips, bases;
  for (auto _ : state) {
    for (uint32_t i = 0; i < Scaled(300); ++i) {
      const int64_t begin = NowNanos();
      round_trips.push_back(
          daemon.Muster({"submit", "--", MUSTER_STAMP, daemon.fifo()}));
      starts.push_back(Milliseconds(daemon.Stamps(1)[0].first - begin));
      bases.push_back(ForkExecFsync(daemon));
      daemon.Idle();
    }
  }
  Tell(state, "", starts);
  Tell(state, "round_trip_", round_trips);
  Tell(state, "base_", bases);
  state.counters["vs_fork_exec_fsync"] =
      Quantile(starts, 0.5) / Quantile(bases, 0.5);
  BySlurm(state, [&](const BenchSlurm& slurm) {
    return SubmitToSlurm(state, daemon, slurm);
  });
}
BENCHMARK(BM_SubmitToStart)->Iterations(1)->Unit(benchmark::kSecond);

// Between jobs that run one after another.
std::vector<double> Gaps(BenchDaemon& daemon, uint32_t jobs) {
  auto stamps = daemon.Stamps(jobs);
  std::ranges::sort(stamps);
  std::vector<double> gaps;
  for (size_t i = 1; i < stamps.size(); ++i) {
    gaps.push_back(Milliseconds(stamps[i].first - stamps[i - 1].second));
  }
  return gaps;
}

void BM_EndToStart(benchmark::State& state) {
  BenchDaemon daemon(1);
  const uint32_t count = Scaled(200);
  for (auto _ : state) {
    daemon.Submit({MUSTER_STAMP, daemon.fifo(), "5"}, 1, Indices(count));
    Tell(state, "", Gaps(daemon, count));
    daemon.Idle();
  }
  BySlurm(state, [&](const BenchSlurm& slurm) {
    const uint32_t jobs = Scaled(20);
    if (!slurm.Submit({"--exclusive", absl::StrCat("--array=1-", jobs),
                       WrapStamp(daemon, "5")})) {
      return false;
    }
    Tell(state, "slurm_", Gaps(daemon, jobs));
    slurm.Idle();
    return true;
  });
}
BENCHMARK(BM_EndToStart)->Iterations(1)->Unit(benchmark::kSecond);

// How many of the history's newest jobs there are, and with another code.
std::array<double, 2> Count(BenchDaemon& daemon, uint32_t jobs) {
  double found = 0, wrong = 0;
  uint64_t before = 0;
  while (found < jobs) {
    const auto page = daemon.Get(absl::StrCat(
        "/v1/history?limit=1000",
        before == 0 ? "" : absl::StrCat("&before=", before)))["jobs"];
    if (page.empty()) break;
    for (const auto& job : page) {
      ++found;
      wrong += job.value("exit_code", -1) != 0;
    }
    before = page.back()["id"].get<uint64_t>();
  }
  return {found, wrong};
}

// 2,000 jobs, half of them an array and half one by one by two clients; returns
// when all have ended. Gives how many there were.
uint32_t RunRound(BenchDaemon& daemon) {
  constexpr uint32_t kClients = 2;
  const uint32_t each = Scaled(500);
  daemon.Submit({"/bin/true"}, 0, Indices(kClients * each));
  std::vector<std::thread> clients;
  for (uint32_t c = 0; c < kClients; ++c) {
    clients.emplace_back([&daemon, each] {
      for (uint32_t i = 0; i < each; ++i) daemon.Submit({"/bin/true"}, 0);
    });
  }
  for (std::thread& client : clients) client.join();
  daemon.Idle();
  return 2 * kClients * each;
}

// CPU milliseconds of /bin/true by itself.
double ForkExecCpu() {
  constexpr int kRuns = 200;
  const double begin = OwnCpuSeconds();
  for (int i = 0; i < kRuns; ++i) Run({"/bin/true"});
  return 1e3 * (OwnCpuSeconds() - begin) / kRuns;
}

void BM_Jobs(benchmark::State& state) {
  BenchDaemon daemon(1);
  const double least_seconds = Scaled(1'000) / 100.0;
  uint32_t jobs = 0;
  double seconds = 0, slowest = 0;
  const double cpu = daemon.CpuSeconds();
  for (auto _ : state) {
    const int64_t start = NowNanos();
    while (seconds < least_seconds) {
      const double before = seconds;
      const uint32_t round = RunRound(daemon);
      jobs += round;
      seconds = static_cast<double>(NowNanos() - start) / 1e9;
      const double rate = round / (seconds - before);
      slowest = slowest == 0 ? rate : std::min(slowest, rate);
    }
  }
  const double cpu_ms = 1000 * (daemon.CpuSeconds() - cpu) / jobs;
  const auto [found, wrong] = Count(daemon, jobs);
  state.counters["jobs_per_s"] = jobs / seconds;
  state.counters["slowest_per_s"] = slowest;
  state.counters["seconds"] = seconds;
  state.counters["lost"] = jobs - found;
  state.counters["wrong_code"] = wrong;
  state.counters["cpu_ms_per_job"] = cpu_ms;
  state.counters["cpu_vs_fork_exec"] = cpu_ms / ForkExecCpu();
  BySlurm(state, [&](const BenchSlurm& slurm) {
    const uint32_t by_slurm = Scaled(30);
    const int64_t start = NowNanos();
    std::vector<std::string> words = {absl::StrCat("--array=1-", by_slurm),
                                      "--wrap=exec /bin/true"};
    bool taken = slurm.Submit(words);
    words.erase(words.begin());
    for (uint32_t i = 0; i < by_slurm && taken; ++i) {
      taken = slurm.Submit(words);
    }
    slurm.Idle();
    state.counters["slurm_jobs_per_s"] =
        2 * by_slurm / (static_cast<double>(NowNanos() - start) / 1e9);
    return taken;
  });
}
BENCHMARK(BM_Jobs)->Iterations(1)->Unit(benchmark::kSecond);

void BM_Array(benchmark::State& state) {
  BenchDaemon daemon(1);
  Block(daemon);
  const uint32_t tasks = Scaled(static_cast<uint32_t>(state.range(0)));
  double milliseconds = 0;
  for (auto _ : state) {
    const int64_t start = NowNanos();
    daemon.Submit({"/bin/true"}, 1, Indices(tasks));
    milliseconds = Milliseconds(NowNanos() - start);
  }
  state.counters["array_task_ms"] = milliseconds / tasks;
}
BENCHMARK(BM_Array)->ArgName("tasks")->Arg(1'000)->Iterations(1)->Unit(
    benchmark::kMillisecond);

// As many jobs as the case says, of which none starts.
void QueueUp(BenchDaemon& daemon, const benchmark::State& state) {
  Block(daemon);
  daemon.Submit({"/bin/true"}, 1,
                Indices(Scaled(static_cast<uint32_t>(state.range(0)))));
}

void BM_Queue(benchmark::State& state) {
  BenchDaemon daemon(1);
  QueueUp(daemon, state);
  std::vector<double> samples;
  for (auto _ : state) {
    for (uint32_t i = 0; i < Scaled(30); ++i) {
      samples.push_back(daemon.Muster({"queue"}));
    }
  }
  Tell(state, "", samples);
  state.counters["rss_mb"] = daemon.RssMegabytes();
  state.counters["peak_mb"] = daemon.PeakMegabytes();
  BySlurm(state, [&](const BenchSlurm& slurm) {
    const auto jobs = Scaled(static_cast<uint32_t>(state.range(0)));
    if (!slurm.Submit({"--hold", absl::StrCat("--array=1-", jobs),
                       "--wrap=exec /bin/true"})) {
      return false;
    }
    std::vector<double> by_slurm;
    for (uint32_t i = 0; i < Scaled(30); ++i) by_slurm.push_back(slurm.Queue());
    Tell(state, "slurm_", by_slurm);
    return true;
  });
}
BENCHMARK(BM_Queue)
    ->ArgName("jobs")
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

void BM_Restart(benchmark::State& state) {
  BenchDaemon daemon(1);
  QueueUp(daemon, state);
  std::vector<double> samples;
  for (auto _ : state) {
    for (uint32_t i = 0; i < Scaled(5); ++i) {
      daemon.Kill();
      const int64_t start = NowNanos();
      daemon.Start();
      samples.push_back(Milliseconds(NowNanos() - start));
    }
  }
  state.counters["p50_s"] = Quantile(samples, 0.5) / 1000;
  state.counters["rss_mb"] = daemon.RssMegabytes();
  state.counters["peak_mb"] = daemon.PeakMegabytes();
}
BENCHMARK(BM_Restart)
    ->ArgName("jobs")
    ->Arg(100)
    ->Arg(1'000)
    ->Arg(10'000)
    ->Iterations(1)
    ->Unit(benchmark::kSecond);

}  // namespace
}  // namespace muster::local
