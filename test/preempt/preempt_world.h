// A small cluster with running gangs, described by value, so that a test can
// build the same one in different orders; and a policy of floors and limits.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/preempt/victim_search.h"
#include "lib/solver/gang_solver.h"

namespace muster {

// Resource kinds of these clusters.
inline constexpr ResourceKind kCpu = 0;
inline constexpr ResourceKind kGpu = 1;

// A task of a running gang: so many GPUs of a node.
struct TaskSpec {
  std::string node{};
  uint32_t gpus = 1;
};

struct RunningSpec {
  std::string key{};
  int32_t priority = 0;
  int64_t cost = 0;
  std::vector<TaskSpec> tasks{};  // Surplus ones last.
  uint32_t surplus = 0;
  std::vector<int64_t> surplus_costs{};  // Likewise.
  std::vector<uint32_t> shrink_sizes{};  // As VictimCandidate has them.
  bool stoppable = true;
  uint32_t queue = 0;
  bool candidate = true;  // false: the policy protects it.
};

struct ClusterSpec {
  uint32_t racks = 1;
  uint32_t nodes_per_rack = 1;
  uint32_t gpus_per_node = 8;
  std::vector<RunningSpec> running{};
};

// "r3/n2": the node's key; "r3" its rack.
std::string NodeKey(uint32_t rack, uint32_t node);

// A gang of `tasks` tasks with `gpus` GPUs each; `level`: required of all.
Gang MakeGang(uint32_t tasks, uint32_t gpus, const std::string& level);

class World {
 public:
  // Nodes and gangs arrive in an order that `shuffle` decides; 0: as listed.
  explicit World(const ClusterSpec& spec, uint64_t shuffle = 0);

  Cluster& cluster() { return cluster_; }
  // By (priority, key).
  const std::vector<VictimCandidate>& candidates() const { return candidates_; }
  const std::string& KeyOf(uint32_t candidate) const {
    return running_[order_[candidate]].key;
  }
  uint32_t QueueOf(uint32_t candidate) const {
    return running_[order_[candidate]].queue;
  }
  // GPUs that a candidate's last `tasks` tasks hold.
  int64_t Gpus(uint32_t candidate, uint32_t tasks) const;

  PreparedGang Prepare(const Gang& gang);
  // "a b:1": whole gangs by key, and surplus tasks stopped.
  std::string Told(const std::vector<Victim>& victims) const;

 private:
  void AddNodes(const ClusterSpec& spec, uint64_t shuffle);
  void Start(const ClusterSpec& spec, uint64_t shuffle);

  Cluster cluster_;
  std::vector<RunningSpec> running_;
  std::vector<std::vector<Assignment>> placed_;  // By running gang.
  std::vector<uint32_t> order_;                  // Candidate -> running gang.
  std::vector<VictimCandidate> candidates_;
};

// No queue's use, in GPUs, may sink below its floor; or, with a soft floor,
// only by the last of its victims. The preemptor's queue may not exceed its
// limit.
class QueuePolicy : public VictimPolicy {
 public:
  struct Queue {
    int64_t used = 0;
    int64_t floor = 0;
    bool soft = false;
  };
  QueuePolicy(const World& world, std::vector<Queue> queues)
      : world_(world), queues_(std::move(queues)) {
    entered_.resize(world.candidates().size(), 0);
  }
  // The preemptor asks for `gpus` in `queue`, which may use `limit`.
  void Limit(uint32_t queue, int64_t limit, int64_t gpus) {
    own_ = queue;
    limit_ = limit - gpus;
  }

  bool Add(uint32_t i, uint32_t tasks) override;
  void Remove(uint32_t i) override;
  bool QuotaSuffices() const override;
  // How many tasks of the candidate the policy holds for gone.
  uint32_t entered(uint32_t i) const { return entered_[i]; }

 private:
  const World& world_;
  std::vector<Queue> queues_;
  std::vector<uint32_t> entered_;
  uint32_t own_ = 0;
  int64_t limit_ = int64_t{1} << 40;
};

}  // namespace muster
