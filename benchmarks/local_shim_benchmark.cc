// What a shim costs: /bin/true by muster-shim, from Launch to how it ended,
// beside /bin/true by posix_spawn, in turns. Counters of BM_ShimLaunch:
//   p50_ms, p99_ms   of the shim
//   spawn_p50_ms     of posix_spawn and waitid
//   ratio            of the medians
#include <benchmark/benchmark.h>
#include <poll.h>
#include <spawn.h>
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

template <typename Function>
double Milliseconds(const Function& function) {
  const auto start = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - start)
      .count();
}

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
  std::vector<double> shims, spawns;
  for (auto _ : state) {
    const std::string attempt = folder + "/" + std::to_string(shims.size());
    bool good = true;
    shims.push_back(Milliseconds([&] { good &= RunByShim(attempt); }));
    spawns.push_back(Milliseconds([&] { good &= RunBySpawn(); }));
    if (!good) state.SkipWithError("a task did not end as it should");
  }
  std::filesystem::remove_all(folder);
  state.counters["p50_ms"] = Quantile(shims, 0.5);
  state.counters["p99_ms"] = Quantile(shims, 0.99);
  state.counters["spawn_p50_ms"] = Quantile(spawns, 0.5);
  state.counters["ratio"] = Quantile(shims, 0.5) / Quantile(spawns, 0.5);
}
BENCHMARK(BM_ShimLaunch)
    ->Iterations(500)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace muster::local
