// Ranks: in which order the tasks of a placement, and the devices of a task,
// should talk in a ring. Pure functions over what a host knows.
#ifndef MUSTER_FABRIC_RANK_ORDER_H_
#define MUSTER_FABRIC_RANK_ORDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "muster/device_set.h"
#include "muster/export.h"
#include "muster/node.h"
#include "muster/topology.h"

namespace muster {

// One task of a placement: PlannedTask, its node looked up.
struct RankedTask {
  const Node* node = nullptr;
  DeviceSet devices{};
  uint32_t first_slice = 0;
};

// The tasks by rank, as positions in `tasks`: by domain path, nodes outside the
// topology last, then node key, then first device in RingOrder, then
// first_slice, then position. A ring through the ranks crosses from domain to
// domain as rarely as any can, at every level at once: as often as there are
// domains in use, or never if there is one. O(tasks * (log tasks + devices)).
//
// Inside one role there is nothing to do: its tasks are numbered in this order
// when they are placed (Placement::tasks). This is for gangs of several
// roles, and for those that grew or were repaired since.
MUSTER_API std::vector<uint32_t> RankOrder(const Topology& topology,
                                           std::span<const RankedTask> tasks);

// The devices by island, then NUMA node, then number; those of which it is not
// known come last.
MUSTER_API std::vector<uint32_t> RingOrder(const Node& node, DeviceSet devices);

}  // namespace muster

#endif  // MUSTER_FABRIC_RANK_ORDER_H_
