// What the pods of a gang say together.
#pragma once

#include <optional>

#include "adapters/kubernetes/controller/gang_record.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// Until when the work of those of its pods that run is saved: the earliest of
// what they say. None: none of them says anything. O(pods).
std::optional<Time> CheckpointOf(const GangRecord& gang);

}  // namespace muster::kubernetes
