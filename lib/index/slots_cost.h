// What the slots of a shape on some nodes are charged, known or not.
#pragma once

#include <cstdint>

#include "lib/base/step_cost.h"
#include "lib/cluster/cluster.h"

namespace muster::index {

// A shape of whole devices of any model, and nothing else.
bool IsPlain(const Cluster& cluster, ShapeId shape);
// Node by node.
uint64_t NanosOfSlots(const Cluster& cluster, ShapeId shape, uint64_t nodes);
// The slots of a shape on all nodes, were there none: see ShapeSlots::nanos.
uint64_t NanosOfColumn(const Cluster& cluster, ShapeId shape);

}  // namespace muster::index
