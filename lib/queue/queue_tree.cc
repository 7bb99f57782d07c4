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
  row(q).below.assign(kinds(), 0);
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
  Inherit(q);
  std::vector<QueueIndex>& siblings = SiblingsOf(q);
  const auto key = [this](QueueIndex each) { return KeyAt(each); };
  siblings.insert(std::ranges::lower_bound(siblings, queue.key, {}, key), q);
  Charge(parent, row(q).used, 1);
  ChargeReleasing(parent, row(q).releasing, 1);
  CountEntitled(row(q), 1);
}

void QueueTree::Detach(QueueIndex q) {
  CountEntitled(row(q), -1);
  std::erase(SiblingsOf(q), q);
  Charge(row(q).parent, row(q).used, -1);
  ChargeReleasing(row(q).parent, row(q).releasing, -1);
}

// What it has from the queue above, and those below it from it.
void QueueTree::Inherit(QueueIndex q) {
  Entry& entry = row(q);
  const bool is_root = entry.parent == kNoQueue;
  entry.depth = is_root ? 0 : row(entry.parent).depth + 1;
  entry.law = (is_root ? PreemptionLaw{} : row(entry.parent).law)
                  .With(entry.queue.preemption);
  for (QueueIndex child : entry.children) Inherit(child);
}

// Of kinds of which a queue says nothing, it is entitled to what those below it
// are.
absl::int128 QueueTree::Entitled(QueueIndex q, ResourceKind kind) const {
  const Entry& entry = at(q);
  return entry.guarantee[kind] >= 0 ? entry.guarantee[kind] : entry.below[kind];
}

// The sums of those above it change.
void QueueTree::CountEntitled(const Entry& entry, int sign) {
  for (ResourceKind k = 0; k < kinds(); ++k) {
    const absl::int128 entitled =
        entry.guarantee[k] >= 0 ? entry.guarantee[k] : entry.below[k];
    if (entitled == 0) continue;
    for (QueueIndex q = entry.parent; q != kNoQueue; q = row(q).parent) {
      Entry& above = row(q);
      above.below[k] += sign * entitled;
      if (above.guarantee[k] >= 0) break;
      for (const Quota& quota : above.queue.quotas) {
        if (quota.resource == resources_[k]) Bound(above, quota, k);
      }
    }
  }
}

void QueueTree::Bound(Entry& entry, const Quota& quota, size_t kind) {
  entry.limit[kind] = quota.limit.value_or(kUnbounded);
  if (!quota.borrow_limit) return;
  const absl::int128 most =
      (quota.guarantee ? absl::int128{*quota.guarantee} : entry.below[kind]) +
      *quota.borrow_limit;
  entry.limit[kind] =
      static_cast<int64_t>(std::min<absl::int128>(most, entry.limit[kind]));
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
  entry.bounded = entry.guaranteed = entry.sums_below = false;
  for (const Quota& quota : entry.queue.quotas) {
    const auto it = std::ranges::find(resources_, quota.resource);
    const auto kind = static_cast<size_t>(it - resources_.begin());
    if (quota.guarantee) entry.guarantee[kind] = *quota.guarantee;
    Bound(entry, quota, kind);
    entry.bounded |= quota.limit.has_value() || quota.borrow_limit.has_value();
    entry.guaranteed |= quota.guarantee.has_value();
    entry.sums_below |= quota.borrow_limit.has_value() && !quota.guarantee;
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
