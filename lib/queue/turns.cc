#include "lib/queue/turns.h"

#include <algorithm>

namespace muster {

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
    node.opened = false;
    node.leaf = kNoQueue;
    node.children.clear();
  }
  opened_.clear();
  if (nodes_.size() <= queues_.limit()) nodes_.resize(queues_.limit() + 1);
}

void Turns::Set(QueueIndex leaf, const Claim& claim) {
  Node& node = Open(leaf + 1);
  node.leaf = leaf;
  node.claim = claim;
  RefreshUp(leaf);
}

void Turns::Withdraw(QueueIndex leaf) {
  Node& node = nodes_[leaf + 1];
  if (node.leaf == kNoQueue) return UsageChanged(leaf);
  node.leaf = kNoQueue;
  RefreshUp(leaf);
}

void Turns::UsageChanged(QueueIndex q) {
  while (q != kNoQueue && nodes_[q + 1].leaf == kNoQueue) {
    q = queues_.at(q).parent;
  }
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
  if (child.leaf != kNoQueue) {
    const Claim& claim = nodes_[child.leaf + 1].claim;
    turns.push_back({order_.TurnOf(q, claim), child.stamp});
    std::push_heap(turns.begin(), turns.end(), worse);
  }
  const auto holds = [this](const Entry& entry) {
    const Node& node = nodes_[entry.turn.queue + 1];
    return node.leaf != kNoQueue && node.stamp == entry.stamp;
  };
  while (!turns.empty() && !holds(turns.front())) {
    std::pop_heap(turns.begin(), turns.end(), worse);
    turns.pop_back();
  }
}

void Turns::RefreshUp(QueueIndex q) {
  QueueIndex above = 0;
  do {
    above = Above(q);
    Node& parent = Open(above);
    Enter(q, parent);
    parent.leaf = kNoQueue;
    if (!parent.children.empty()) {
      parent.leaf = nodes_[parent.children.front().turn.queue + 1].leaf;
    }
    q = above - 1;
  } while (above != 0);
}

}  // namespace muster
