// A strict priority queue for many threads, header-only, on the standard
// library alone. Intrusive: what waits in it derives from HeapNode and belongs
// to the caller, so that a push allocates nothing.
//
// Example (compiled and run by test/queue/priority_heap_test.cc):
//
//   struct Job : HeapNode<int> {
//     Job(int rank, std::string job) : HeapNode(rank), name(std::move(job)) {}
//     std::string name;
//   };
//   Job train(1, "train"), tune(1, "tune"), serve(0, "serve");
//   PriorityHeap<int, std::less<int>, Job> heap;
//
//   std::thread producer([&] { heap.Push(&train), heap.Push(&tune); });
//   heap.Push(&serve);
//   producer.join();
//   EXPECT_EQ(heap.PopBest()->name, "serve");  // The least key is the best.
//   EXPECT_EQ(heap.PopBest()->name, "train");  // Equals: first in, first out.
//   EXPECT_TRUE(heap.Reprioritize(&tune, 7));
//   EXPECT_TRUE(heap.Erase(&tune));  // From here on tune may be freed.
//   EXPECT_EQ(heap.PopBest(), nullptr);
//
// Order: strict. a goes before b if compare(a.key, b.key); among equals, the
// one whose push took effect first goes first. Threads interleave differently
// from run to run: who needs the same order always gives each node its own key.
//
// Two private sides keep this order (HeapSide in owned_heap.h): up to 64
// levels, such as small integers, cost O(1); any other keys O(log n). The heap
// changes from one to the other by itself.
//
// Thread safety: any thread may call anything at any time, but the destructor.
// A node belongs to the heap from its Push until PopBest, Erase or Clear has
// returned it. Several threads may race to take one node out: one of them gets
// it, and it may be freed once all those calls have returned.
//
// Progress.
//   Push      lock-free: some push always succeeds, whatever other threads do
//             and wherever they stopped for ever. Not wait-free.
//   all else  blocking among each other: one thread at a time is inside, and
//             does the work of those who came meanwhile (combiner.h). One that
//             stops for ever inside stops the others, but no push. One that
//             stops for ever in the middle of a push stops none.
//
// Linearization points.
//   Push      its successful compare-and-swap on the inbox.
//   all else  the read of the inbox, by the thread that does the work: the
//             exchange that takes it, or the load that finds it empty.
// So PopBest returns the best of all nodes whose Push took effect before. All
// heaps of a program have one order of these points (owned_heap.h).
//
// Memory orders: owned_heap.h for the inbox, combiner.h for the rest, each with
// its reason; docs/priority-heap.md shows how each one that is weakened is
// caught.
//
// Memory reclamation: none is needed, and nothing is deferred. A node that was
// popped or erased is linked nowhere: it may be freed, or pushed again, as soon
// as the call has returned. A node that got another key stays in the heap.

#ifndef MUSTER_HEAP_PRIORITY_HEAP_H_
#define MUSTER_HEAP_PRIORITY_HEAP_H_

#include <cstddef>
#include <functional>
#include <span>
#include <utility>

#include "muster/heap/combiner.h"
#include "muster/heap/owned_heap.h"
#include "muster/heap/sides.h"
#include "muster/heap/threads.h"

namespace muster {

// Key      Copied into an array if it has no level; best small. Moving it must
//          not throw.
// Compare  A strict weak order that does not throw. compare(a, b): a is better.
//          It may number levels: see HasKeyLevels in sides.h.
// Node     The type that is queued, derived from HeapNode<Key>.
// Threads  See threads.h.
//
// Fewer than 2^31 nodes may wait.
template <class Key, class Compare = std::less<Key>, class Node = HeapNode<Key>,
          class Threads = ManyThreads>
class PriorityHeap {
 public:
  using Owned = OwnedHeap<Key, Compare, Node, Threads>;

  explicit PriorityHeap(Compare compare = Compare())
      : heap_(std::move(compare)) {}

  // `node` is in no heap.
  void Push(Node* node) noexcept { heap_.Push(node); }

  // Takes the best node out; null if there is none.
  Node* PopBest() {
    return combiner_.Run([this] { return heap_.PopBest(); });
  }

  // Takes the best nodes out, as many as fit, in one instant: *out gets them in
  // order. Returns how many.
  size_t PopBest(std::span<Node*> out) {
    return combiner_.Run([this, out] { return heap_.PopBest(out); });
  }

  // The best node, which stays; null if there is none. Others may push a better
  // one, or take this one, before the caller looks at it.
  Node* PeekBest() {
    return combiner_.Run([this] { return heap_.PeekBest(); });
  }

  // Takes `node` out; false if it was in no heap. It must not be in another,
  // nor in the middle of its Push: that happened before this call, if at all.
  bool Erase(Node* node) {
    return combiner_.Run([this, node] { return heap_.Erase(node); });
  }

  // Gives `node` another key; false, and nothing is done, if it was in no heap.
  // Asks of `node` what Erase does. It goes behind its new equals, as if erased
  // and pushed again in one instant; if the keys are equal, it keeps its place.
  bool Reprioritize(Node* node, Key key) {
    return combiner_.Run([this, node, &key] {
      return heap_.Reprioritize(node, std::move(key));
    });
  }

  // Takes in what was pushed; returns how many nodes that were. The other calls
  // do it by themselves: this chooses when the work is done.
  size_t Drain() {
    return combiner_.Run([this] { return heap_.Drain(); });
  }

  // Takes out every node. The destructor does not: it touches none.
  void Clear() {
    combiner_.Run([this] { heap_.Clear(); });
  }

  size_t size() {
    return combiner_.Run([this] { return heap_.size(); });
  }
  bool empty() { return size() == 0; }

  // While no more than `nodes` wait, nothing allocates. Nothing does anyhow as
  // long as all keys have levels.
  void Reserve(size_t nodes) {
    combiner_.Run([this, nodes] { heap_.Reserve(nodes); });
  }

  // See OwnedHeap.
  HeapSide side() {
    return combiner_.Run([this] { return heap_.side(); });
  }
  bool Use(HeapSide side) {
    return combiner_.Run([this, side] { return heap_.Use(side); });
  }

  // Stays inside for several operations, whose only atomic writes then are
  // those that take in what was pushed:
  //
  //   PriorityHeap<int>::Session session(&heap);
  //   while (HeapNode<int>* node = session->PopBest()) ...
  //
  // Others push meanwhile. What else they ask for is done by the next operation
  // of the session, or at its end: it is for threads that are busy with the
  // heap. Must not be used from two threads, nor twice by one at a time.
  class Session {
   public:
    explicit Session(PriorityHeap* heap) : heap_(heap) {
      heap_->combiner_.Enter();
    }
    ~Session() { heap_->combiner_.Leave(); }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Owned* operator->() {
      heap_->combiner_.ServeOthers();
      return &heap_->heap_;
    }

   private:
    PriorityHeap* heap_;
  };

 private:
  friend class PriorityHeapPeer;  // The tests'.

  Owned heap_;
  Combiner<Threads> combiner_;
};

}  // namespace muster

#endif  // MUSTER_HEAP_PRIORITY_HEAP_H_
