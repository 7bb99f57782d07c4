// The two orders of a heap's private side, and the node that hangs in either:
//   LevelLists   up to 64 levels: a FIFO list each, and a bitmap. O(1).
//   KeyArray     any keys: a 4-ary heap with the keys in the array. O(log n).
// Details of owned_heap.h: not synchronized, and without checks.

#ifndef MUSTER_HEAP_SIDES_H_
#define MUSTER_HEAP_SIDES_H_

#include <algorithm>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/heap/threads.h"

namespace muster {

// What is queued: derive from it. A node is in at most one heap at a time, and
// must stay where it is in memory while it is in one.
template <class Key, class Threads = ManyThreads>
class HeapNode {
 public:
  HeapNode() = default;
  explicit HeapNode(Key key) : key_(std::move(key)) {}
  HeapNode(const HeapNode&) = delete;
  HeapNode& operator=(const HeapNode&) = delete;

  // Not while another thread may reprioritize the node.
  const Key& key() const { return key_; }
  // Only while the node is in no heap; else see Reprioritize.
  void set_key(Key key) {
    assert(!linked());
    key_ = std::move(key);
  }

 private:
  template <class K, class C, class N, class T>
  friend class OwnedHeap;
  template <class Node, size_t kLevels>
  friend class LevelLists;
  template <class K, class C, class Node>
  friend class KeyArray;

  bool linked() const { return next_ != this; }
  void set_unlinked() { next_ = this; }

  template <class T>
  using Plain = typename Threads::template Plain<T>;

  Plain<Key> key_{Key()};
  // The node itself if it is in no heap. In the inbox the node pushed before,
  // in a level the one behind; else null.
  Plain<HeapNode*> next_{this};
  // In a level the address of the node before, but for the first; in a
  // KeyArray the node's cell.
  Plain<uintptr_t> place_{0};
};

// --- Which keys are levels --------------------------------------------------

inline constexpr uint64_t kMaxLevels = 64;

// The level of a key: 0 is the best; equal if and only if the keys are equal.
// From kMaxLevels on: none. A Compare of one's own has it as a member
// LevelOf(key); std::less and std::greater of an integer know it: 0 is the best
// of std::less, 63 of std::greater.
template <class Compare, class Key>
concept HasKeyLevels = requires(const Compare& compare, const Key& key) {
  { compare.LevelOf(key) } -> std::convertible_to<uint64_t>;
};
template <class Compare, class Key>
inline constexpr bool kLess = std::is_same_v<Compare, std::less<Key>> ||
                              std::is_same_v<Compare, std::less<>>;
template <class Compare, class Key>
inline constexpr bool kGreater = std::is_same_v<Compare, std::greater<Key>> ||
                                 std::is_same_v<Compare, std::greater<>>;
template <class Key>
inline constexpr bool kIsInteger =
    std::is_integral_v<Key> && sizeof(Key) <= sizeof(uint64_t);
template <class Compare, class Key>
inline constexpr bool kHasLevels =
    HasKeyLevels<Compare, Key> ||
    (kIsInteger<Key> && (kLess<Compare, Key> || kGreater<Compare, Key>));

template <class Key, class Compare>
uint64_t LevelOfKey(const Compare& compare, const Key& key) {
  if constexpr (HasKeyLevels<Compare, Key>) {
    return compare.LevelOf(key);
  } else if constexpr (kLess<Compare, Key>) {
    return static_cast<uint64_t>(key);  // A negative key: beyond the levels.
  } else {
    return kMaxLevels - 1 - static_cast<uint64_t>(key);
  }
}

inline void PrefetchForWrite([[maybe_unused]] const void* address) {
#if defined(__GNUC__)
  __builtin_prefetch(address, 1);
#endif
}

// --- LevelLists --------------------------------------------------------------

// kLevels: how many there may be.
template <class Node, size_t kLevels = kMaxLevels>
class LevelLists {  // NOLINT(*-member-init): see first_.
 public:
  bool empty() const { return bitmap_ == 0; }

