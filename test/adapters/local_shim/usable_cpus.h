// The CPUs that tests may bind tasks to.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdint>
#include <vector>

namespace muster::local {

// Those that this process may use, ascending.
inline std::vector<uint32_t> UsableCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  std::vector<uint32_t> cpus;
  for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace muster::local
