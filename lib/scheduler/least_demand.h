// What a gang asks at the least of a kind of resource.
#pragma once

#include <cstdint>
#include <span>

#include "muster/gang.h"

namespace muster {

// No gang that has what it needs (Satisfaction) has less of a kind of which a
// task of role r has each[r] at the least. The least itself where no group
// chooses among its children (Group::min_children); else perhaps less. The
// roles and groups are valid, and there is a root. O((groups + 1) x roles x log
// roles).
int64_t LeastAmount(const Gang& gang, std::span<const int64_t> each);

}  // namespace muster
