// The heap behind PriorityHeap: any thread pushes, one thread takes. Cheaper
// than PriorityHeap where a thread owns the heap anyway: nothing but Push
// executes an atomic instruction that writes, unless something was pushed.
//
// Thread safety. Push may be called from any thread at any time. All else, the
// destructor included, belongs to the owner: one thread at a time, handed on
// only by something that synchronizes (a lock, a join).
//
// Progress.
//   Push      lock-free: its compare-and-swap fails only because another push
//             or the owner's exchange succeeded (or spuriously, on machines
//             with LL/SC). Not wait-free.
//   all else  never waits for another thread: a pusher that stops for ever, at
//             any instruction, delays no other. One call also pays for the
//             nodes in the inbox: O(1) each in levels, O(log n) else. It
//             allocates only without levels, when more nodes wait than ever
//             before (see Reserve), and is as lock-free as the allocator then;
//             if that throws, the nodes stay and the next call goes on.
//
// Linearization points.
//   Push      its successful compare-and-swap on inbox_.
//   all else  its read of inbox_: the exchange that takes the inbox, or the
//             load that finds it empty. All that follows is private.
// All heaps of a program have one order of these points: if A pushes to one
// heap and then finds another empty, while B does the reverse, one of them
// finds what the other pushed.
//
// Memory orders.
//   Push, load       relaxed: a guess, which the compare-and-swap checks.
//   Push, CAS        seq_cst: release publishes the node and whatever its
//                    pusher wrote before; the rest is for the one order of all
//                    heaps. On failure relaxed, as the load.
//   owner, load      seq_cst, for the one order alone: a null carries no data.
//   owner, exchange  acquire: pairs with *every* push it takes, as each CAS
//                    continues the release sequences of those before it. Not
//                    release: pushers read nothing that the owner writes. Not
//                    seq_cst: it takes at least what the load before it saw.
//
// Memory reclamation: none is needed. A node popped or erased is linked
// nowhere: it may be freed, or pushed again, as soon as the call has returned.
// If that happens between a pusher's load and its compare-and-swap, no harm is
// done (no ABA problem): as the inbox is only pushed to or taken whole, its
// head is all that matters. The pusher compares the pointer, freed or not,
// which the standard leaves to the compiler, but never follows it.

#ifndef MUSTER_HEAP_OWNED_HEAP_H_
#define MUSTER_HEAP_OWNED_HEAP_H_

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>

#include "muster/heap/sides.h"
#include "muster/heap/threads.h"

namespace muster {

// How the nodes that wait are kept; the order is the same.
enum class HeapSide {
  kLevels,  // Up to 64 levels (HasKeyLevels in sides.h): O(1).
  kKeys,    // Any keys: O(log n).
};

// See PriorityHeap for the parameters and the operations.
template <class Key, class Compare = std::less<Key>, class Node = HeapNode<Key>,
          class Threads = ManyThreads>
class OwnedHeap {
 public:
  explicit OwnedHeap(Compare compare = Compare())
      : compare_(compare), keys_(compare) {}
  OwnedHeap(const OwnedHeap&) = delete;
  OwnedHeap& operator=(const OwnedHeap&) = delete;

  // Any thread. `node` is in no heap.
  void Push(Node* node) noexcept {
    Hook* const hook = node;
    assert(!hook->linked());
    Hook* head = inbox_.load(std::memory_order_relaxed);
    do {
      hook->next_ = head;
    } while (!inbox_.compare_exchange_weak(
        head, hook, std::memory_order_seq_cst, std::memory_order_relaxed));
  }

  // The owner only, from here on. Each call drains the inbox first.
  Node* PopBest() {
    Drain();
    if (size_ == 0) return nullptr;
    return PopOne();
  }

  size_t PopBest(std::span<Node*> out) {
    Drain();
    const size_t count = std::min(out.size(), size_);
    for (size_t i = 0; i < count; ++i) out[i] = PopOne();
    return count;
  }

  Node* PeekBest() {
    Drain();
    if (size_ == 0) return nullptr;
    return static_cast<Node*>(InLevels() ? lists_.Best() : keys_.Best());
  }

  bool Erase(Node* node) {
    Drain();
    Hook* const hook = node;
    if (!hook->linked()) return false;
    if (InLevels()) {
      lists_.Remove(LevelOf(hook->key()), hook);
    } else {
      keys_.Remove(hook);
    }
    Left(hook);
    return true;
  }

