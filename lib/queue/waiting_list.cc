#include "lib/queue/waiting_list.h"

#include <algorithm>

namespace muster {

namespace {
constexpr uint32_t kInactive = 0xffffffff;
}  // namespace

ClassIndex WaitingList::Add(QueueIndex queue, uint32_t priority_class,
                            uint32_t description, const GangRank& rank) {
  const Key key{queue, priority_class, description};
  Activate(queue);
  const auto [it, is_new] = by_key_.try_emplace(key, kNoClass);
  if (is_new) it->second = NewClass(key);
  const ClassIndex c = it->second;
  WaitingClass& cls = classes_[c];
  while (nodes_.size() <= rank.gang) nodes_.emplace_back();
  nodes_[rank.gang].set_key(rank);
  const bool leads = is_new || rank < cls.first();
  if (leads && !is_new) TakeOut(c);
  cls.gangs_.Push(&nodes_[rank.gang]);
  cls.gangs_.Drain();
  if (leads) PutIn(c);
  return c;
}

void WaitingList::Remove(ClassIndex c, const GangRank& rank) {
  WaitingClass& cls = classes_[c];
  const bool led = cls.first().gang == rank.gang;
  if (led) TakeOut(c);
  cls.gangs_.Erase(&nodes_[rank.gang]);
  if (cls.size() > 0) {
    if (led) PutIn(c);
    return;
  }
  by_key_.erase(Key{cls.queue, cls.priority_class, cls.description});
  free_.push_back(c);
  if (--leaves_[cls.queue].classes == 0) Deactivate(cls.queue);
}

ClassIndex WaitingList::NewClass(const Key& key) {
  ClassIndex c = static_cast<ClassIndex>(classes_.size());
  if (free_.empty()) {
    classes_.emplace_back().head_.index = c;
  } else {
    c = free_.back();
    free_.pop_back();
  }
  ++leaves_[key.queue].classes;
  WaitingFacts& facts = classes_[c];
  facts = {};
  facts.queue = key.queue;
  facts.priority_class = key.priority_class;
  facts.description = key.description;
  return c;
}

void WaitingList::TakeOut(ClassIndex c) {
  WaitingClass& cls = classes_[c];
  Leaf& leaf = leaves_[cls.queue];
  switch (cls.place_) {
    case Place::kHeap:
      leaf.heap.Erase(&cls.head_);
      break;
    case Place::kSeen: {  // Most likely where the walk is.
      auto it = std::find(leaf.seen.begin() + static_cast<ptrdiff_t>(leaf.at),
                          leaf.seen.end(), c);
      if (it == leaf.seen.end()) it = std::find(leaf.seen.begin(), it, c);
      *it = kNoClass;
      break;
    }
    case Place::kLater:
      std::erase(leaf.later, c);
  }
}

void WaitingList::PutIn(ClassIndex c) {
  WaitingClass& cls = classes_[c];
  cls.place_ = Place::kHeap;
  cls.head_.set_key(cls.first());
  leaves_[cls.queue].heap.Push(&cls.head_);
  leaves_[cls.queue].heap.Drain();
}

void WaitingList::Rewind(QueueIndex queue) {
  Leaf& leaf = leaves_[queue];
  std::erase(leaf.seen, kNoClass);
  leaf.at = 0;
  for (ClassIndex c : leaf.later) PutIn(c);
  leaf.later.clear();
}

uint32_t WaitingList::CountAhead(QueueIndex queue, const GangRank& rank) const {
  uint32_t count = 0;
  ForEach(queue, [&](ClassIndex c) {
    classes_[c].gangs_.ForEach(
        [&](const GangNode& node) { count += node.key() < rank; });
  });
  return count;
}

void WaitingList::Activate(QueueIndex queue) {
  if (queue >= leaves_.size()) {
    leaves_.resize(queue + 1);
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
