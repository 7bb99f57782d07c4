// Groups that objects of scheduling.k8s.io and muster.dev describe. Pure
// functions: any thread.
#pragma once

#include <span>

#include "adapters/kubernetes/api/muster_objects.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/model/group.h"
#include "muster/topology.h"

namespace muster::kubernetes {

// By itself, whatever its parent.
GroupSpec ToSpec(const api::PodGroup& group);
// Without its PodGroups: AddSubgroup.
GroupSpec ToSpec(const api::CompositePodGroup& group);
// The PodGroup names the composite one as its parent. O(size).
void AddSubgroup(const api::PodGroup& group, GroupSpec* composite);
// Levels are those of the first of the topologies that has them; a level of
// none, required or preferred alone, is a label key by itself, and a topology
// with that one level.
// O(groups x levels).
GroupSpec ToSpec(const api::MusterPodGroup& group,
                 std::span<const Topology> topologies);

}  // namespace muster::kubernetes
