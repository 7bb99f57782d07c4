// Counts allocations, and lets them fail.

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <new>

#include "gtest/gtest.h"
#include "muster/priority_heap.h"

namespace {

thread_local size_t allocations = 0;
thread_local bool fail = false;

}  // namespace

// Not inlined, or the compiler takes malloc and free for a mismatch.
[[gnu::noinline]] void* operator new(size_t size) {
  if (fail) throw std::bad_alloc();
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace muster {
namespace {

TEST(PriorityHeapAllocationTest, PushNeverAllocates) {
  std::deque<HeapNode<int>> nodes(1000);
  const size_t before = allocations;
  PriorityHeap<int> heap;
  for (HeapNode<int>& node : nodes) heap.Push(&node);
  EXPECT_EQ(allocations, before);
}

TEST(PriorityHeapAllocationTest, NothingAllocatesWithinTheReserve) {
  std::deque<HeapNode<int>> nodes(1000);
  PriorityHeap<int> heap;
  heap.Reserve(nodes.size());
  const size_t before = allocations;
  for (int round = 0; round < 3; ++round) {
    for (HeapNode<int>& node : nodes) heap.Push(&node);
    EXPECT_TRUE(heap.Reprioritize(&nodes[500], -1));
    EXPECT_TRUE(heap.Erase(&nodes[700]));
    while (heap.PopBest() != nullptr) {
    }
  }
  EXPECT_EQ(allocations, before);
}

TEST(PriorityHeapAllocationTest, AFailedAllocationLosesNothing) {
  std::deque<HeapNode<int>> nodes(100);
  PriorityHeap<int> heap;
  size_t next = 0;
  for (; next < 5; ++next) heap.Push(&nodes[next]);
  heap.Reserve(8);
  for (; next < 20; ++next) heap.Push(&nodes[next]);
  fail = true;
  EXPECT_THROW(heap.PopBest(), std::bad_alloc);
  for (; next < 40; ++next) heap.Push(&nodes[next]);
  EXPECT_THROW(heap.Erase(&nodes[30]), std::bad_alloc);
  EXPECT_FALSE(heap.empty());
  for (; next < 100; ++next) heap.Push(&nodes[next]);
  EXPECT_THROW(heap.Drain(), std::bad_alloc);
  fail = false;
  EXPECT_EQ(heap.size(), 100u);
  for (HeapNode<int>& node : nodes) ASSERT_EQ(heap.PopBest(), &node);
}

}  // namespace
}  // namespace muster
