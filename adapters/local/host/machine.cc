#include "adapters/local/host/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/gpu/inventory.h"
#include "muster/device_set.h"

namespace muster::local {
namespace {

constexpr int64_t kMilliOfCpu = 1000;

// Of control groups version 2 and 1. "max", or a number beyond any machine, is
// no limit.
constexpr std::array kLimits = {"/sys/fs/cgroup/memory.max",
                                "/sys/fs/cgroup/memory/memory.limit_in_bytes"};

}  // namespace

std::string MachineName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "local";
  return name[0] == '\0' ? "local" : name.data();
}

uint32_t AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<uint32_t>(CPU_COUNT(&set));
}

int64_t AllowedMemory() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  for (const char* file : kLimits) {
    int64_t limit = 0;
    if (std::ifstream(file) >> limit && limit > 0) {
      bytes = std::min(bytes, limit);
    }
  }
  return bytes;
}

absl::StatusOr<CpuPool> MakeCpuPool(const Config& config,
                                    std::vector<CpuCore> found) {
  CpuPool pool{.unit = config.cpu_unit};
  if (config.cpu_bind == CpuBind::kNone) return pool;
  pool.cores = std::move(found);
  const size_t size = pool.size();
  const auto there = static_cast<int64_t>(size) * kMilliOfCpu;
  const int64_t milli = config.cpu_milli.value_or(there);
  if (milli > there) {
    return absl::FailedPreconditionError(absl::StrCat(
        "node.cpus.amount: ",
        static_cast<double>(milli) / static_cast<double>(kMilliOfCpu),
        " cpus (", std::string(muster::Name(pool.unit)), "s), and there are ",
        size));
  }
  // Of a part of a cpu there is nobody else to have the rest.
  size_t left = static_cast<size_t>((milli + kMilliOfCpu - 1) / kMilliOfCpu);
  for (CpuCore& core : pool.cores) {
    const size_t has = pool.unit == CpuUnit::kCore ? 1 : core.threads.size();
    if (left < has) core.threads.resize(pool.unit == CpuUnit::kCore ? 0 : left);
    left -= std::min(left, has);
  }
  std::erase_if(pool.cores, [](const CpuCore& c) { return c.threads.empty(); });
  return pool;
}

absl::StatusOr<Node> MakeNode(const Config& config,
                              const std::vector<Gpu>& gpus,
                              const CpuPool& cpus) {
  Node node{.key = config.node.empty() ? MachineName() : config.node};
  const SchedulerConfig& scheduler = config.scheduler;
  const auto found = static_cast<int64_t>(
      config.cpu_bind == CpuBind::kNone ? AllowedCpus() : cpus.size());
  node.capacity.Set(scheduler.KindOf("cpu"),
                    config.cpu_milli.value_or(found * kMilliOfCpu));
  node.capacity.Set(scheduler.KindOf("memory"),
                    config.memory_bytes.value_or(AllowedMemory()));
  node.devices = config.devices.has_value()
                     ? *config.devices
                     : ToDevices(gpus, scheduler.partition_schemes);
  if (node.devices.size() > DeviceSet::kCapacity) {
    return absl::FailedPreconditionError(
        absl::StrCat("node.gpus: ", node.devices.size(), " devices, and a node",
                     " has at most ", DeviceSet::kCapacity));
  }
  return node;
}

}  // namespace muster::local
