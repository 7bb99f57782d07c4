#include "lib/scheduler/victim_order.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lib/scheduler/scheduler_tables.h"

namespace muster {

void VictimOrder::Begin(const RoomAsked& asked, bool spare_only) {
  const GangRecord& r = tables_.gangs.at(asked.gang);
  spare_only_ = spare_only;
  own_ = r.queue;
  most_ = tables_.PriorityOf(r);
  preemptor_ = asked.gang;
  gives_.assign(tables_.queues.limit(), std::nullopt);
  const PreemptWithin within = tables_.queues.at(own_).law.within;
  newer_ = within == PreemptWithin::kLowerOrNewerEqual;
  const Resources& least = asked.least;
  rows_.clear();
  heads_.clear();
  next_row_ = 0;
  elastic_ = false;
  least_amount_ = std::numeric_limits<int64_t>::max();
  most_amount_ = 0;
  const bool reclaims = tables_.quota.MayReclaimAtAll(r.queue, least);
  for (QueueIndex q = 0; q < tables_.queues.limit(); ++q) {
    const GangLists::Holding& holding = tables_.lists.holding(q);
    if (holding.empty()) continue;
    const bool own = q == own_;
    if (own && within != PreemptWithin::kNever) gives_[q] = most_;
    if (!own && reclaims) {
      gives_[q] = tables_.quota.MostToTake(own_, q, least, most_);
    }
    for (const auto& [p, holders] : holding) {
      if (!GivesWay(q, p)) break;
      for (const Holders::Row& row : holders.rows()) {
        if (Gives(row.spare, own && p == most_)) Put(p, row);
      }
    }
  }
  std::ranges::sort(rows_, {}, &Ranked::priority);
  BeginPriority();
}

bool VictimOrder::GivesWay(QueueIndex q, int32_t priority) const {
  return gives_[q] && priority <= *gives_[q];
}

// Equals in a queue give what they can do without, or all where newer ones do.
bool VictimOrder::Gives(Holders::Spare spare, bool equal) const {
  if (equal && !newer_) return spare == Holders::Spare::kSurplus;
  return !spare_only_ || spare != Holders::Spare::kNothing;
}

void VictimOrder::Put(int32_t priority, const Holders::Row& row) {
  rows_.push_back({priority, &row});
  elastic_ |= row.spare == Holders::Spare::kSurplus;
  least_amount_ = std::min(least_amount_, row.amount);
  most_amount_ = std::max(most_amount_, row.amount);
}

bool VictimOrder::Has(GangIndex g) const {
  const GangLists::Precedence& p = tables_.lists.precedence(g);
  if (!GivesWay(p.queue, p.priority)) return false;
  if (!Gives(p.spare, IsEqual(p))) return false;
  return p.spare == Holders::Spare::kSurplus || !GivesSurplusOnly(g);
}

bool VictimOrder::GivesSurplusOnly(GangIndex g) const {
  if (!IsEqual(tables_.lists.precedence(g))) return false;
  return !newer_ || tables_.gangs.at(g).submitted <=
                        tables_.gangs.at(preemptor_).submitted;
}

bool VictimOrder::IsEqual(const GangLists::Precedence& p) const {
  return p.queue == own_ && p.priority == most_;
}

// Equal ones by key: handles are no order.
bool VictimOrder::After(const Head& a, const Head& b) {
  return std::tie(a.rate, a.key) > std::tie(b.rate, b.key);
}

void VictimOrder::BeginPriority() {
  if (next_row_ == rows_.size()) return;
  priority_ = rows_[next_row_].priority;
  for (; next_row_ < rows_.size() && rows_[next_row_].priority == priority_;
       ++next_row_) {
    const Holders::Row& row = *rows_[next_row_].row;
    Enter(row, row.gangs.begin());
  }
  std::ranges::make_heap(heads_, After);
}

void VictimOrder::Enter(const Holders::Row& row,
                        Holders::Entries::const_iterator at) {
  const StopCost stop_cost{row.accrues, row.amount, at->lost};
  heads_.push_back(
      {stop_cost.RateAt(tables_.now, tables_.config.preemption_costs), at->key,
       &row, at});
}

GangIndex VictimOrder::Take() {
  std::ranges::pop_heap(heads_, After);
  const Head head = heads_.back();
  heads_.pop_back();
  if (const auto after = std::next(head.at); after != head.row->gangs.end()) {
    Enter(*head.row, after);
    std::ranges::push_heap(heads_, After);
  } else if (heads_.empty()) {
    BeginPriority();
  }
  return head.at->gang;
}

}  // namespace muster
