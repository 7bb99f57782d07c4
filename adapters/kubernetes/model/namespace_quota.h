// What a ResourceQuota says of the resources that pods ask for. Pure functions:
// any thread.
#pragma once

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes {

// The most that the pods of its namespace may ask for together, by the names
// that pods use: requests.cpu and cpu are one, requests.example.com/gpu is
// example.com/gpu, pods is their number. In thousandths. Limits, storage and
// numbers of other objects are left out, and all of a quota with scopes, which
// holds for some of the pods only. O(resources).
api::ResourceList PodLimits(const api::ResourceQuota& quota);

}  // namespace muster::kubernetes
