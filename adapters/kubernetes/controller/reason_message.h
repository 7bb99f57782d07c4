// Why a group waits, as people read it.
#pragma once

#include <string>

#include "adapters/kubernetes/model/resource_kinds.h"
#include "muster/reason.h"

namespace muster::kubernetes {

// With amounts as quantities: "insufficient: 4 nvidia.com/gpu needed, 1 there".
// Pure; O(bytes).
std::string ToMessage(NamedReason reason, const ResourceKinds& kinds);

}  // namespace muster::kubernetes