  // The oldest node of the best level. Not if it is empty.
  Node* Best() const { return first_[BestLevel()]; }

  Node* PopBest() {
    const int best_level = BestLevel();
    Node* const best = first_[best_level];
    RemoveFirst(best_level, best);
    return best;
  }

  // Calls with each node, in order.
  template <class Function>
  void ForEach(Function function) const {
    for (uint64_t rest = bitmap_; rest != 0; rest &= rest - 1) {
      const Node* node = first_[std::countr_zero(rest)];
      for (; node != nullptr; node = node->next_) function(node);
    }
  }

  void Append(uint64_t to, Node* node) { Splice(to, node, node); }

  // Appends a chain by next_ of at least one node; the place_ of all but the
  // first is right.
  void Splice(uint64_t to, Node* first, Node* last) {
    last->next_ = nullptr;
    const uint64_t bit = uint64_t{1} << to;
    if ((bitmap_ & bit) == 0) {
      bitmap_ = bitmap_ | bit;
      first_[to] = first;
    } else {
      Node* const before = last_[to];
      before->next_ = first;
      first->place_ = reinterpret_cast<uintptr_t>(before);
    }
    last_[to] = last;
  }

  void Remove(uint64_t from, Node* node) {
    if (first_[from] == node) return RemoveFirst(from, node);
    const uintptr_t place = node->place_;
    Node* const before = reinterpret_cast<Node*>(place);
    Node* const next = node->next_;
    before->next_ = next;
    if (next != nullptr) {
      next->place_ = place;
    } else {
      last_[from] = before;
    }
  }

 private:
  int BestLevel() const {
    return std::countr_zero(static_cast<uint64_t>(bitmap_));
  }

  // Leaves the place_ of the next one, which is not read: its line, likely
  // far away by now, is fetched while the caller goes on.
  void RemoveFirst(uint64_t from, Node* node) {
    Node* const next = node->next_;
    first_[from] = next;
    PrefetchForWrite(next);
    if (next == nullptr) bitmap_ = bitmap_ & ~(uint64_t{1} << from);
  }

  typename Node::template Plain<uint64_t> bitmap_{0};  // Of nonempty levels.
  Node* first_[kLevels];  // Valid for nonempty levels only.
  Node* last_[kLevels];
};

// --- KeyArray ----------------------------------------------------------------

// So that the four children of an element lie in one cache line if an element
// takes 16 bytes: the first element goes to the end of a line.
template <class T>
struct ChildrenInLine {
  using value_type = T;
  static constexpr size_t kLine = 64;
  static constexpr size_t kShift = kLine - sizeof(T) % kLine;

  ChildrenInLine() = default;
  template <class U>
  ChildrenInLine(const ChildrenInLine<U>&) {}  // NOLINT(*-explicit-*)
  T* allocate(size_t n) {
    void* const line =
        ::operator new(n * sizeof(T) + kShift, std::align_val_t{Alignment()});
    return reinterpret_cast<T*>(static_cast<char*>(line) + kShift);
  }
  void deallocate(T* first, size_t) {
    ::operator delete(reinterpret_cast<char*>(first) - kShift,
                      std::align_val_t{Alignment()});
  }
  static constexpr size_t Alignment() { return std::max(kLine, alignof(T)); }
  friend bool operator==(const ChildrenInLine&, const ChildrenInLine&) {
    return true;
  }
};

// An element names its node by a cell of a table: to move elements touches no
// node, and a node that leaves before its turn just empties its cell. Such dead
// elements stay until they come up, or outnumber the others.
template <class Key, class Compare, class Node>
class KeyArray {
 public:
  explicit KeyArray(const Compare& compare) : compare_(compare) {}

  bool empty() const { return heap_.empty(); }
  Node* Best() const { return cells_[heap_[0].cell()].node; }

