#include "lib/scheduler/victim_order.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "lib/scheduler/core.h"

namespace muster {

void VictimOrder::Begin(GangIndex winner) {
  const GangRecord& r = core_.gangs.at(winner);
  own_ = r.queue;
  most_ = core_.PriorityOf(r);
  gives_.assign(core_.queues.limit(), false);
  const Resources& least = LeastOf(core_.SpecOf(r), core_.cluster);
  groups_.clear();
  heads_.clear();
  next_group_ = 0;
  elastic_ = false;
  least_amount_ = std::numeric_limits<int64_t>::max();
  most_amount_ = 0;
  const bool reclaims = core_.law.MayReclaimAtAll(r.queue, least);
  for (QueueIndex q = 0; q < core_.queues.limit(); ++q) {
    const GangLists::Holding& holding = core_.lists.holding(q);
    if (holding.empty()) continue;
    const bool own = q == own_;
    gives_[q] = !own && reclaims && core_.law.MayReclaim(own_, q, least);
    if (!own && !gives_[q]) continue;
    for (const auto& [p, holders] : holding) {
      if (own && (p > most_ || (p == most_ && holders.elastic() == 0))) break;
      groups_.push_back({p, &holders});
      elastic_ |= holders.elastic() > 0;
      for (const Holders::Row& row : holders.rows()) {
        least_amount_ = std::min(least_amount_, row.amount);
        most_amount_ = std::max(most_amount_, row.amount);
      }
    }
  }
  std::ranges::sort(groups_, {}, &Group::priority);
  BeginPriority();
}

bool VictimOrder::Has(GangIndex g) const {
  const GangLists::Precedence& p = core_.lists.precedence(g);
  if (p.queue != own_) return gives_[p.queue];
  return p.priority < most_ ||
         (p.priority == most_ && p.elastic && !p.nominated);
}

// Equal ones by key: handles are no order.
bool VictimOrder::After(const Head& a, const Head& b) {
  return std::tie(a.rate, a.key) > std::tie(b.rate, b.key);
}

void VictimOrder::BeginPriority() {
  if (next_group_ == groups_.size()) return;
  priority_ = groups_[next_group_].priority;
  for (; next_group_ < groups_.size() &&
         groups_[next_group_].priority == priority_;
       ++next_group_) {
    for (const Holders::Row& row : groups_[next_group_].holders->rows()) {
      Enter(row, row.gangs.begin());
    }
  }
  std::ranges::make_heap(heads_, After);
}

void VictimOrder::Enter(const Holders::Row& row,
                        Holders::Entries::const_iterator at) {
  const StopPrice price{row.accrues, row.amount, at->lost};
  heads_.push_back({price.RateAt(core_.now, core_.config.preemption_costs),
                    at->key, &row, at});
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
