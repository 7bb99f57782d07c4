// A priority queue that many threads push to and one thread takes from.
//
// Intrusive: what waits in it derives from HeapNode and belongs to the caller,
// so a push allocates nothing. Needs the standard library only.
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
// Thread safety. Push may be called from any thread at any time. All else, the
// destructor included, belongs to the owner: one thread at a time, handed on
// only by something that synchronizes (a mutex, a join). A node belongs to the
// heap from its Push until PopBest, Erase or Clear has returned it.
//
// Progress.
//   Push      lock-free: its compare-and-swap fails only because another push
//             or the owner's exchange succeeded (or spuriously, on machines
//             with LL/SC). Not wait-free.
//   all else  never waits for another thread: a pusher that stops for ever, at
//             any instruction, delays nobody. One call pays O(log n) for each
//             node in the inbox. It allocates when more nodes wait than ever
//             before (see Reserve), and is as lock-free as the allocator then;
//             if that throws, the nodes stay and the next call goes on.
//
// Linearization points.
//   Push      its successful compare-and-swap on inbox_.
//   all else  its read of inbox_: the exchange that takes the inbox, or the
//             load that finds it empty. All that follows is private.
// So PopBest returns the best of all nodes whose Push happened before the call,
// or a better one. "Happened before" is the language's: who learns of a push by
// a relaxed atomic or by looking at a clock has not synchronized with it.
//
// Memory orders.
//   Push, load       relaxed: a guess, which the compare-and-swap checks.
//   Push, CAS        release: publishes the node and whatever its pusher wrote
//                    before. On failure relaxed, as the load.
//   owner, load      relaxed: a null carries no data, and coherence alone
//                    ensures that no push that happened before is missed.
//   owner, exchange  acquire: pairs with *every* push it takes, as each CAS
//                    continues the release sequences of those before it. Not
//                    release: pushers read nothing that the owner writes.
// None is sequentially consistent: an owner that sleeps when the heap is empty,
// and pushers that wake it, need a fence or lock of their own.
//
// Memory reclamation: none is needed. A node popped or erased is linked
// nowhere: it may be freed, or pushed again, as soon as the call has returned.
// If that happens between a pusher's load and its compare-and-swap, no harm is
// done (no ABA problem): as the inbox is only pushed to or taken whole, its
// head is all that matters. The pusher compares the pointer, freed or not,
// which the standard leaves to the compiler, but never follows it.