  bool Reprioritize(Node* node, Key key) {
    Drain();
    Hook* const hook = node;
    if (!hook->linked()) return false;
    const Key& old = hook->key();
    if (!compare_(key, old) && !compare_(old, key)) {
      hook->key_ = std::move(key);
      return true;
    }
    if (InLevels() && LevelOf(key) >= kMaxLevels) Use(HeapSide::kKeys);
    if (InLevels()) {
      lists_.Remove(LevelOf(old), hook);
      lists_.Append(LevelOf(key), hook);
      hook->key_ = std::move(key);
    } else {
      keys_.Move(hook, std::move(key));
    }
    return true;
  }

  // Takes the inbox in; returns how many nodes that were. The other calls do it
  // by themselves: this chooses when the work is done.
  size_t Drain() {
    const size_t before = size_;
    while (turning_ != nullptr) TurnOne();
    if (Hook* const newest = TakeInbox(); newest != nullptr) Sort(newest);
    if (pending_ != nullptr) PendingToKeys();
    return size_ - before;
  }

  // The same in parts, for an owner that may not stop long: takes in what was
  // in the inbox at one instant, about `most` / 2 nodes a call, and is true
  // when all of it has been. What is pushed meanwhile waits for the next such
  // set. Until then PopDrained() tells nothing of the order of the whole.
  // O(most).
  bool DrainSome(size_t most)
    requires(!kHasLevels<Compare, Key>)
  {
    if (turning_ == nullptr && pending_ == nullptr) turning_ = TakeInbox();
    for (; most > 0 && turning_ != nullptr; --most) TurnOne();
    if (turning_ != nullptr) return false;
    for (; most > 0 && pending_ != nullptr; --most) OneToKeys();
    return pending_ == nullptr;
  }

  // The best of the nodes that were drained already, or null. O(log n).
  Node* PopDrained() { return size_ == 0 ? nullptr : PopOne(); }

  // Calls function(const Node&) with each node that was drained, in no order.
  template <class Function>
  void ForEach(Function function) const {
    auto call = [&](const Hook* hook) {
      function(*static_cast<const Node*>(hook));
    };
    if (InLevels()) {
      lists_.ForEach(call);
    } else {
      keys_.ForEach(call);
    }
  }

  // Takes out every node that waits at one instant, and calls function(Node*)
  // with each, in order. It may free the node, or push: that waits.
  template <class Function>
  void PopAll(Function function) {
    Drain();
    while (size_ > 0) function(PopOne());
  }

  // Takes out every node. The destructor does not: it touches none.
  void Clear() {
    PopAll([](Node*) {});
  }

  size_t size() { return Drain(), size_; }
  bool empty() { return size() == 0; }

  // While no more than `nodes` wait, the owner's calls do not allocate.
  void Reserve(size_t nodes) { keys_.Reserve(nodes); }

  // The side in use. An empty heap starts with levels if Compare numbers any;
  // the first key that has none moves all nodes to the other side.
  HeapSide side() { return Drain(), side_; }

  // Moves all nodes to `side`, where the heap stays until it is empty or told
  // otherwise. False, and nothing is done, if a key that waits has no level.
  // O(n log n) for n nodes.
  bool Use(HeapSide side) {
    Drain();
    if (side == side_) return true;
    if (side == HeapSide::kKeys) {
      ListsToPending();
      PendingToKeys();
      return true;
    }
    bool levels = kLeveled;
    keys_.ForEach([&](const Hook* hook) {
      levels = levels && LevelOf(hook->key()) < kMaxLevels;
    });
    if (!levels) return false;
    keys_.PopAll(
        [this](Hook* hook) { lists_.Append(LevelOf(hook->key()), hook); });
    side_ = HeapSide::kLevels;
    return true;
  }

 private:
  friend class PriorityHeapPeer;  // The tests': reaches keys_.
  using Hook = HeapNode<Key, Threads>;
  static_assert(std::is_nothrow_move_assignable_v<Key>);

  static constexpr bool kLeveled = kHasLevels<Compare, Key>;
  static constexpr HeapSide kFirst =
      kLeveled ? HeapSide::kLevels : HeapSide::kKeys;

  bool InLevels() const { return kLeveled && side_ == HeapSide::kLevels; }

