// The most memory that the process has had at a time, as the kernel tells it.
#pragma once

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace muster::bench {

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

// Since the process began, whatever was reset.
inline double ProcessPeakMb() {
  static double most = 0;
  return most = std::max(most, PeakMb());
}

// Counts anew from here. What the allocator has kept of what is gone does not
// count.
inline void ResetPeak() {
  ProcessPeakMb();
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace muster::bench