#ifndef MUSTER_PRIORITY_HEAP_H_
#define MUSTER_PRIORITY_HEAP_H_

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster {

// What is queued: derive from it. A node is in at most one heap at a time, and
// must stay where it is in memory while it is in one.
template <class Key>
class HeapNode {
 public:
  HeapNode() = default;
  explicit HeapNode(Key key) : key_(std::move(key)) {}
  HeapNode(const HeapNode&) = delete;
  HeapNode& operator=(const HeapNode&) = delete;

  const Key& key() const { return key_; }
  // Only while the node is in no heap; else see PriorityHeap::Reprioritize.
  void set_key(Key key) {
    assert(slot_ == kDetached);
    key_ = std::move(key);
  }

 private:
  template <class K, class C, class N>
  friend class PriorityHeap;

  static constexpr size_t kDetached = SIZE_MAX, kInInbox = SIZE_MAX - 1;

  Key key_{};
  HeapNode* next_ = nullptr;  // The node pushed before this one; in the inbox.
  size_t slot_ = kDetached;   // Index in PriorityHeap::heap_, or as above.
};

// Key      Copied into the heap's array; best small. Moving it must not throw.
// Compare  A strict weak order that does not throw. compare(a, b): a is better.
// Node     The type that is queued, derived from HeapNode<Key>.
template <class Key, class Compare = std::less<Key>, class Node = HeapNode<Key>>
class PriorityHeap {
 public:
  explicit PriorityHeap(Compare compare = Compare())
      : compare_(std::move(compare)) {}
  PriorityHeap(const PriorityHeap&) = delete;
  PriorityHeap& operator=(const PriorityHeap&) = delete;

  // Any thread. `node` is in no heap.
  void Push(Node* node) noexcept {
    Hook* const hook = node;
    assert(hook->slot_ == Hook::kDetached);
    hook->slot_ = Hook::kInInbox;
    Hook* head = inbox_.load(std::memory_order_relaxed);
    do {
      hook->next_ = head;
    } while (!inbox_.compare_exchange_weak(
        head, hook, std::memory_order_release, std::memory_order_relaxed));
  }

  // The owner only, from here on. Each call drains the inbox first: Erase and
  // Reprioritize never meet a node that is still in it.
  //
  // Takes the best node out; null if there is none.
  Node* PopBest() {
    Drain();
    if (heap_.empty()) return nullptr;
    Node* const best = static_cast<Node*>(heap_.front().node);
    return RemoveAt(0), best;
  }

  // The best node, which stays; null if there is none. After another push the
  // next PopBest may return another.
  Node* PeekBest() {
    Drain();
    return heap_.empty() ? nullptr : static_cast<Node*>(heap_.front().node);
  }

  // Takes `node` out; false if it was in no heap. It must not be in another,
  // nor in the middle of its Push: that happened before this call, if at all.
  bool Erase(Node* node) {
    Drain();
    const size_t slot = SlotOf(node);
    if (slot == Hook::kDetached) return false;
    RemoveAt(slot);
    return true;
  }

  // Gives `node` another key; false, and nothing is done, if it was in no heap.
  // Asks of `node` what Erase does. It goes behind its new equals, as if erased
  // and pushed again in one instant; if the keys are equal, it keeps its place.
  bool Reprioritize(Node* node, Key key) {
    Drain();
    const size_t slot = SlotOf(node);
    if (slot == Hook::kDetached) return false;
    Entry& entry = heap_[slot];
    const bool better = compare_(key, entry.key);
    const bool worse = compare_(entry.key, key);
    entry.key = key;
    entry.node->key_ = std::move(key);
    if (!better && !worse) return true;
    entry.seq = next_seq_++;
    Entry moved = std::move(entry);
    Rise(better ? slot : FallToLeaf(slot), std::move(moved));
    return true;
  }

  // Takes the inbox into the heap; returns how many nodes that were. The other
  // calls do it by themselves: this chooses when the work is done.
  size_t Drain() {
    if (inbox_.load(std::memory_order_relaxed) != nullptr) {
      Hook* newest = inbox_.exchange(nullptr, std::memory_order_acquire);
      Hook* oldest = nullptr;
      while (newest != nullptr) {  // Turns the list round.
        Hook* const hook = std::exchange(newest, newest->next_);
        hook->next_ = std::exchange(oldest, hook);
      }
      Hook** end = &pending_;  // Empty, unless push_back threw the last time.
      while (*end != nullptr) end = &(*end)->next_;
      *end = oldest;
    }
    size_t drained = 0;
    for (; pending_ != nullptr; ++drained) {
      heap_.push_back(Entry{pending_->key_, next_seq_, pending_});
      ++next_seq_;
      pending_ = pending_->next_;
      Rise(heap_.size() - 1, std::move(heap_.back()));
    }
    return drained;
  }

  // Takes out every node. The destructor does not: it touches none.
  void Clear() {
    Drain();
    for (const Entry& entry : heap_) entry.node->slot_ = Hook::kDetached;
    heap_.clear();
  }

  size_t size() { return Drain(), heap_.size(); }  // Not const, as it drains.

  bool empty() const {
    return heap_.empty() && !pending_ &&
           !inbox_.load(std::memory_order_relaxed);
  }

  // While no more than `nodes` wait, the owner's calls do not allocate.
  void Reserve(size_t nodes) { heap_.reserve(nodes); }

 private:
  friend class PriorityHeapPeer;  // The tests': moves next_seq_ to its wrap.
  using Hook = HeapNode<Key>;
  struct Entry {
    Key key;
    uint64_t seq;  // The order of draining, which is that of the pushes.
    Hook* node;
  };
  static_assert(std::is_nothrow_move_assignable_v<Key>);
  static_assert(std::atomic<Hook*>::is_always_lock_free);

  static constexpr size_t kArity = 4;  // Half the levels of a binary heap.

  // Without a branch, which no CPU would predict. seq may wrap: right while no
  // two nodes are 2^63 pushes apart.
  bool Before(const Entry& a, const Entry& b) const {
    const bool better = compare_(a.key, b.key), worse = compare_(b.key, a.key);
    return better | (!worse & (static_cast<int64_t>(a.seq - b.seq) < 0));
  }

  size_t SlotOf(const Hook* hook) const {
    assert(hook->slot_ == Hook::kDetached || heap_[hook->slot_].node == hook);
    return hook->slot_;
  }

  void RemoveAt(size_t slot) {
    heap_[slot].node->slot_ = Hook::kDetached;
    Entry last = std::move(heap_.back());
    heap_.pop_back();
    if (slot == heap_.size()) return;
    // `last` is among the worst: this compares less than a search from above.
    Rise(FallToLeaf(slot), std::move(last));
  }

  void Fill(size_t slot, Entry&& entry) {
    entry.node->slot_ = slot;
    heap_[slot] = std::move(entry);
  }

  // Moves the hole at `slot` up to where `entry` belongs, and fills it.
  void Rise(size_t slot, Entry entry) {
    for (size_t parent; slot > 0; slot = parent) {
      parent = (slot - 1) / kArity;
      if (!Before(entry, heap_[parent])) break;
      Fill(slot, std::move(heap_[parent]));
    }
    Fill(slot, std::move(entry));
  }

  // Moves the hole at `slot` down, best child by best child; returns its leaf.
  size_t FallToLeaf(size_t slot) {
    for (size_t child; (child = slot * kArity + 1) < heap_.size();) {
      const size_t end = std::min(child + kArity, heap_.size());
      size_t best = child;
      while (++child < end) {
        best = Before(heap_[child], heap_[best]) ? child : best;
      }
      Fill(slot, std::move(heap_[best]));
      slot = best;
    }
    return slot;
  }

  alignas(64) std::atomic<Hook*> inbox_{
      nullptr};  // All threads', newest first.

  // The owner's. Each entry is Before its children; heap_[i].node->slot_ == i.
  alignas(64) std::vector<Entry> heap_;
  Hook* pending_ = nullptr;  // Between inbox_ and heap_, oldest first.
  uint64_t next_seq_ = 0;
  [[no_unique_address]] Compare compare_;
};

}  // namespace muster

#endif  // MUSTER_PRIORITY_HEAP_H_