  uint64_t LevelOf(const Key& key) const {
    if constexpr (kLeveled) return LevelOfKey(compare_, key);
    return kMaxLevels;
  }

  Node* PopOne() {
    Hook* const best = InLevels() ? lists_.PopBest() : keys_.PopBest();
    Left(best);
    return static_cast<Node*>(best);
  }

  void Left(Hook* hook) {
    hook->set_unlinked();
    if (--size_ == 0) side_ = kFirst;
  }

  // The nodes of the inbox, newest first; null if there are none. The one place
  // that reads it: the model checker weakens each order of it
  // (heap_orders_test).
  Hook* TakeInbox() {
    if (inbox_.load(std::memory_order_seq_cst) == nullptr) return nullptr;
    return inbox_.exchange(nullptr, std::memory_order_acquire);
  }

  // To the levels they have, or to pending_, oldest first.
  void Sort(Hook* newest) {
    Hook* oldest = nullptr;
    if (InLevels()) {
      oldest = TakeToLists(newest);
      if (oldest != nullptr) ListsToPending();
    } else {
      while (newest != nullptr) {  // Turns the list round.
        Hook* const hook = newest;
        newest = hook->next_;
        hook->next_ = oldest;
        oldest = hook;
      }
    }
    if (pending_ == nullptr) {
      pending_ = oldest;
    } else {  // A level turned into pending_, or memory was short.
      Hook* last = pending_;
      while (last->next_ != nullptr) last = last->next_;
      last->next_ = oldest;
    }
  }

  // From the newest to the oldest, so that each level's chain grows at its
  // front and no node is touched twice. Returns the chain, oldest first, of the
  // nodes that have no level.
  Hook* TakeToLists(Hook* newest) {
    Hook* first[kMaxLevels];
    Hook* last[kMaxLevels];
    uint64_t taken = 0;  // Bitmap of levels.
    Hook* others = nullptr;
    while (newest != nullptr) {
      Hook* const hook = newest;
      newest = hook->next_;
      const uint64_t to = LevelOf(hook->key());
      if (to >= kMaxLevels) {
        hook->next_ = others;
        others = hook;
        continue;
      }
      ++size_;
      if ((taken >> to & 1) == 0) {
        taken |= uint64_t{1} << to;
        last[to] = hook;
      } else {
        hook->next_ = first[to];
        first[to]->place_ = reinterpret_cast<uintptr_t>(hook);
      }
      first[to] = hook;
    }
    for (; taken != 0; taken &= taken - 1) {
      const int to = std::countr_zero(taken);
      lists_.Splice(to, first[to], last[to]);
    }
    return others;
  }

  // Chains the nodes of all levels, in order. Nothing is pending.
  void ListsToPending() {
    Hook* last = nullptr;
    for (; !lists_.empty(); --size_) {
      Hook* const hook = lists_.PopBest();
      if (last == nullptr) {
        pending_ = hook;
      } else {
        last->next_ = hook;
      }
      last = hook;
    }
    if (last != nullptr) last->next_ = nullptr;
  }

  // If memory is short, it throws, and the rest stays pending.
  void PendingToKeys() {
    while (pending_ != nullptr) OneToKeys();
  }

  void OneToKeys() {
    side_ = HeapSide::kKeys;
    Hook* const hook = pending_;
    Hook* const next = hook->next_;
    keys_.Push(hook);
    ++size_;
    pending_ = next;
  }

  void TurnOne() {
    Hook* const hook = turning_;
    turning_ = hook->next_;
    hook->next_ = pending_;
    pending_ = hook;
  }

  alignas(64) typename Threads::template Atomic<Hook*> inbox_{
      nullptr};  // All threads', newest first.

  // The owner's. One of the sides is empty, and between two calls pending_, but
  // for DrainSome's.
  alignas(64) Hook* pending_ = nullptr;  // To go to keys_, oldest first.
  Hook* turning_ = nullptr;  // To become that (DrainSome), newest first.
  size_t size_ = 0;          // Of the two sides.
  HeapSide side_ = kFirst;
  [[no_unique_address]] Compare compare_;
  LevelLists<Hook, kLeveled ? kMaxLevels : 1> lists_;
  KeyArray<Key, Compare, Hook> keys_;
};

}  // namespace muster

#endif  // MUSTER_HEAP_OWNED_HEAP_H_
