// A fabric's description turned into a plain graph.
#ifndef MUSTER_LIB_FABRIC_DESCRIPTION_H_
#define MUSTER_LIB_FABRIC_DESCRIPTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "muster/fabric.h"

namespace muster {

// Nodes, switches and links in the order in which the description makes them;
// or what is wrong with its numbers. Keys and links of a FabricGraph are passed
// on as they are.
absl::StatusOr<FabricGraph> GraphOf(const FabricDescription& description);

}  // namespace muster

#endif  // MUSTER_LIB_FABRIC_DESCRIPTION_H_
