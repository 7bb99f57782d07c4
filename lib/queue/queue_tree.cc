#include "lib/queue/queue_tree.h"

#include <algorithm>

namespace muster {

QueueIndex QueueTree::Upsert(const Queue& queue) {
  ++version_;
  QueueIndex q = Find(queue.key);
  if (q != kNoQueue) {
    Detach(q);
    Attach(q, queue);
    return q;
  }
  if (free_.empty()) {
    q = limit();
    entries_.emplace_back().generation = first_generation_;
  } else {
    q = free_.back();
    free_.pop_back();
  }
  ++entries_[q].generation;
  Fill(q, queue);
  return q;
}

// A queue that nothing uses yet; its position and generation are set.
void QueueTree::Fill(QueueIndex q, const Queue& queue) {
  entries_[q] = {.exists = true,
                 .generation = entries_[q].generation,
                 .used = Resources(kinds()),
                 .releasing = Resources(kinds())};
  by_key_[queue.key] = q;
  Attach(q, queue);
}

void QueueTree::Remove(QueueIndex q) {
  ++version_;
  Detach(q);
  by_key_.erase(entries_[q].queue.key);
  entries_[q].exists = false;
  free_.push_back(q);
}

void QueueTree::UndoAdd(QueueIndex q) {
  Remove(q);
  --entries_[q].generation;
}

void QueueTree::UndoRemove(const Queue& queue) {
  ++version_;
  const QueueIndex q = free_.back();
  free_.pop_back();
  Fill(q, queue);
}

// With these values, and below their parent, sums included.
void QueueTree::Attach(QueueIndex q, const Queue& queue) {
  entries_[q].queue = queue;
  Derive(entries_[q]);
  const QueueIndex parent = Find(queue.parent);
  entries_[q].parent = parent;
  SetDepth(q, parent == kNoQueue ? 0 : entries_[parent].depth + 1);
  std::vector<QueueIndex>& siblings = SiblingsOf(q);
  const auto by_key = [this](QueueIndex a, QueueIndex b) {
    return entries_[a].queue.key < entries_[b].queue.key;
  };
  siblings.insert(std::lower_bound(siblings.begin(), siblings.end(), q, by_key),
                  q);
  CountAmongSiblings(q, 1);
  Charge(parent, entries_[q].used, 1);
  ChargeReleasing(parent, entries_[q].releasing, 1);
}

void QueueTree::Detach(QueueIndex q) {
  CountAmongSiblings(q, ~0u);
  std::erase(SiblingsOf(q), q);
  Charge(entries_[q].parent, entries_[q].used, -1);
  ChargeReleasing(entries_[q].parent, entries_[q].releasing, -1);
}

void QueueTree::SetDepth(QueueIndex q, uint32_t depth) {
  entries_[q].depth = depth;
  for (QueueIndex child : entries_[q].children) SetDepth(child, depth + 1);
}

QueueIndex QueueTree::Find(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? kNoQueue : it->second;
}

uint32_t QueueTree::HeightOf(QueueIndex q) const {
  uint32_t height = 0;
  for (const QueueIndex child : entries_[q].children) {
    height = std::max(height, HeightOf(child) + 1);
  }
  return height;
}

bool QueueTree::Held(QueueIndex q) const {
  for (; q != kNoQueue; q = entries_[q].parent) {
    if (entries_[q].queue.held) return true;
  }
  return false;
}

bool QueueTree::IsWithin(QueueIndex q, QueueIndex above) const {
  while (q != kNoQueue && q != above) q = entries_[q].parent;
  return q == above;
}

QueueIndex QueueTree::CommonAncestor(QueueIndex a, QueueIndex b) const {
  while (a != b) {
    if (a == kNoQueue || b == kNoQueue) return kNoQueue;
    QueueIndex& deeper = entries_[a].depth >= entries_[b].depth ? a : b;
    deeper = entries_[deeper].parent;
  }
  return a;
}

std::vector<QueueIndex>& QueueTree::SiblingsOf(QueueIndex q) {
  const QueueIndex parent = entries_[q].parent;
  return parent == kNoQueue ? roots_ : entries_[parent].children;
}

// One of two makes the other a competitor, too.
void QueueTree::CountAmongSiblings(QueueIndex q, uint32_t sign) {
  const std::vector<QueueIndex>& siblings = SiblingsOf(q);
  if (siblings.size() < 2) return;
  for (const QueueIndex s : siblings) {
    if (s != q && siblings.size() > 2) continue;
    for (ResourceKind k = 0; k < kinds(); ++k) {
      if (entries_[s].guarantee[k] >= 0) contested_[k] += sign;
    }
  }
}

void QueueTree::Derive(Entry& entry) {
  entry.limit.assign(kinds(), kUnbounded);
  entry.guarantee.assign(kinds(), -1);
  entry.bounded = entry.guaranteed = false;
  for (const Quota& quota : entry.queue.quotas) {
    const auto it =
        std::find(resources_.begin(), resources_.end(), quota.resource);
    const auto kind = static_cast<size_t>(it - resources_.begin());
    if (quota.limit) entry.limit[kind] = *quota.limit;
    if (quota.guarantee) entry.guarantee[kind] = *quota.guarantee;
    entry.bounded |= quota.limit.has_value();
    entry.guaranteed |= quota.guarantee.has_value();
  }
}

void QueueTree::Charge(QueueIndex q, const Resources& amount, int64_t sign) {
  ++version_;
  for (; q != kNoQueue; q = entries_[q].parent) {
    entries_[q].used.AddTimes(amount, sign);
  }
}

void QueueTree::ChargeReleasing(QueueIndex q, const Resources& amount,
                                int64_t sign) {
  ++version_;
  for (; q != kNoQueue; q = entries_[q].parent) {
    entries_[q].releasing.AddTimes(amount, sign);
  }
}

void QueueTree::CountGang(QueueIndex q, const Resources& most, int32_t sign) {
  entries_[q].gangs += static_cast<uint32_t>(sign);
  asked_.AddTimes(most, sign);
}

}  // namespace muster
