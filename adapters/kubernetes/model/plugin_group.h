// PodGroups of other schedulers: of Volcano and of the scheduler plugins. Pure
// functions: any thread.
#pragma once

#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

// minTaskMember becomes subgroups. minResources is passed over: the pods
// themselves say what they need. O(tasks).
GroupSpec ToSpec(const api::VolcanoPodGroup& group);
// So is scheduleTimeoutSeconds: nothing is reserved for a group that waits.
GroupSpec ToSpec(const api::CoschedulingPodGroup& group);

}  // namespace muster::kubernetes
