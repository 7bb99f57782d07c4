#include "lib/queue/queue_tree.h"

#include <algorithm>

namespace muster {

QueueIndex QueueTree::Upsert(const Queue& queue) {
  ++version_;
  QueueIndex q = Find(queue.key);
  if (q == kNoQueue) {
    q = Add(queue.key);
    Fill(q, queue);
  } else {
    Detach(q);
    Attach(q, queue);
  }
  return q;
}

// A queue that nothing uses yet.
void QueueTree::Fill(QueueIndex q, const Queue& queue) {
  row(q).used = row(q).releasing = Resources(kinds());
  Attach(q, queue);
}

void QueueTree::Remove(QueueIndex q) {
  ++version_;
  Detach(q);
  KeyedTable::Remove(q);
}

void QueueTree::UndoAdd(QueueIndex q) {
  ++version_;
  Detach(q);
  KeyedTable::UndoAdd(q);
}

void QueueTree::UndoRemove(const Queue& queue) {
  ++version_;
  Fill(KeyedTable::UndoRemove(queue.key), queue);
}

// With these values, and below their parent, sums included.
void QueueTree::Attach(QueueIndex q, const Queue& queue) {
  row(q).queue = queue;
  Derive(row(q));
  const QueueIndex parent = Find(queue.parent);
  row(q).parent = parent;
  SetDepth(q, parent == kNoQueue ? 0 : row(parent).depth + 1);
  std::vector<QueueIndex>& siblings = SiblingsOf(q);
  const auto key = [this](QueueIndex each) { return KeyAt(each); };
  siblings.insert(std::ranges::lower_bound(siblings, queue.key, {}, key), q);
  Charge(parent, row(q).used, 1);
  ChargeReleasing(parent, row(q).releasing, 1);
}

void QueueTree::Detach(QueueIndex q) {
  std::erase(SiblingsOf(q), q);
  Charge(row(q).parent, row(q).used, -1);
  ChargeReleasing(row(q).parent, row(q).releasing, -1);
}

void QueueTree::SetDepth(QueueIndex q, uint32_t depth) {
  row(q).depth = depth;
  for (QueueIndex child : row(q).children) SetDepth(child, depth + 1);
}

uint32_t QueueTree::HeightOf(QueueIndex q) const {
  uint32_t height = 0;
  for (const QueueIndex child : at(q).children) {
    height = std::max(height, HeightOf(child) + 1);
  }
  return height;
}

bool QueueTree::IsHeld(QueueIndex q) const {
  for (; q != kNoQueue; q = at(q).parent) {
    if (at(q).queue.held) return true;
  }
  return false;
}

bool QueueTree::AnyHoldsBack() const {
  for (QueueIndex q = 0; q < limit(); ++q) {
    if (at(q).exists && (at(q).queue.held || IsStrict(q))) return true;
  }
  return false;
}

bool QueueTree::IsWithin(QueueIndex q, QueueIndex above) const {
  while (q != kNoQueue && q != above) q = at(q).parent;
  return q == above;
}

QueueIndex QueueTree::CommonAncestor(QueueIndex a, QueueIndex b) const {
  while (a != b) {
    if (a == kNoQueue || b == kNoQueue) return kNoQueue;
    QueueIndex& deeper = at(a).depth >= at(b).depth ? a : b;
    deeper = at(deeper).parent;
  }
  return a;
}

std::vector<QueueIndex>& QueueTree::SiblingsOf(QueueIndex q) {
  const QueueIndex parent = row(q).parent;
  return parent == kNoQueue ? roots_ : row(parent).children;
}

void QueueTree::Derive(Entry& entry) {
  entry.limit.assign(kinds(), kUnbounded);
  entry.guarantee.assign(kinds(), -1);
  entry.bounded = entry.guaranteed = false;
  for (const Quota& quota : entry.queue.quotas) {
    const auto it = std::ranges::find(resources_, quota.resource);
    const auto kind = static_cast<size_t>(it - resources_.begin());
    if (quota.limit) entry.limit[kind] = *quota.limit;
    if (quota.guarantee) entry.guarantee[kind] = *quota.guarantee;
    entry.bounded |= quota.limit.has_value();
    entry.guaranteed |= quota.guarantee.has_value();
  }
}

void QueueTree::Charge(QueueIndex q, const Resources& amount, int64_t sign) {
  ++version_;
  for (; q != kNoQueue; q = row(q).parent) row(q).used.AddTimes(amount, sign);
}

void QueueTree::ChargeReleasing(QueueIndex q, const Resources& amount,
                                int64_t sign) {
  ++version_;
  for (; q != kNoQueue; q = row(q).parent) {
    row(q).releasing.AddTimes(amount, sign);
  }
}

void QueueTree::CountGang(QueueIndex q, const Resources& most, int32_t sign) {
  row(q).gangs += static_cast<uint32_t>(sign);
  asked_.AddTimes(most, sign);
}

}  // namespace muster
