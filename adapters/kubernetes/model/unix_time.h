// Times of the API server as the library's. Pure: any thread.
#pragma once

#include <algorithm>

#include "adapters/kubernetes/api/objects.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// What the library does not take, as early or as late as it takes: an object's
// times are its maker's word. O(1).
inline Time ToTime(api::UnixMillis time) {
  return std::clamp<Time>(time, 0, kMaxTime / kMillisecond) * kMillisecond;
}

}  // namespace muster::kubernetes
