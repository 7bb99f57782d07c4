// A cluster in use, for BM_Step.
#pragma once

#include <cstdint>
#include <string>

#include "lib/cluster/cluster.h"
#include "muster/gang.h"

namespace muster::bench {

inline constexpr uint32_t kStepDevices = 8;
inline constexpr ResourceKind kStepGpu = 2;  // After cpu and memory.

enum class Load : uint8_t {
  kScattered,  // One node in five is free; of the others' devices, one in four.
  kFull,       // The same, but no node is free.
  kReluctant,  // kScattered, and a taint asks to avoid one node in ten.
  kEmpty,
};

// Zones of 20 blocks of 25 racks of 20 nodes of 8 devices: models "A" and "B",
// which can be cut, rack by rack.
Node StepNode(uint32_t number);
Cluster StepCluster(uint32_t nodes, Load load);

// A role of such tasks, all alike.
Role StepRole(const std::string& name, uint32_t tasks, uint32_t devices);
// A gang of one role, with a root group.
Gang StepGang(uint32_t tasks, uint32_t devices);

}  // namespace muster::bench
