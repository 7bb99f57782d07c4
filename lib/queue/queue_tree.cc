#include "lib/queue/queue_tree.h"

#include <algorithm>

namespace muster {

QueueIndex QueueTree::Upsert(const Queue& queue) {
  if (const QueueIndex known = Find(queue.key); known != kNoQueue) {
    entries_[known].queue = queue;
    Derive(entries_[known]);
    return known;
  }
  QueueIndex q;
  if (free_.empty()) {
    q = static_cast<QueueIndex>(entries_.size());
    entries_.emplace_back();
  } else {
    q = free_.back();
    free_.pop_back();
  }
  Entry& entry = entries_[q];
  const uint32_t generation = entry.generation + 1;
  entry = Entry{};
  entry.queue = queue;
  entry.exists = true;
  entry.generation = generation;
  entry.usage = Resources(static_cast<uint32_t>(resources_.size()));
  entry.parent = queue.parent.empty() ? kNoQueue : Find(queue.parent);
  std::vector<QueueIndex>* siblings = &roots_;
  if (entry.parent != kNoQueue) {
    entry.depth = entries_[entry.parent].depth + 1;
    siblings = &entries_[entry.parent].children;
  }
  Derive(entry);
  by_key_[queue.key] = q;
  siblings->insert(std::lower_bound(siblings->begin(), siblings->end(), q,
                                    [this](QueueIndex a, QueueIndex b) {
                                      return entries_[a].queue.key <
                                             entries_[b].queue.key;
                                    }),
                   q);
  return q;
}

void QueueTree::Remove(QueueIndex q) {
  Entry& entry = entries_[q];
  std::vector<QueueIndex>& siblings =
      entry.parent == kNoQueue ? roots_ : entries_[entry.parent].children;
  std::erase(siblings, q);
  by_key_.erase(entry.queue.key);
  entry.exists = false;
  guarantees_ -= entry.guaranteed;
  entry.guaranteed = false;
  free_.push_back(q);
}

QueueIndex QueueTree::Find(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? kNoQueue : it->second;
}

bool QueueTree::Held(QueueIndex q) const {
  for (; q != kNoQueue; q = entries_[q].parent) {
    if (entries_[q].queue.held) return true;
  }
  return false;
}

void QueueTree::Derive(Entry& entry) {
  guarantees_ -= entry.guaranteed;
  entry.limit.assign(resources_.size(), kUnbounded);
  entry.guarantee.assign(resources_.size(), -1);
  for (const Quota& quota : entry.queue.quotas) {
    const auto it =
        std::find(resources_.begin(), resources_.end(), quota.resource);
    const size_t kind = static_cast<size_t>(it - resources_.begin());
    if (quota.limit) entry.limit[kind] = *quota.limit;
    if (quota.guarantee) entry.guarantee[kind] = *quota.guarantee;
  }
  entry.guaranteed =
      std::any_of(entry.guarantee.begin(), entry.guarantee.end(),
                  [](int64_t guarantee) { return guarantee >= 0; });
  guarantees_ += entry.guaranteed;
}

// A queue without any quota is guaranteed nothing.
int64_t QueueTree::Guaranteed(const Entry& e, ResourceKind kind) {
  if (e.guarantee[kind] >= 0) return e.guarantee[kind];
  return e.queue.quotas.empty() ? 0 : kUnbounded;
}

bool QueueTree::Charge(QueueIndex q, const Resources& amount, int64_t sign) {
  bool rose = false;
  for (; q != kNoQueue; q = entries_[q].parent) {
    Entry& e = entries_[q];
    for (ResourceKind k = 0; k < amount.size(); ++k) {
      const int64_t before = e.usage[k];
      const int64_t after = before + sign * amount[k];
      if (after == before) continue;
      e.usage.Set(k, after);
      const int64_t guaranteed = Guaranteed(e, k);
      rose |= after > before && after > guaranteed;
    }
  }
  return rose;
}

void QueueTree::ChargeReleasing(QueueIndex q, const Resources& amount,
                                int64_t sign) {
  for (; q != kNoQueue; q = entries_[q].parent) {
    entries_[q].releasing.AddTimes(amount, sign);
  }
}

bool QueueTree::Headroom(QueueIndex q, Ledger ledger, Resources* out) const {
  bool bounded = false;
  for (ResourceKind k = 0; k < resources_.size(); ++k) {
    out->Set(k, kUnbounded);
  }
  for (; q != kNoQueue; q = entries_[q].parent) {
    const Entry& e = entries_[q];
    for (ResourceKind k = 0; k < resources_.size(); ++k) {
      if (e.limit[k] == kUnbounded) continue;
      bounded = true;
      out->Set(k, std::min((*out)[k], std::max<int64_t>(
                                          0, e.limit[k] - Used(e, k, ledger))));
    }
  }
  return bounded;
}

QueueIndex QueueTree::OverLimit(QueueIndex q, const Resources& demand,
                                Ledger ledger, ResourceKind* kind,
                                bool held) const {
  for (; q != kNoQueue; q = entries_[q].parent) {
    const Entry& e = entries_[q];
    for (ResourceKind k = 0; k < demand.size(); ++k) {
      if (demand[k] > 0 && e.limit[k] != kUnbounded &&
          Used(e, k, ledger) + (held ? 0 : demand[k]) > e.limit[k]) {
        *kind = k;
        return q;
      }
    }
  }
  return kNoQueue;
}

QueueIndex QueueTree::NeverWithin(QueueIndex q, const Resources& demand,
                                  ResourceKind* kind) const {
  for (; q != kNoQueue; q = entries_[q].parent) {
    for (ResourceKind k = 0; k < demand.size(); ++k) {
      if (demand[k] > entries_[q].limit[k]) {
        *kind = k;
        return q;
      }
    }
  }
  return kNoQueue;
}

bool QueueTree::WithinGuarantee(QueueIndex q, const Resources& demand,
                                const Resources* minus) const {
  const Entry& e = entries_[q];
  bool has_say = false;
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] <= 0 || e.guarantee[k] < 0) continue;
    has_say = true;
    const int64_t used = e.usage[k] - (minus != nullptr ? (*minus)[k] : 0);
    if (used + demand[k] > e.guarantee[k]) return false;
  }
  return has_say;
}

bool QueueTree::OverGuarantee(QueueIndex q, const Resources& demand,
                              const Resources* minus) const {
  const Entry& e = entries_[q];
  for (ResourceKind k = 0; k < demand.size(); ++k) {
    if (demand[k] <= 0) continue;
    const int64_t used = e.usage[k] - (minus != nullptr ? (*minus)[k] : 0);
    if (used > Guaranteed(e, k)) return true;
  }
  return false;
}

QueueIndex QueueTree::CommonAncestor(QueueIndex a, QueueIndex b) const {
  while (a != b) {
    if (a == kNoQueue || b == kNoQueue) return kNoQueue;
    QueueIndex& deeper = entries_[a].depth >= entries_[b].depth ? a : b;
    deeper = entries_[deeper].parent;
  }
  return a;
}

}  // namespace muster
