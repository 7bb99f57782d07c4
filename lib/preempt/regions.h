// Where the gang might go as a whole, and the least that each place can cost.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/preempt/preemption_problem.h"

namespace muster::preempt {

// What one candidate has in one region.
struct CandidateShare {
  uint32_t region = 0;
  uint32_t candidate = 0;
  int64_t amount = 0;          // All its tasks there.
  int64_t surplus_amount = 0;  // Of them, the surplus ones.
  // The best price / per: cost for amount. There is none yet.
  int64_t price = std::numeric_limits<int64_t>::max();
  int64_t per = 1;

  // All of the amount so far can be had at this cost.
  void Offer(int64_t cost) {
    if (Wide{cost} * per >= Wide{price} * amount) return;
    price = cost;
    per = amount;
  }
};

// One domain of the level that the whole gang requires, or the whole cluster.
struct VictimRegion {
  // Of its nodes those that admit a task, and have room for one now or tasks of
  // candidates: no other gets room.
  std::span<const NodeIndex> nodes{};
  std::span<const uint32_t> members{};       // Candidates there; ascending.
  std::span<const CandidateShare> shares{};  // What each of them has.
  // How much of the scarce kind the gang needs beyond what is free, at the
  // least.
  int64_t shortfall = 0;
  // With fewer of all candidates gone than the first so many, there is not
  // enough of the scarce kind; kNowhere: not even without all.
  uint32_t enough = 0;

  // Of the candidates below the threshold:
  std::span<const uint32_t> candidates{};  // The first of the members.
  // No set of victims that makes room here is cheaper, nor, at this cost,
  // breaks fewer gangs.
  VictimCost bound{};
};

// A task that may be released: number `back` from the back of its candidate.
struct VictimTask {
  NodeIndex node = 0;
  uint32_t candidate = 0;
  uint32_t back = 0;
};

class Regions {
 public:
  static constexpr uint32_t kNowhere = 0xffffffff;
  static constexpr uint32_t kUntouched = 0xfffffffe;

  // Finds the regions, and which candidates are in each. What is free then is
  // what the bounds rest on. O(nodes + tasks). Of a gang that does not `fit`
  // now, only regions where tasks of candidates can be stopped are looked at,
  // and of a single task only nodes: O(tasks log tasks + their nodes); of the
  // whole cluster, if it is one region, only those nodes and those with room.
  // `region_of`: by node, all kUntouched, and left so; searches are many, and
  // each looks at few nodes.
  Regions(PreemptionProblem& problem, Fit fit,
          std::vector<uint32_t>& region_of);
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  // Only the first `count` candidates are below the threshold from here on.
  // O(candidates log candidates).
  void Threshold(uint32_t count);

  std::span<const VictimRegion> all() const { return regions_; }
  // The region of a node on which a candidate has a task, or kNowhere.
  uint32_t Of(NodeIndex node) const { return region_of_[node]; }
  // The tasks on a node that candidates below the threshold hold, by
  // (candidate, back).
  std::span<const VictimTask> On(NodeIndex node) const;

 private:
  // What a task holds on a node, and the share that it is part of.
  struct NodeHolding {
    const CandidateShare* share = nullptr;
    int64_t amount = 0;
  };

  void FindLeast();
  void FindRegions(Fit fit);
  std::vector<uint32_t> DomainsOf(const TopologyIndex& index, int level,
                                  bool touched_only) const;
  void AddCluster();
  void AddRegion(std::span<const NodeIndex> nodes);
  bool Useful(NodeIndex node) const;
  void IndexTasks();
  void FindShares();
  void AddShare(uint32_t c);
  int64_t Shortfall(const VictimRegion& region) const;
  VictimCost BoundOf(const VictimRegion& region);
  int64_t LeastForSlots(const VictimRegion& region);
  void AddSlotCosts(std::span<const VictimTask> tasks, int64_t lacks,
                    int64_t each, int64_t most);

  PreemptionProblem& problem_;
  std::vector<VictimRegion> regions_;
  std::vector<NodeIndex> nodes_;  // Of all regions, one after the other.
  std::vector<int64_t> free_;     // Of the scarce kind, by place in nodes_.
  std::vector<bool> allowed_;  // By node: PlacementRequest::within, if given.
  std::vector<uint32_t>& region_of_;      // By node, of those of candidates.
  std::vector<NodeIndex> touched_nodes_;  // These nodes, by key.
  int64_t least_ = 0;              // Any task needs so much of the scarce kind.
  std::vector<VictimTask> tasks_;  // By (node, candidate, back).
  std::vector<CandidateShare> shares_;  // By (region, candidate).
  std::vector<uint32_t> members_;       // The same, candidates only.
  uint32_t threshold_ = 0;
  std::vector<uint32_t> share_in_;  // By region, scratch: into shares_.
  // Scratch.
  std::vector<CandidateShare> sorted_;
  std::vector<const CandidateShare*> share_of_;  // By candidate: in one region.
  std::vector<NodeHolding> on_node_;
  std::vector<int64_t> slot_costs_;
};

}  // namespace muster::preempt
