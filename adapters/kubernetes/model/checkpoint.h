// What pods say of their checkpoints. Pure: any thread.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// Until when the work of a pod is saved: an RFC 3339 time or whole seconds
// since 1970.
inline constexpr char kCheckpointAnnotation[] = "muster.dev/checkpoint";

// None: the pod says nothing. INVALID_ARGUMENT names the annotation. O(bytes).
absl::StatusOr<std::optional<Time>> CheckpointOf(
    const api::StringMap& annotations);

}  // namespace muster::kubernetes
