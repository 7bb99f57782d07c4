#include "lib/queue/waiting_list.h"

#include <iterator>

namespace muster {

namespace {
constexpr uint32_t kInactive = 0xffffffff;
}  // namespace

ClassIndex WaitingList::Add(QueueIndex queue, uint32_t priority_class,
                            uint32_t description, const GangRank& rank) {
  const auto [it, is_new] =
      by_key_.try_emplace(Key{queue, priority_class, description}, kNoClass);
  if (is_new) {
    if (free_.empty()) {
      it->second = static_cast<ClassIndex>(classes_.size());
      classes_.emplace_back();
    } else {
      it->second = free_.back();
      free_.pop_back();
      classes_[it->second] = WaitingClass{};
    }
    WaitingClass& fresh = classes_[it->second];
    fresh.queue = queue;
    fresh.priority_class = priority_class;
    fresh.description = description;
  }
  const ClassIndex c = it->second;
  WaitingClass& cls = classes_[c];
  Activate(queue);
  Heads& heads = heads_[queue];
  const bool leads = cls.gangs.empty() || rank < *cls.gangs.begin();
  if (leads && !cls.gangs.empty()) heads.erase(Head{*cls.gangs.begin(), c});
  cls.gangs.insert(rank);
  if (leads) heads.insert(Head{rank, c});
  return c;
}

void WaitingList::Remove(ClassIndex c, const GangRank& rank) {
  WaitingClass& cls = classes_[c];
  Heads& heads = heads_[cls.queue];
  const bool led = *cls.gangs.begin() == rank;
  if (led) heads.erase(Head{rank, c});
  cls.gangs.erase(rank);
  if (!cls.gangs.empty()) {
    if (led) heads.insert(Head{*cls.gangs.begin(), c});
    return;
  }
  by_key_.erase(Key{cls.queue, cls.priority_class, cls.description});
  free_.push_back(c);
  if (heads.empty()) Deactivate(cls.queue);
}

const WaitingList::Heads* WaitingList::heads(QueueIndex queue) const {
  return queue < heads_.size() ? &heads_[queue] : nullptr;
}

uint32_t WaitingList::CountAhead(QueueIndex queue, const GangRank& rank) const {
  uint32_t count = 0;
  if (queue >= heads_.size()) return 0;
  for (const Head& head : heads_[queue]) {
    if (!(head.rank < rank)) break;
    const WaitingClass& cls = classes_[head.index];
    count += static_cast<uint32_t>(
        std::distance(cls.gangs.begin(), cls.gangs.lower_bound(rank)));
  }
  return count;
}

void WaitingList::Activate(QueueIndex queue) {
  if (queue >= heads_.size()) {
    heads_.resize(queue + 1);
    active_slot_.resize(queue + 1, kInactive);
  }
  if (active_slot_[queue] != kInactive) return;
  active_slot_[queue] = static_cast<uint32_t>(active_.size());
  active_.push_back(queue);
}

void WaitingList::Deactivate(QueueIndex queue) {
  const uint32_t slot = active_slot_[queue];
  active_[slot] = active_.back();
  active_slot_[active_[slot]] = slot;
  active_.pop_back();
  active_slot_[queue] = kInactive;
}

}  // namespace muster
