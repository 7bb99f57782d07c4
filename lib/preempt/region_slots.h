// How many tasks of the preemptor each node of one region has room for, kept
// true while victims come and go: the cheap half of "does it fit".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/preempt/preemption_problem.h"

namespace muster::preempt {

class RegionSlots {
 public:
  static constexpr uint32_t kElsewhere = 0xffffffff;

  // `positions`: by node, all kElsewhere, and left so; searches are many, and
  // each looks at few nodes.
  RegionSlots(PreemptionProblem& problem, std::vector<uint32_t>& positions);
  ~RegionSlots() { Watch({}); }
  RegionSlots(const RegionSlots&) = delete;
  RegionSlots& operator=(const RegionSlots&) = delete;

  // Looks at these nodes from now on. O(nodes x shapes).
  void Watch(std::span<const NodeIndex> nodes);
  // The node's free capacity has changed.
  void Refresh(NodeIndex node);
  // Place of the node among those watched, or kElsewhere.
  uint32_t Position(NodeIndex node) const { return position_[node]; }

  // False only if the gang cannot fit in the watched nodes.
  bool Possible() const;
  // Whether it fits there, as the cluster is now.
  bool Fits() const;
  // Which of a role's alternatives the next two look at: its last, if fewer.
  void Aim(uint32_t alternative) { aim_ = alternative; }
  uint32_t aim() const { return aim_; }
  // Slots the need still lacks in the alternative aimed at, if it wants
  // `extra` more than it says.
  uint64_t Lacking(size_t need, uint64_t extra) const;
  // Slots of the need in all watched nodes, and on one of them.
  uint64_t Total(size_t need) const { return total_[ColumnOf(need)]; }
  uint32_t At(size_t need, NodeIndex node) const;

 private:
  size_t ColumnOf(size_t need) const;

  PreemptionProblem& problem_;
  uint64_t refresh_ns_ = 0;           // What one Refresh is charged.
  std::vector<ShapeId> shapes_;       // One column an alternative of a need.
  std::vector<size_t> first_column_;  // By need; one more at the end.
  std::vector<uint32_t> limits_;      // By column: more slots do not count.
  std::vector<uint32_t>& position_;   // By node.
  std::vector<NodeIndex> nodes_;
  std::vector<uint32_t> slots_;  // [position x columns + column]
  std::vector<uint64_t> total_;  // By column.
  uint32_t aim_ = 0;
};

}  // namespace muster::preempt
