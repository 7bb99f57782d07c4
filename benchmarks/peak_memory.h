// The most memory that the process has had at a time, as the kernel tells it.
#pragma once

#include <malloc.h>

#include <fstream>
#include <string>

namespace muster::bench {

// Counts anew from here. What the allocator has kept of what is gone does not
// count.
inline void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

// In MB, since ResetPeak. 0: the kernel does not say.
inline double PeakMb() {
  std::ifstream status("/proc/self/status");
  constexpr double kKbOfMb = 1000.0 / 1.024;
  for (std::string word; status >> word;) {
    double kb = 0;
    if (word == "VmHWM:" && status >> kb) return kb / kKbOfMb;
  }
  return 0;
}

}  // namespace muster::bench
