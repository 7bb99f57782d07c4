// What musterd is told by its configuration file: docs/local.md.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/controller/cpu_pool.h"
#include "adapters/local/controller/fault_book.h"
#include "adapters/local/host/images.h"
#include "adapters/local/host/notifier.h"
#include "adapters/local/host/volume_places.h"
#include "adapters/serve/address.h"
#include "muster/config.h"
#include "muster/device.h"
#include "muster/enum_names.h"
#include "muster/ids.h"
#include "muster/priority_class.h"
#include "muster/queue.h"

namespace muster::local {

// What a task that asks for a whole number of cpus is bound to.
enum class CpuBind : uint8_t {
  kNone,   // Nothing: the kernel shares the cores out.
  kCores,  // So many of its own.
};
MUSTER_ENUM_NAMES(CpuBind, "none", "cores");

// A value. What is made without a file serves one person with one machine: a
// queue "default", and classes "low", "normal" and "high".
struct Config {
  Config();

  // Resources are "cpu" (thousandths), "memory" (bytes) and "gpu" (devices).
  SchedulerConfig scheduler{};
  std::string node{};  // Its key; empty: the name of the machine.
  // Of the machine, what jobs may use; none: all that is found. Devices that
  // are named here are inventions to the driver: jobs are told their numbers.
  std::optional<int64_t> cpu_milli{};
  CpuBind cpu_bind = CpuBind::kNone;
  CpuUnit cpu_unit = CpuUnit::kCore;  // Of kCores: what one cpu is.
  std::optional<int64_t> memory_bytes{};
  std::optional<std::vector<Device>> devices{};
  // Where tasks have cgroups: a folder of version 2, absolute, which may be one
  // to be made; kOwnCgroup; "": they have none.
  std::string cgroup{};
  // UUIDs of GPUs that are gone for good: see KeepPlaces (gpu/places.h).
  std::vector<std::string> forgotten_gpus{};
  std::vector<Queue> queues{};
  std::vector<PriorityClass> classes{};
  std::string default_queue = "default";
  std::string default_class = "normal";
  // For the rendezvous of jobs, on the loopback interface.
  uint16_t first_port = 20'000;
  uint16_t last_port = 29'999;
  VolumePlaces volumes{};  // Without `mounts`, which the machine says.
  Images images{};
  // Where its page is served, and its API over TCP; none: nowhere.
  std::optional<serve::Address> listen{};
  // Of finished jobs: how long and how many are kept, and what their files may
  // take; what is over one of these goes.
  Duration keep_for = int64_t{90} * 24 * 3600 * kSecond;
  uint64_t keep_jobs = 100'000;
  QuarantineRules quarantine{};
  NotifyRule notify{};
  int64_t keep_bytes = std::numeric_limits<int64_t>::max();
};

// INVALID_ARGUMENT: one line with file, line, column and field, and what is
// allowed there. O(bytes).
absl::StatusOr<Config> LoadConfig(const std::string& file);

}  // namespace muster::local
