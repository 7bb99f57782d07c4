// Placement: where the tasks of a gang are put, or why there is no room.
#ifndef MUSTER_PLACEMENT_H_
#define MUSTER_PLACEMENT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "muster/certificate.h"
#include "muster/device_set.h"
#include "muster/ids.h"
#include "muster/reason.h"

namespace muster {

// One task of a gang and what it holds.
struct PlacedTask {
  TaskId task{};
  std::string node{};        // Its key.
  DeviceSet devices{};       // Positions in Node::devices.
  uint32_t alternative = 0;  // 0: Role::shape; i: Role::alternatives[i - 1].
  // First memory slice of its partition; 0 if it has none.
  uint32_t first_slice = 0;

  friend bool operator==(const PlacedTask&, const PlacedTask&) = default;
};

// An answer of PlacementSolver, a value that holds nothing of the solver.
struct Placement {
  Fit fit = Fit::kNotNow;
  // By role and index. Empty unless it fits.
  std::vector<PlacedTask> tasks{};
  // Why it does not fit, with the nearest shortfall; else kNone.
  NamedReason reason{};
  // Of kNotNow: the search ended by its bounds, and has neither found a
  // placement nor proven that there is none. The reason is kNotFound then.
  bool cut_short = false;
  Certificate certificate{};
};

}  // namespace muster

#endif  // MUSTER_PLACEMENT_H_
