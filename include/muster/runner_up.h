// RunnerUp: who else could have made room.
#pragma once

#include <cstdint>

namespace muster {

// Other victims that would do, without the most expensive of those that were
// chosen. A short search finds them, as no decision rests on them: the rules
// allow them, but there may be cheaper ones. Where they could be on more than
// SearchLimits::victim_steps / 400 nodes, none are looked for.
struct RunnerUp {
  uint32_t victims = 0;  // Gangs. 0: none were found.
  int32_t priority = 0;  // The highest of them.
  int64_t cost = 0;      // Of all of them.
};

}  // namespace muster
