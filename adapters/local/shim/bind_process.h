// Binding a process to CPUs. The standard library and Linux alone. Any thread.
#pragma once

#include <sched.h>

#include <cerrno>
#include <cstdint>
#include <vector>

namespace muster::local {

// As the kernel has them; numbers from CPU_SETSIZE on are left out.
inline cpu_set_t CpuSetOf(const std::vector<uint32_t>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const uint32_t cpu : cpus) {
    if (cpu < CPU_SETSIZE) CPU_SET(cpu, &set);
  }
  return set;
}

// The process's main thread and what it will start; 0: this thread. 0 or an
// errno: EINVAL where none of the CPUs can be used. O(CPUs).
inline int BindProcess(int32_t pid, const std::vector<uint32_t>& cpus) {
  const cpu_set_t set = CpuSetOf(cpus);
  return sched_setaffinity(pid, sizeof set, &set) == 0 ? 0 : errno;
}

}  // namespace muster::local
