// Candidates for victims: gangs that may be stopped for a gang, drawn the
// cheapest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/cluster/cluster.h"
#include "lib/scheduler/victim_order.h"
#include "muster/ids.h"
#include "muster/resources.h"

namespace muster {

struct GangSpec;

// Draws only gangs that could help: on one of their nodes a task of the
// preemptor would fit if all that may be stopped for it were gone; where its
// quota lacks room, any gang. All others on such nodes are drawn with each,
// because it may take several of them together. Nothing may change from Begin
// to the last call of Draw.
class VictimPool {
 public:
  explicit VictimPool(SchedulerTables& tables)
      : tables_(tables), order_(tables) {}

  // Nothing is put off, or to be tried again.
  void Forget();
  // Starts an empty draw for this preemptor. Of a single task, `lacks` is how
  // much of a device it lacks on any node, at the least. `spare_only`: victims
  // give only surplus tasks, or what they are nominated for.
  void Begin(const RoomAsked& asked, int64_t lacks, bool spare_only);
  bool spare_only() const { return spare_only_; }
  // Some who give way may give tasks that they can do without, for less.
  bool elastic() const { return order_.elastic(); }
  // VictimOrder::GivesSurplusOnly.
  bool GivesSurplusOnly(GangIndex g) const {
    return order_.GivesSurplusOnly(g);
  }

  // No less than what any of those who give way holds, of devices (or cores);
  // StopCost::kUnknown if that is not known.
  int64_t most_amount() const { return order_.most_amount(); }

  // Draws so many, and those who come with them.
  void Draw(size_t count);
  // Draws on while somebody could be part of victims that cost no more than
  // `cost`, with no higher a priority among them; `most` at the most.
  void DrawForLess(int32_t priority, int64_t cost, size_t most);
  // No victims cost less of whom one has not been drawn.
  int64_t LeastBeyond() const;
  // Everybody has been drawn who may be a victim.
  bool done() const { return order_.done() || (all_fresh_ && put_off_); }
  // How many tasks of the preemptor's first shape, by amounts, the nodes have
  // room for on which somebody drawn helps, with all gone who give way.
  int64_t slots() const { return slots_; }
  // As drawn, but those left out.
  const std::vector<GangIndex>& gangs() const { return gangs_; }
  // Only the first so many of them stay.
  void Keep(size_t count) { gangs_.resize(count); }

  // Of all that were drawn since Forget: gangs of this round may be victims in
  // the next; until then: a gang that may not be a victim yet may be one then.
  bool put_off() const { return put_off_; }
  Time retry_at() const { return retry_at_; }

 private:
  bool AllAreFresh();
  bool TakeNext();
  void Add(GangIndex g);
  bool MayStop(GangIndex g);
  bool HasToGive(GangIndex g) const;
  bool DrawsOn(NodeIndex n);
  bool FitsWithoutThem(NodeIndex n);
  int64_t SlotsIn(const Resources& amount) const;

  SchedulerTables& tables_;
  VictimOrder order_;
  GangIndex preemptor_ = kNoGang;
  const GangSpec* spec_ = nullptr;  // Of the preemptor.
  bool spare_only_ = false;
  bool all_fresh_ = false;  // All holders were placed in this round.
  bool all_help_ = false;
  // Victims that make room without anybody drawn hold so much, at the least.
  int64_t least_amount_ = 0;
  uint64_t question_ = 0;
  std::vector<uint64_t> drawn_;       // By gang: in which question.
  std::vector<uint64_t> could_hold_;  // By node: 2 x question + the answer.
  Resources freed_;                   // Of a node with all gone who give way.
  int64_t slots_ = 0;
  std::vector<GangIndex> gangs_;
  bool put_off_ = false;
  Time retry_at_ = kForever;
};

}  // namespace muster