  // Room for so many nodes, whatever was removed before them.
  void Reserve(size_t nodes) {
    heap_.reserve(2 * nodes + kFewDead + 1);
    cells_.reserve(2 * nodes + kFewDead + 1);
  }

  // If it throws, nothing was done.
  void Push(Node* node) {
    Key key = node->key_;
    MakeRoom();
    Insert(std::move(key), node);
  }

  Node* PopBest() {
    Node* const best = Best();
    RemoveFront();
    // The next node, and the cells of those that may come after it, likely far
    // away, are fetched while the caller goes on.
    if (heap_.empty()) return best;
    PrefetchForWrite(Best());
    const size_t end = std::min(kArity + 1, heap_.size());
    for (size_t i = 1; i < end; ++i) PrefetchForWrite(&cells_[heap_[i].cell()]);
    return best;
  }

  void Remove(Node* node) {
    const uintptr_t cell = node->place_;
    if (heap_[0].cell() == cell) return RemoveFront();
    cells_[cell].node = nullptr;
    ++dead_;
    if (dead_ > heap_.size() / 2 + kFewDead) Rebuild();
  }

  // Behind all with an equal key. If it throws, nothing was done.
  void Move(Node* node, Key key) {
    Key copy = key;
    MakeRoom();
    Remove(node);
    node->key_ = std::move(key);
    Insert(std::move(copy), node);
  }

  // Calls with each node, in no order.
  template <class Function>
  void ForEach(Function function) const {
    for (const Element& e : heap_) {
      if (cells_[e.cell()].node != nullptr) function(cells_[e.cell()].node);
    }
  }

  // Calls with each node, in order, and is empty.
  template <class Function>
  void PopAll(Function function) {
    Rebuild();
    for (const Element& e : heap_) function(cells_[e.cell()].node);
    heap_.clear();
    cells_.clear();
    free_cell_ = kNoCell;
    next_seq_ = 0;
  }

 private:
  friend class PriorityHeapPeer;  // The tests': moves next_seq_ to its end.

  struct Element {
    Key key;
    uint64_t place;  // Above, the order among equals; below, the cell.

    uint32_t cell() const { return static_cast<uint32_t>(place); }
    static uint64_t Place(uint32_t seq, uint64_t cell) {
      return uint64_t{seq} << 32 | cell;
    }
  };
  union Cell {
    Node* node;        // Null: it left, the element is dead.
    size_t next_free;  // Of a cell that no element names.
  };
  static constexpr size_t kArity = 4;  // Half the levels of a binary heap.
  static constexpr size_t kNoCell = SIZE_MAX;
  static constexpr size_t kFewDead = 32;  // Are not worth a Rebuild.

  // Without a branch, which no CPU would predict; integers in two instructions.
  bool Before(const Element& a, const Element& b) const {
#if defined(__SIZEOF_INT128__)
    if constexpr (kIsInteger<Key> && kLess<Compare, Key>) {
      return Wide(a) < Wide(b);
    } else if constexpr (kIsInteger<Key> && kGreater<Compare, Key>) {
      return Wide({b.key, a.place}) < Wide({a.key, b.place});
    }
#endif
    const bool better = compare_(a.key, b.key), worse = compare_(b.key, a.key);
    return better | (!worse & (a.place < b.place));
  }

#if defined(__SIZEOF_INT128__)
  __extension__ typedef __int128 Signed;
  __extension__ typedef unsigned __int128 Unsigned;
  static auto Wide(const Element& e) {
    using Number = std::conditional_t<std::is_signed_v<Key>, Signed, Unsigned>;
    return static_cast<Number>(static_cast<Number>(e.key) << 64 | e.place);
  }
#endif

  // For one more element.
  void MakeRoom() {
    if (next_seq_ == UINT32_MAX) Rebuild();
    if (heap_.size() == heap_.capacity()) heap_.reserve(2 * heap_.size() + 16);
    if (free_cell_ == kNoCell && cells_.size() == cells_.capacity()) {
      cells_.reserve(2 * cells_.size() + 16);
    }
  }

