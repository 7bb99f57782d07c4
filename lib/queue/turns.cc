#include "lib/queue/turns.h"

#include <algorithm>

namespace muster {

// Queue q stands at position q + 1, what is above the roots at 0.
QueueIndex Turns::Above(QueueIndex q) const {
  const QueueIndex parent = queues_.at(q).parent;
  return parent == kNoQueue ? 0 : parent + 1;
}

Turns::Node& Turns::Open(QueueIndex position) {
  Node& node = nodes_[position];
  if (!node.opened) {
    node.opened = true;
    opened_.push_back(position);
  }
  return node;
}

void Turns::Clear() {
  for (const QueueIndex position : opened_) {
    Node& node = nodes_[position];
    node.opened = node.active = false;
    node.children.clear();
  }
  opened_.clear();
  next_ = kNoQueue;
  if (nodes_.size() <= queues_.limit()) nodes_.resize(queues_.limit() + 1);
}

void Turns::Set(QueueIndex leaf, const Claim& claim) {
  Node& node = Open(leaf + 1);
  node.active = true;
  node.leaf = leaf;
  node.claim = claim;
  RefreshUp(leaf);
}

void Turns::Withdraw(QueueIndex leaf) {
  Node& node = nodes_[leaf + 1];
  if (!node.active) return UsageChanged(leaf);
  node.active = false;
  RefreshUp(leaf);
}

void Turns::UsageChanged(QueueIndex q) {
  while (q != kNoQueue && !nodes_[q + 1].active) q = queues_.at(q).parent;
  if (q != kNoQueue) RefreshUp(q);
}

// The child's claim, or what it uses, has changed: puts its turn among those of
// its siblings, and old ones out of the way.
void Turns::Enter(QueueIndex q, Node& parent) {
  Node& child = nodes_[q + 1];
  const auto worse = [this](const Entry& a, const Entry& b) {
    return order_.Before(b.turn, a.turn);
  };
  std::vector<Entry>& turns = parent.children;
  ++child.stamp;
  if (child.active) {
    turns.push_back({order_.TurnOf(q, child.claim), child.stamp});
    std::push_heap(turns.begin(), turns.end(), worse);
  }
  const auto holds = [this](const Entry& entry) {
    const Node& node = nodes_[entry.turn.queue + 1];
    return node.active && node.stamp == entry.stamp;
  };
  while (!turns.empty() && !holds(turns.front())) {
    std::pop_heap(turns.begin(), turns.end(), worse);
    turns.pop_back();
  }
}

void Turns::RefreshUp(QueueIndex q) {
  while (true) {
    const QueueIndex above = Above(q);
    Node& parent = Open(above);
    Enter(q, parent);
    const bool active = !parent.children.empty();
    if (active) {
      const Node& best = nodes_[parent.children.front().turn.queue + 1];
      parent.leaf = best.leaf;
      parent.claim = best.claim;
    }
    if (above == 0) {
      next_ = active ? parent.leaf : kNoQueue;
      return;
    }
    q = above - 1;
    parent.active = active;
  }
}

}  // namespace muster
