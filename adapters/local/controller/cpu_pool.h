// CpuPool: the processor cores that tasks may be bound to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "muster/enum_names.h"

namespace muster::local {

// What one "cpu" is where tasks are bound.
enum class CpuUnit : uint8_t {
  kCore,    // A core, with all of its processing units.
  kThread,  // A processing unit of a core: a hardware thread.
};
MUSTER_ENUM_NAMES(CpuUnit, "core", "thread");

struct CpuCore {
  int32_t numa = -1;  // The kernel's number of its NUMA node; -1: none known.
  // The kernel's numbers of its processing units, which it calls CPUs:
  // ascending, at least one.
  std::vector<uint32_t> threads{};

  friend bool operator==(const CpuCore&, const CpuCore&) = default;
};

// A value. Any thread.
struct CpuPool {
  // As they lie in the machine: neighbours are close. No thread is there twice.
  // None: tasks are bound to nothing.
  std::vector<CpuCore> cores{};
  CpuUnit unit = CpuUnit::kCore;

  // How many cpus these are. O(cores).
  size_t size() const {
    if (unit == CpuUnit::kCore) return cores.size();
    size_t threads = 0;
    for (const CpuCore& core : cores) threads += core.threads.size();
    return threads;
  }
  friend bool operator==(const CpuPool&, const CpuPool&) = default;
};

}  // namespace muster::local
