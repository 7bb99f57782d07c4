// The gangs that may be stopped for a gang, one after the other: the lowest
// priority first, then the lowest cost of stopping for each device.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/text_key.h"
#include "lib/queue/queue_tree.h"
#include "lib/scheduler/gang_lists.h"
#include "lib/scheduler/holders.h"
#include "lib/scheduler/room_asked.h"
#include "muster/ids.h"

namespace muster {

struct SchedulerTables;

// Whether such a gang may be a victim now is not asked. Nothing may change
// between Begin and the last Take.
class VictimOrder {
 public:
  explicit VictimOrder(const SchedulerTables& tables) : tables_(tables) {}

  // Gangs in the preemptor's queue below it, and those of its own priority, of
  // which the elastic ones are victims, or newer ones, if its queue has it so
  // (PreemptWithin); all in queues from which it may take back. `spare_only`:
  // of these, those who need not be stopped to give something. O(queues x depth
  // + rows).
  void Begin(const RoomAsked& asked, bool spare_only);
  // Whether the gang, which holds something, is one of them.
  bool Has(GangIndex g) const;
  // Of those: whether it is an equal, of which only what it can do without is
  // taken.
  bool GivesSurplusOnly(GangIndex g) const;
  // Some of them may give tasks that they can do without, for less.
  bool elastic() const { return elastic_; }

  // The least amount (StopCost) of any of them.
  int64_t least_amount() const { return least_amount_; }
  // No amount of any of them is more; StopCost::kUnknown if one is.
  int64_t most_amount() const {
    return least_amount_ == StopCost::kUnknown
               ? StopCost::kUnknown
               : StopCost::Unrounded(most_amount_);
  }

  bool done() const { return heads_.empty(); }
  // Of the next one: its priority, and StopCost::RateAt. Of those of equal
  // priority behind it, none has a lower rate.
  int32_t priority() const { return priority_; }
  Duration rate() const { return heads_.front().rate; }
  // O(log rows of the priority), and O(rows) where a priority begins.
  GangIndex Take();

 private:
  struct Ranked {
    int32_t priority = 0;
    const Holders::Row* row = nullptr;
  };
  // The first of a row that was not taken.
  struct Head {
    Duration rate = 0;
    TextKey key{};
    const Holders::Row* row = nullptr;
    Holders::Entries::const_iterator at{};
  };
  static bool After(const Head& a, const Head& b);

  // Whether gangs of this priority give way.
  bool GivesWay(QueueIndex q, int32_t priority) const;
  bool Gives(Holders::Spare spare, bool equal) const;
  bool IsEqual(const GangLists::Precedence& p) const;
  void Put(int32_t priority, const Holders::Row& row);
  void BeginPriority();
  void Enter(const Holders::Row& row, Holders::Entries::const_iterator at);

  const SchedulerTables& tables_;
  GangIndex preemptor_ = kNoGang;
  QueueIndex own_ = kNoQueue;  // The preemptor's queue, and priority.
  int32_t most_ = 0;
  bool newer_ = false;  // Of its own priority, newer gangs give way.
  // The highest priority that gives way, by queue; nothing: none does.
  std::vector<std::optional<int32_t>> gives_;
  bool spare_only_ = false;
  std::vector<Ranked> rows_;  // By priority.
  size_t next_row_ = 0;
  int32_t priority_ = 0;
  std::vector<Head> heads_;  // A heap, of this priority.
  bool elastic_ = false;
  int64_t least_amount_ = 0;
  int64_t most_amount_ = 0;
};

}  // namespace muster
