// What a scheduler knows of nodes beside the cluster's ledgers: their state as
// the host reported it, and which tasks are on them.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "lib/cluster/cluster.h"
#include "lib/queue/queue_position.h"
#include "muster/node.h"

namespace muster {

// A task on a node.
struct NodeTask {
  GangIndex gang = kNoGang;
  TaskId task{};
  ShapeId shape = 0;  // With which it is there.

  friend bool operator==(const NodeTask&, const NodeTask&) = default;
};

// By NodeIndex. Invariant: tasks(n) are those of all gangs that hold something
// of node n, are nominated for it, or are suspended on it; `releasing` counts
// those of them that hold more now than they will hold later. They have no
// order: a reader sorts them, or does not depend on it. Not synchronised.
class NodeRecords {
 public:
  struct Facts {
    bool down = false;
    bool draining = false;
    Time spot_notice = kForever;
    ExternalUsage external{};
    DeviceSet
        unnamed{};  // Which ExternalUsage::unnamed_devices are taken to be.

    bool available() const {
      return !down && !draining && spot_notice == kForever;
    }
    friend bool operator==(const Facts&, const Facts&) = default;
  };

  const Facts& facts(NodeIndex n) const { return nodes_[n].facts; }
  Facts& facts(NodeIndex n) { return nodes_[n].facts; }
  // External usage of it as it is charged, unnamed devices included.
  ExternalUsage ExternalUsageOf(NodeIndex n) const;
  // A node that has just come, or is gone.
  void Reset(NodeIndex n, const Facts& facts);

  std::span<const NodeTask> tasks(NodeIndex n) const { return tasks_[n]; }
  uint32_t releasing(NodeIndex n) const { return nodes_[n].releasing; }
  // Tasks being released, anywhere.
  uint32_t releasing() const { return releasing_; }
  // The gangs with a task on the node, each once, by index.
  std::vector<GangIndex> GangsOn(NodeIndex n) const;

  // Amortised O(1); the others O(tasks on the node).
  void Add(NodeIndex n, const NodeTask& task);
  void Remove(NodeIndex n, const NodeTask& task);
  // The task has another shape, with which it is there as before.
  void SetShape(NodeIndex n, const NodeTask& task, ShapeId shape);
  // One more (+1), or less (-1), of its tasks is being released.
  void CountReleasing(NodeIndex n, int32_t sign) {
    nodes_[n].releasing += static_cast<uint32_t>(sign);
    releasing_ += static_cast<uint32_t>(sign);
  }

  // Nodes that may be overcommitted: the next pass checks them.
  const std::set<NodeIndex>& overcommit_candidates() const {
    return overcommit_candidates_;
  }
  void AddOvercommitCandidate(NodeIndex n) { overcommit_candidates_.insert(n); }
  void RemoveOvercommitCandidate(NodeIndex n) {
    overcommit_candidates_.erase(n);
  }
  // Those of before, when what happened since is taken back.
  void SetOvercommitCandidates(std::set<NodeIndex> nodes) {
    overcommit_candidates_ = std::move(nodes);
  }

 private:
  struct Entry {
    Facts facts{};
    uint32_t releasing = 0;
  };
  // By itself, for readers of the tasks of many nodes.
  using Tasks = absl::InlinedVector<NodeTask, 4>;

  Tasks::iterator Find(NodeIndex n, const NodeTask& task);

  std::vector<Entry> nodes_;
  std::vector<Tasks> tasks_;
  uint32_t releasing_ = 0;
  std::set<NodeIndex> overcommit_candidates_;
};

}  // namespace muster
