// Fit and Certificate: whether a gang has a placement, and how good it is.
#ifndef MUSTER_CERTIFICATE_H_
#define MUSTER_CERTIFICATE_H_

#include <cstdint>
#include <vector>

#include "muster/enum_names.h"

namespace muster {

// "No room" is an answer, not an error, and is asked for thousands of times a
// pass: an enum, never an absl::Status.
enum class Fit : uint8_t {
  kFits,
  kNotNow,  // Not with what is free.
  kNever,   // Not even if nothing ran.
};
MUSTER_ENUM_NAMES(Fit, "fits", "not-now", "never");

// How good a placement is, and how much better any could be that places the
// same numbers of tasks, of the same shapes. Gangs whose roles communicate
// (Gang::traffic) are compared by `traffic`, all others by `levels`, level
// after level.
struct Certificate {
  // Domains of a level that hold added tasks and no earlier ones. A node
  // outside the topology counts as a domain of its own.
  struct Level {
    uint32_t used = 0;   // Of the placement.
    uint32_t least = 0;  // No placement that uses as few as this one does at
                         // all wider levels uses fewer here.
    friend bool operator==(const Level&, const Level&) = default;
  };
  // Weight x distance over all pairs of tasks whose roles communicate, one of
  // them added at least. Two tasks are as far apart as there are levels of the
  // gang's first topology, the single node included, at which their domains
  // differ: 0 on one node.
  struct Cost {
    // Whether roles communicate. Otherwise the rest is 0.
    bool has_traffic = false;
    int64_t cost = 0;   // Of the placement.
    int64_t least = 0;  // None costs less inside one domain of the level whose
                        // narrowest domain this one lies in.
    int64_t gap() const { return cost - least; }
    friend bool operator==(const Cost&, const Cost&) = default;
  };
  // Widest level of the gang's first topology first, the nodes last. Empty:
  // nothing is claimed (roles communicate, or no steps were allowed for it).
  std::vector<Level> levels{};
  Cost traffic{};
  // Proven: used == least at every level, or cost == least.
  bool optimal = false;
};

}  // namespace muster

#endif  // MUSTER_CERTIFICATE_H_
