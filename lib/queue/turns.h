// Whose turn it is: a tournament over the queue tree.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/queue/queue_order.h"
#include "lib/queue/queue_tree.h"

namespace muster {

// Leaves put their best claim forward; of its children each queue puts the best
// forward, up to the roots. Serves waiting gangs and growing ones alike.
//
// Invariant: the answer is that of comparing all leaves with a claim anew, as
// far as the caller that changes a leaf's claim, or what queues use, says so.
// Memory is kept between uses. Not synchronised.
class Turns {
 public:
  Turns(const QueueTree& queues, const QueueOrder& order)
      : queues_(queues), order_(order) {}

  // No leaf has a claim. Queues come and go before this is called, not between
  // it and what follows. O(queues that had a claim, and above).
  void Clear();
  // The leaf's best claim, or that it has none. What the leaf and the queues
  // above it use may have changed as well. O(depth x log children).
  void Set(QueueIndex leaf, const Claim& claim);
  void Withdraw(QueueIndex leaf);
  // What the queue and those above it use has changed. O(likewise).
  void UsageChanged(QueueIndex q);

  // The leaf whose turn it is; kNoQueue if there is no claim.
  QueueIndex next() const { return nodes_[0].leaf; }

 private:
  using Turn = QueueOrder::Turn;
  // A child's turn as of Node::stamp; old ones are passed over.
  struct Entry {
    Turn turn{};
    uint64_t stamp = 0;
  };
  struct Node {
    bool opened = false;
    QueueIndex leaf = kNoQueue;  // It, or one below it, with the best claim.
    Claim claim{};               // Of a leaf that has one.
    uint64_t stamp = 0;
    std::vector<Entry> children{};  // A heap, the best on top.
  };

  Node& Open(QueueIndex q);
  void Enter(QueueIndex q, Node& parent);
  void RefreshUp(QueueIndex q);
  // Queue q stands at position q + 1, what is above the roots at 0.
  QueueIndex Above(QueueIndex q) const;

  const QueueTree& queues_;
  const QueueOrder& order_;
  std::vector<Node> nodes_ = std::vector<Node>(1);  // By position.
  std::vector<QueueIndex> opened_{};                // Positions in nodes_.
};

}  // namespace muster
