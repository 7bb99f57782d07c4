// The lists in which gangs stand: who holds something, who waits, who may grow,
// at whom the next pass looks.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "absl/container/btree_set.h"
#include "lib/queue/gang_class_list.h"
#include "lib/queue/queue_position.h"
#include "lib/scheduler/gang_table.h"
#include "lib/scheduler/gang_times.h"
#include "lib/scheduler/holders.h"
#include "muster/ids.h"

namespace muster {

struct SchedulerTables;

// Invariant: outside of a GangEdit each gang stands in the lists that
// ListingOf(its record) says, and in no other. Not synchronised. Update is
// O(tasks + log gangs), and changes nothing where the listing is the same: what
// is remembered of a gang's class is kept.
class GangLists {
 public:
  using PositionSet = absl::btree_set<QueuePosition>;
  using Holding = std::map<int32_t, Holders>;  // By priority.

  explicit GangLists(const SchedulerTables& tables) : tables_(tables) {}

  // What the record asks for, now.
  Listing ListingOf(GangIndex g, const GangRecord& r) const;
  void Update(GangIndex g, GangRecord& r);
  // Out of all lists.
  void Remove(GangIndex g, GangRecord& r);

  QueuePosition PositionOf(GangIndex g) const;
  // How many that wait in its queue are before it; 0 where it does not wait.
  uint32_t CountAhead(GangIndex g);

  // Gangs of the queue with tasks that hold or are nominated for something.
  const Holding& holding(QueueIndex q) const;
  // How many there are, of all queues.
  size_t holders() const { return holders_; }
  // What of its listing decides to whom a gang gives way, and where its tasks
  // are: by itself, for callers that look at very many gangs. Of a gang that is
  // listed.
  struct Precedence {
    QueueIndex queue = kNoQueue;
    int32_t priority = 0;
    // Of all its tasks; kManyNodes: the record says which they are on.
    static constexpr NodeIndex kManyNodes = 0xffffffff;
    NodeIndex node = kManyNodes;
    Holders::Spare spare = Holders::Spare::kNothing;
  };
  const Precedence& precedence(GangIndex g) const { return precedence_[g]; }
  const PositionSet& nominated() const { return nominated_; }
  // Nominated gangs, and gangs to be repaired, that the next pass checks
  // (GangRecord::check_due).
  const PositionSet& check_due() const { return check_due_; }
  // Gangs that run below their minimum, for which no room was found: the pass
  // after some has come looks at them.
  const PositionSet& lacking() const { return lacking_; }
  // Gangs that wait, or look for what a raised minimum asks, and have made room
  // since something external happened.
  const PositionSet& made_room() const { return made_room_; }
  const GangTimes& times() const { return times_; }

  GangClassList& waiting() { return waiting_; }
  const GangClassList& waiting() const { return waiting_; }
  GangClassList& growing() { return growing_; }
  const GangClassList& growing() const { return growing_; }

  // One of the two, and the gang's class there: kNoClass if it is in none.
  GangClassList& classes(bool grows) { return grows ? growing_ : waiting_; }
  GangClassIndex ClassOf(GangIndex g, bool grows) const;
  // Of one of the two: the first active class of the leaf that may be asked
  // now, or kNoClass.
  GangClassIndex FirstToAsk(GangClassList& list, QueueIndex leaf) const;
  // Whether a class that waits may be asked now: its queue is not held, and if
  // it is strict, the class has its first gang.
  bool MayAsk(GangClassIndex c) const;
  // Of those that wait with kAgain, and may be asked now, the class with the
  // least effort; of equal ones, the first; or kNoClass. O(classes with it).
  GangClassIndex FirstToAskAgain();

  // Whether the gang stands where its record says, and no edit is open on it.
  bool Stands(GangIndex g) const;
  // Sizes of all of them: equal for equal states.
  std::vector<size_t> Sizes() const;

 private:
  Time WakeAt(const GangRecord& r) const;
  bool MayGrow(const GangRecord& r) const;
  void Move(GangIndex g, GangRecord& r, const Listing& next);
  void Hold(GangIndex g, std::string_view key, const Listing& l);
  void Unhold(std::string_view key, const Listing& l);

  const SchedulerTables& tables_;
  std::vector<Holding> holding_;  // By queue.
  size_t holders_ = 0;
  std::vector<Precedence> precedence_;  // By gang.
  PositionSet nominated_;
  PositionSet check_due_;
  PositionSet lacking_;
  PositionSet made_room_;
  GangTimes times_;
  QueuePositions positions_;
  GangClassList waiting_{positions_, true};
  GangClassList growing_{positions_, false};
};

}  // namespace muster
