// Times of gangs: when a check is due, and when running gangs end.
#pragma once

#include <utility>

#include "absl/container/btree_set.h"
#include "lib/queue/queue_position.h"
#include "muster/ids.h"

namespace muster {

// Two indexes by time, of a time for each gang at most: kForever is none. What
// they say is a function of the gangs' records (see Listing). Not synchronised.
// O(log n) a change.
class GangTimes {
 public:
  using Index = absl::btree_set<std::pair<Time, GangIndex>>;

  // The gang is to be checked by the pass at that time: it waits for it, or
  // may do, or must end, something then.
  const Index& wakes() const { return wakes_; }
  // When the gangs that run are expected to have ended, or are made to, at the
  // latest: the earlier of the two.
  const Index& ends() const { return ends_; }

  void SetWake(GangIndex g, Time before, Time after) {
    Move(wakes_, g, before, after);
  }
  void SetEnd(GangIndex g, Time before, Time after) {
    Move(ends_, g, before, after);
  }

 private:
  static void Move(Index& index, GangIndex g, Time before, Time after) {
    if (before == after) return;
    if (before != kForever) index.erase({before, g});
    if (after != kForever) index.insert({after, g});
  }

  Index wakes_;
  Index ends_;
};

}  // namespace muster
