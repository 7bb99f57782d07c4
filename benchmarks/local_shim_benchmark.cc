// What a shim costs: /bin/true by muster-shim, from Launch to how it ended,
// beside /bin/true by posix_spawn, in turns. Counters of BM_ShimLaunch:
//   p50_ms, p99_ms   of the shim
//   spawn_p50_ms     of posix_spawn and waitid
//   ratio            of the medians
//   cpu_ms           CPU time of this process and of those that it started, a
//                    quarter of the samples is below: other work on the machine
//                    makes the others longer
//   cpu_ratio        the same over that of posix_spawn and waitid
#include <benchmark/benchmark.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "adapters/local/shim/shim.h"

namespace muster::local {
namespace {

constexpr char kTrue[] = "/bin/true";

double Quantile(std::vector<double> samples, double share) {
  const auto at = static_cast<std::ptrdiff_t>(
      share * static_cast<double>(samples.size() - 1));
  std::ranges::nth_element(samples, samples.begin() + at);
  return samples[static_cast<size_t>(at)];
}

double CpuMilliseconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      sum += 1e3 * static_cast<double>(part.tv_sec) +
             1e-3 * static_cast<double>(part.tv_usec);
    }
  }
  return sum;
}

// Of each call, in milliseconds.
struct Samples {
  std::vector<double> wall{}, cpu{};

  template <typename Function>
  void Add(const Function& function) {
    const double cpu_start = CpuMilliseconds();
    const auto start = std::chrono::steady_clock::now();
    function();
    wall.push_back(std::chrono::duration<double, std::milli>(
                       std::chrono::steady_clock::now() - start)
                       .count());
    cpu.push_back(CpuMilliseconds() - cpu_start);
  }
};

bool RunByShim(const std::string& folder) {
  const ShimSpec spec{.command = {kTrue}, .output = "output"};
  auto shim = Launch(MUSTER_SHIM, folder, spec);
  if (!shim.ok()) return false;
  pollfd ended{.fd = shim->fd(), .events = POLLIN, .revents = 0};
  poll(&ended, 1, -1);
  const auto exit = shim->Exit();
  return exit.ok() && exit->code == 0 && exit->reason == ShimReason::kExited;
}

bool RunBySpawn() {
  std::array<char*, 2> arguments = {const_cast<char*>(kTrue), nullptr};
  pid_t pid = 0;
  int status = -1;
  return posix_spawn(&pid, kTrue, nullptr, nullptr, arguments.data(),
                     environ) == 0 &&
         waitpid(pid, &status, 0) == pid && status == 0;
}

void BM_ShimLaunch(benchmark::State& state) {
  std::string folder =
      (std::filesystem::temp_directory_path() / "shim-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) std::abort();
  Samples shims, spawns;
  for (auto _ : state) {
    const std::string attempt =
        folder + "/" + std::to_string(shims.wall.size());
    bool good = true;
    shims.Add([&] { good &= RunByShim(attempt); });
    spawns.Add([&] { good &= RunBySpawn(); });
    if (!good) state.SkipWithError("a task did not end as it should");
  }
  std::filesystem::remove_all(folder);
  state.counters["p50_ms"] = Quantile(shims.wall, 0.5);
  state.counters["p99_ms"] = Quantile(shims.wall, 0.99);
  state.counters["spawn_p50_ms"] = Quantile(spawns.wall, 0.5);
  state.counters["ratio"] =
      Quantile(shims.wall, 0.5) / Quantile(spawns.wall, 0.5);
  state.counters["cpu_ms"] = Quantile(shims.cpu, 0.25);
  state.counters["cpu_ratio"] =
      Quantile(shims.cpu, 0.25) / Quantile(spawns.cpu, 0.25);
}
BENCHMARK(BM_ShimLaunch)
    ->Iterations(500)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace muster::local
