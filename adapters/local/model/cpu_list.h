// Lists of CPUs as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster::local {

// "0-3,8" of {0, 1, 2, 3, 8}, the form of the kernel's files and of taskset(1);
// "" of none. `cpus`: the kernel's numbers of CPUs, ascending. O(CPUs).
inline std::string CpuListText(const std::vector<uint32_t>& cpus) {
  std::string text;
  for (size_t i = 0, last = 0; i < cpus.size(); i = last + 1) {
    last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(cpus[i]);
    if (last > i) text += '-' + std::to_string(cpus[last]);
  }
  return text;
}

}  // namespace muster::local
