// What the work budget charges for a search, in nanoseconds of what it looks
// at, and in work steps of 100 ns: from state alone, as if no cache knew any of
// it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace muster {

// benchmarks/steps_*.cc compare the charges with the time that searches take,
// which is to be a third of them at least. Where they drift apart these are to
// be fitted anew: decisions under a work budget change with them.
inline constexpr uint64_t kNanosPerStep = 100;
inline uint64_t StepsOf(uint64_t nanos) {
  return (nanos + kNanosPerStep - 1) / kNanosPerStep;
}

// Nodes whose descriptions are read: a node costs more the fewer of them fit
// into a processor's cache.
struct ScanCost {
  uint64_t near = 0;
  uint64_t far = 0;
};
inline constexpr uint64_t operator*(uint64_t nodes, ScanCost c) {
  constexpr uint64_t kMost = 8192;
  return nodes * c.near + nodes * std::min(nodes, kMost) / kMost * c.far;
}

// Questions.
inline constexpr uint64_t kClassNs = 3000;    // A gang is looked at.
inline constexpr uint64_t kQuestionNs = 300;  // The solver is asked,
inline constexpr uint64_t kScopeNs = 100;     // for each role and group.
inline constexpr uint64_t kTaskNs = 130;      // One that runs, or is placed.
// Slots of a shape, by node: a column of them all, or node by node.
inline constexpr uint64_t kColumnNs = 650;
inline constexpr uint64_t kMixedColumnNs = 2000;  // Not of devices alone.
inline constexpr uint64_t kPlainNodes = 3;        // So many in a nanosecond.
inline constexpr uint64_t kWholeNs = 15;          // Whole devices,
inline constexpr uint64_t kRoomNs = 17;           // if there may be room;
inline constexpr uint64_t kShareNs = 223;         // shares;
inline constexpr uint64_t kShareCostNs = 118;     // their order;
inline constexpr uint64_t kPartitionNs = 1530;    // partitions.
inline constexpr uint64_t kListedNs = 89;         // Without a column.
inline constexpr ScanCost kFilterNs{13, 111};     // Labels are asked for.
inline constexpr uint64_t kChunkNs = 21;          // Of a column.
// Nodes, one by one.
inline constexpr ScanCost kLoneNs{66, 55};
inline constexpr ScanCost kPreferNs{5, 83};  // A preference,
inline constexpr uint64_t kAvoidNs = 27;     // or taints.
inline constexpr uint64_t kScoreNs = 400;
inline constexpr uint64_t kNodeNs = 20;
inline constexpr ScanCost kCapacityNs{59, 59};  // Were all gangs gone,
inline constexpr uint64_t kNeverNs = 33;        // and there is none.
inline constexpr uint64_t kFreeNs = 37;
// Searches.
inline constexpr uint64_t kLookNs = 8;   // A domain, or a sum.
inline constexpr uint64_t kFillNs = 12;  // A domain of equal tasks.
inline constexpr uint64_t kBoundNs = 26;
inline constexpr uint64_t kPutNs = 70;   // A task, in one table.
inline constexpr uint64_t kMixNs = 15;   // MixTree::steps.
inline constexpr uint64_t kPackNs = 15;  // BinPacking::steps.
inline constexpr uint64_t kExactNs = 150;
inline constexpr uint64_t kHopNs = 5;    // Of a fabric;
inline constexpr uint64_t kRouteNs = 5;  // a link on the way;
inline constexpr uint64_t kCellNs = 1;   // a cell of a torus.
// Victims.
inline constexpr uint64_t kReleaseNs = 118;
inline constexpr uint64_t kVictimRulesNs = 50;
inline constexpr uint64_t kBundleNs = 100;
inline constexpr uint64_t kBundleTaskNs = 30;

}  // namespace muster
