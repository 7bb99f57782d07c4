// Taking back: a what-if, and a recorded plan that cannot be followed, leave
// the state as it was, at the price of what they changed.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/queue/queue_position.h"
#include "lib/scheduler/gang_table.h"

namespace muster {

struct SchedulerTables;

// Between Begin() and Rollback() it keeps a copy of each gang from before its
// first change, and the inverse of every change of another kind. Rollback()
// gives back what touched gangs hold, applies the inverses, the last first, and
// puts the copies in place. Usage follows by itself: sums do not depend
// on the order of what is added. Afterwards the state, and the handles that
// later events get, are those without the changes. Not nested.
//
// Begin() is O(overcommit candidates), Rollback() O(what changed x log).
class Undo {
 public:
  explicit Undo(SchedulerTables& tables) : tables_(tables) {}

  bool active() const { return active_; }
  void Begin();
  void Rollback();
  // The changes stay.
  void Commit();

  // --- Changes while active -------------------------------------------------
  // The gang is about to change.
  void Touch(GangIndex g);
  void Added(GangIndex g);
  void Removed(GangIndex g);
  // `inverse` takes the change back, in the state that it led to.
  void Changed(std::function<void()> inverse);

 private:
  void Empty(GangIndex g);
  void Refill(GangIndex g, GangRecord&& before);
  void End();

  SchedulerTables& tables_;
  bool active_ = false;
  uint64_t serial_ = 0;
  std::vector<GangIndex> touched_;
  std::vector<std::pair<GangIndex, GangRecord>> before_;
  std::vector<std::function<void()>> inverses_;
  std::set<NodeIndex> overcommit_candidates_;  // NodeRecords's, from before.
};

}  // namespace muster