  void Insert(Key key, Node* node) {
    size_t cell = free_cell_;
    if (cell == kNoCell) {
      cell = cells_.size();
      cells_.emplace_back();
    } else {
      free_cell_ = cells_[cell].next_free;
    }
    cells_[cell].node = node;
    node->place_ = cell;
    node->next_ = nullptr;
    heap_.push_back({std::move(key), Element::Place(next_seq_++, cell)});
    Rise(heap_.size() - 1, std::move(heap_.back()));
  }

  void FreeCell(size_t cell) {
    cells_[cell].next_free = free_cell_;
    free_cell_ = cell;
  }

  // Takes out the first element, and dead ones that come up.
  void RemoveFront() {
    for (;;) {
      FreeCell(heap_[0].cell());
      Element last = std::move(heap_.back());
      heap_.pop_back();
      if (heap_.empty()) {
        next_seq_ = 0;
        return;
      }
      // `last` is among the worst: this compares less than a search from above.
      Rise(FallToLeaf(0), std::move(last));
      if (dead_ == 0 || cells_[heap_[0].cell()].node != nullptr) return;
      --dead_;
    }
  }

  // Drops what is dead and numbers the rest anew: a sorted array is a heap.
  void Rebuild() {
    std::erase_if(heap_, [this](const Element& e) {
      const bool dead = cells_[e.cell()].node == nullptr;
      if (dead) FreeCell(e.cell());
      return dead;
    });
    dead_ = 0;
    std::sort(
        heap_.begin(), heap_.end(),
        [this](const Element& a, const Element& b) { return Before(a, b); });
    next_seq_ = 0;
    for (Element& e : heap_) e.place = Element::Place(next_seq_++, e.cell());
  }

  // Moves the hole at `slot` up to where `element` belongs, and fills it.
  void Rise(size_t slot, Element element) {
    for (size_t parent; slot > 0; slot = parent) {
      parent = (slot - 1) / kArity;
      if (!Before(element, heap_[parent])) break;
      heap_[slot] = std::move(heap_[parent]);
    }
    heap_[slot] = std::move(element);
  }

  // Moves the hole at `slot` down, best child by best child; returns its leaf.
  size_t FallToLeaf(size_t slot) {
    size_t child = slot * kArity + 1;
    for (; child + kArity <= heap_.size(); child = slot * kArity + 1) {
      // All 16 grandchildren, which lie side by side: which four of them come
      // next is not known before their parents have been compared.
      const Element* const below = heap_.data() + child * kArity + 1;
      if (child * kArity + 1 + kArity * kArity <= heap_.size()) {
        for (size_t i = 0; i < kArity; ++i) {
          PrefetchForWrite(below + i * kArity);
        }
      }
      const size_t best = BestOf(child);
      heap_[slot] = std::move(heap_[best]);
      slot = best;
    }
    if (child >= heap_.size()) return slot;
    size_t best = child;
    while (++child < heap_.size()) {
      best = Before(heap_[child], heap_[best]) ? child : best;
    }
    heap_[slot] = std::move(heap_[best]);
    return best;
  }

  // Of four siblings. In arithmetic, as no CPU would predict the branches.
  size_t BestOf(size_t child) const {
    const size_t a = child + Before(heap_[child + 1], heap_[child]);
    const size_t b = child + 2 + Before(heap_[child + 3], heap_[child + 2]);
    return a + (b - a) * Before(heap_[b], heap_[a]);
  }

  // Each element is Before its children; the first is never dead.
  std::vector<Element, ChildrenInLine<Element>> heap_;
  std::vector<Cell> cells_;
  size_t free_cell_ = kNoCell;
  size_t dead_ = 0;
  uint32_t next_seq_ = 0;
  [[no_unique_address]] Compare compare_;
};

}  // namespace muster

#endif  // MUSTER_HEAP_SIDES_H_
