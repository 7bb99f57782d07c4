// topologySpreadConstraints of pods as the library's. Pure: any thread.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "adapters/kubernetes/api/objects.h"
#include "muster/topology.h"

namespace muster::kubernetes {

// How like pods of a group spread.
struct PodSpread {
  // A topology of the constraint's node label alone.
  TopologyConstraint topology{};
  // Which pods count: labelSelector, with the values that matchLabelKeys takes
  // from the pod.
  api::LabelSelector selector{};
};

// None: nothing is required; ScheduleAnyway is a wish that the library does not
// have. UNIMPLEMENTED names what is set and not understood: more than one
// constraint with DoNotSchedule, a selector that does not select the pod,
// nodeAffinityPolicy: Ignore. INVALID_ARGUMENT names a field that is none of
// Kubernetes' values. O(size of the constraints).
absl::StatusOr<std::optional<PodSpread>> SpreadOf(const api::Pod& pod);

}  // namespace muster::kubernetes
