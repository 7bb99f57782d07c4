// Which questions become active: what happened, and whose answer it may change.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/queue/gang_class_list.h"
#include "lib/queue/queue_position.h"
#include "lib/queue/queue_tree.h"
#include "muster/resources.h"

namespace muster {

struct SchedulerTables;
struct GangRecord;
struct GangSpec;

// A question that was answered with no stays inactive while nothing has
// happened that could make it yes. These are the rules; they read state, never
// a cache, so that every scheduler in this state activates the same ones.
//
//   what happened                      activates
//   a node got room                    kRoom and kVictims of classes with a
//                                      shape that fits there now; kVictims of
//                                      those with one that could fit with all
//                                      gone that the class may take from
//   a node got room (now or later)     growth of such classes; nominated gangs
//                                      there, suspended ones that had it
//   a gang that runs lost a task       its growth: another role, or another
//                                      place, may do now
//   any of these, or a quota changed   gangs that run below their minimum
//   a gang may be a victim, or a       those of them that run below a minimum
//   queue is beyond its guarantee      which was raised
//   nodes came, went or changed        classes that compare domains, or count
//                                      devices by their memory; growth that is
//                                      bound to where the gang is
//   a queue uses less                  below it: classes that its limit
//                                      stopped, or whose least demand is not
//                                      exact; kVictims of those that its
//                                      guarantee covers now, and did not;
//                                      nominated gangs, if it has a limit (then
//                                      also if it uses more), unless as much is
//                                      being released by then
//   a queue uses more than guaranteed, kVictims of classes that could reclaim,
//   or more beyond a guarantee         in a pass not before the round is over
//   a gang may be a victim from now on kVictims above it in its queue, and of
//                                      classes that could take it back
//   a queue's values change            all below it; kVictims of all others; if
//                                      its parent does, as if the one it had,
//                                      and the one it has, used less
//
// kVictims of a class that has no possible victim (AnyVictim) stays inactive.
//
// A gang that starts activates no question: it takes room that was free, so
// that a gang that could take it as a victim could have had the room before.
//
// What happens is collected, and its rules applied by Publish(): between two
// calls the order does not matter. Not synchronised.
class Activator {
 public:
  explicit Activator(SchedulerTables& tables) : tables_(tables) {}

  void RoomFreed(NodeIndex n, Ledger ledger = Ledger::kBoth);
  void StructureChanged() { structure_ = true; }
  // The node's labels, taints and the like change: before, and after. Specs
  // that it comes to admit may have room there.
  void NodeChanges(NodeIndex n);
  void NodeHasChanged(NodeIndex n);
  // The queue (kNoQueue: none), and all above it, use less, or by the host's
  // doing more.
  void UsageChanged(QueueIndex q);
  // They use less, of which all is being released: what may start at once may
  // not use it yet.
  void UsageIsReleased(QueueIndex leaf);
  // They are about to use less.
  void UsageFalls(QueueIndex leaf);
  void ExceedsGuarantee() { reclaim_ = true; }
  // `later`: gangs of this round may be victims in the next.
  void VictimsChanged(const GangRecord& r, bool later = false);
  void LosesTask(GangIndex g);
  void QueueChanged(QueueIndex q);
  void AllVictims() { all_victims_ = true; }

  // First, what others use without naming it is settled on nodes that got room:
  // SettleUnnamed. O(what happened x specs with classes + classes activated).
  void Publish(bool in_pass);
  // As if nothing had happened.
  void Forget();
  // Nothing is collected.
  bool empty() const;

  // The gang is nominated or to be repaired: the next pass checks it.
  void SetCheckDue(GangIndex g);
  // The round is over: what was put off becomes active.
  void ActivatePutOff();
  // The next pass checks gangs that lack what a raised minimum asks: there may
  // be others that give way.
  void CheckRaised();
  // Rises whenever room may have come for anybody.
  uint64_t freed_epoch() const { return freed_epoch_; }

