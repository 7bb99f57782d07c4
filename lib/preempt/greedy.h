// A cheap set of victims for one region, a node's worth at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lib/preempt/preemption_problem.h"
#include "lib/preempt/region_slots.h"
#include "lib/preempt/regions.h"
#include "lib/preempt/victim_set.h"

namespace muster::preempt {

// The unit of choice is a bundle: the cheapest few releases found that give
// one node one more slot. Bundles are taken by cost per slot that they give
// in the whole region, where gangs that are broken already cost nothing more,
// until the solver says that the gang fits.
class Greedy {
 public:
  Greedy(PreemptionProblem& problem, const Regions& regions,
         RegionSlots& region_slots, VictimSet& victims);

  // Adds victims to the set until the gang fits the region, which
  // RegionSlots watches. False if no way was found; the set is then of no use.
  bool Build(const VictimRegion& region);

  // The cheapest victims found that give the node, one of those watched, one
  // more slot of a need that lacks some, if it wanted `extra` more than it
  // does; the set stays as it is. False if there are none.
  bool OneSlot(NodeIndex node, uint64_t extra, std::vector<Victim>* moves,
               VictimCost* added);

 private:
  struct Bundle {
    bool known = false;
    uint32_t made = 0;            // How often.
    std::vector<Victim> moves{};  // Empty: the node gives no more slots.
    VictimCost added{};
    std::vector<uint64_t> gains{};  // Slots by need, in the whole region.
  };
  // One candidate's tasks on the node whose bundle is being made.
  struct Local {
    uint32_t candidate = 0;
    uint32_t before = 0;  // Released already.
    uint32_t now = 0;     // Released in the bundle.
    bool shrink_refused = false;
    bool stop_refused = false;
    uint32_t first = 0;  // Of its tasks, in backs_.
    uint32_t count = 0;
  };
  struct Move {
    size_t local = 0;
    uint32_t tasks = 0;  // 0: there is none.
    VictimCost added{};
    int64_t amount = 1;
  };

  // A bundle as it was when it was put among the others, by its value then:
  // what it is worth falls as slots are found.
  struct QueuedBundle {
    uint32_t bundle = 0;
    uint32_t made = 0;
    int64_t value = 0;
    VictimCost added{};
  };
  static bool Worse(const QueuedBundle& a, const QueuedBundle& b);

  void Restart(const VictimRegion& region);
  bool Reach(const VictimRegion& region);
  bool TakeAll(const VictimRegion& region);
  bool TakeBest();
  void PutAmong(uint32_t bundle);
  bool PopBest(QueuedBundle* best);
  void Unknow(uint32_t bundle);
  int64_t Value(const Bundle& bundle) const;

  void Make(NodeIndex node, Bundle* bundle);
  void FindMoves(NodeIndex node, Bundle* bundle);
  void FindLocals(NodeIndex node);
  bool Rises(NodeIndex node) const;
  bool Grow(NodeIndex node);
  std::span<const uint32_t> BacksOf(const Local& local) const {
    return std::span(backs_).subspan(local.first, local.count);
  }
  Move Cheapest() const;
  void Consider(size_t local, uint32_t tasks, Move* best) const;
  void Apply(size_t local, uint32_t tasks);
  void Trim(NodeIndex node);
  void Weigh(Bundle* bundle);
  void Forget(uint32_t candidate);

  PreemptionProblem& problem_;
  const Regions& regions_;
  RegionSlots& region_slots_;
  VictimSet& victims_;
  uint64_t extra_ = 0;               // Slots beyond the needs to aim at.
  std::vector<Bundle> bundles_;      // By position on RegionSlots.
  std::vector<uint32_t> unknown_;    // Of them, those that are.
  std::vector<QueuedBundle> queue_;  // A heap; of some bundles old ones, too.
  std::vector<Local> locals_;
  std::vector<uint32_t> backs_;    // Of all of them; of each ascending.
  std::vector<size_t> redundant_;  // For Trim.
  std::vector<uint32_t> base_;     // Slots by need before the bundle.
  // Gains of whole gangs met on several nodes, while nothing changes.
  absl::flat_hash_map<uint64_t, std::vector<uint64_t>> known_gains_;
};

}  // namespace muster::preempt
