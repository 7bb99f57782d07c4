// Label selectors of Kubernetes. Pure functions: any thread.
#pragma once

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes {

// Whether all of it holds for these labels; an empty selector does. One that is
// malformed selects nothing. O(requirements x (labels + values)).
bool Selects(const api::LabelSelector& selector, const api::StringMap& labels);

}  // namespace muster::kubernetes
