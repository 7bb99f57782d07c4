// ProcessId: one process, which a number alone does not tell from a later one.
#pragma once

#include <compare>
#include <cstdint>

namespace muster::local {

struct ProcessId {
  int32_t pid = 0;
  uint64_t start = 0;  // Clock ticks from the machine's start to the process's.

  friend auto operator<=>(const ProcessId&, const ProcessId&) = default;
};

}  // namespace muster::local