 private:
  uint32_t SpecLimit() const;
  // The spec's shapes that the node admits, in the order of GangSpec::shapes.
  std::vector<bool> Admitted(NodeIndex n) const;
  void SettleFreed();
  void ActivateRoom(GangClassList& list, uint32_t spec, uint8_t questions);
  void PublishRoom();
  void PublishRoomOn(NodeIndex n);
  void PublishStructure();
  void PublishUsage(QueueIndex lowest, bool released);
  // Calls f(whether it grows, class) with each class of q and all below it.
  template <class F>
  void ForEachBelow(QueueIndex q, const F& f);
  void ActivateBelow(QueueIndex q);
  void FindFreed();
  void FindDemands();
  void ActivatePreemptors();
  // The gangs that classes of a leaf could preempt.
  struct PossibleVictims {
    // The least priority of those of the leaf itself.
    int32_t lowest = std::numeric_limits<int32_t>::max();
    bool other_queues = false;  // There are some of other queues.
  };
  void ActivatePreemptorsIn(QueueIndex leaf, const PossibleVictims& anywhere,
                            const PossibleVictims& beside);
  uint64_t KindsToReclaim(QueueIndex preemptor, QueueIndex victim);
  // Those of which the leaf that is looked at is owed what is asked.
  uint64_t OwedKinds(const Resources& demand) const;
  bool MayGiveSlot(QueueIndex leaf, int32_t priority, uint64_t kinds,
                   const GangSpec& spec) const;
  bool MayReclaim(QueueIndex preemptor, QueueIndex victim,
                  const GangSpec& spec) const;
  void ActivateBelowAll(QueueIndex q);
  void SetNominatedCheckDueBelow(QueueIndex q);
  void ActivateVictims(GangClassIndex c, uint8_t as = Questions::kVictims);
  template <class F>
  void ActivateReclaimers(uint8_t as, const F& concerned);
  bool FindOwed(QueueIndex leaf);

  SchedulerTables& tables_;
  std::vector<NodeIndex> freed_;            // Each once.
  std::vector<uint8_t> is_freed_;           // By node: in which ledgers.
  std::vector<QueueIndex> usage_changed_;   // The lowest on each path.
  std::vector<QueueIndex> usage_released_;  // Likewise: UsageIsReleased.
  // A queue whose usage fell, and the most it used before.
  struct Fall {
    QueueIndex queue = kNoQueue;
    Resources before{};
  };
  std::vector<Fall> fell_;  // Each queue once.
  std::vector<QueueIndex> changed_;
  struct NewVictim {
    QueueIndex leaf = kNoQueue;
    int32_t priority = 0;
    bool later = false;
    friend bool operator==(const NewVictim&, const NewVictim&) = default;
  };
  std::vector<NewVictim> victims_;
  std::vector<GangIndex> lost_tasks_;
  bool structure_ = false;
  bool reclaim_ = false;
  bool all_victims_ = false;
  uint64_t freed_epoch_ = 0;
  std::vector<bool> admitted_;  // As of NodeChanges.
  // Of PublishRoom: by spec, what need not be asked any more.
  std::vector<uint8_t> done_;
  // Of PublishRoom: freed nodes with what is free there, and will be if the
  // gangs that are nominated for something or hold it go.
  struct Holder {
    QueueIndex queue = kNoQueue;
    int32_t priority = 0;
    bool elastic = false;
    Resources amount{};
    uint64_t kinds = 0;  // KindsToReclaim by the leaf that is looked at.
  };
  struct FreedNode {
    NodeIndex node = 0;
    Resources free{};
    Resources in_all{};  // With all who hold something gone.
    std::vector<Holder> holders{};
  };
  std::vector<FreedNode> freed_nodes_;
  std::vector<const Resources*> demands_;  // By spec: the least.
  // Of the leaf that is looked at, by kind: QuotaChecker::MostToReclaim.
  std::vector<int64_t> owed_;
  Resources one_;  // For KindsToReclaim.
  std::vector<GangClassIndex> preemptors_;
};

}  // namespace muster
