// Counts allocations, and lets them fail.

#include <cstddef>
#include <deque>
#include <new>

#include "gtest/gtest.h"
#include "muster/priority_heap.h"
#include "test/allocation_count.h"

namespace muster {
namespace {

TEST(PriorityHeapAllocationTest, PushNeverAllocates) {
  std::deque<HeapNode<int>> nodes(1000);
  const size_t before = test::Allocations();
  PriorityHeap<int> heap;
  for (HeapNode<int>& node : nodes) heap.Push(&node);
  EXPECT_EQ(test::Allocations(), before);
}

TEST(PriorityHeapAllocationTest, NothingAllocatesWithinTheReserve) {
  std::deque<HeapNode<int>> nodes(1000);
  PriorityHeap<int> heap;
  heap.Reserve(nodes.size());
  const size_t before = test::Allocations();
  for (int round = 0; round < 3; ++round) {
    for (HeapNode<int>& node : nodes) heap.Push(&node);
    EXPECT_TRUE(heap.Reprioritize(&nodes[500], -1));
    EXPECT_TRUE(heap.Erase(&nodes[700]));
    while (heap.PopBest() != nullptr) {
    }
  }
  EXPECT_EQ(test::Allocations(), before);
}

TEST(PriorityHeapAllocationTest, AFailedAllocationLosesNothing) {
  std::deque<HeapNode<int>> nodes(100);
  PriorityHeap<int> heap;
  size_t next = 0;
  for (; next < 5; ++next) heap.Push(&nodes[next]);
  heap.Reserve(8);
  for (; next < 20; ++next) heap.Push(&nodes[next]);
  test::FailAllocations(true);
  EXPECT_THROW(heap.PopBest(), std::bad_alloc);
  for (; next < 40; ++next) heap.Push(&nodes[next]);
  EXPECT_THROW(heap.Erase(&nodes[30]), std::bad_alloc);
  EXPECT_FALSE(heap.empty());
  for (; next < 100; ++next) heap.Push(&nodes[next]);
  EXPECT_THROW(heap.Drain(), std::bad_alloc);
  test::FailAllocations(false);
  EXPECT_EQ(heap.size(), 100u);
  for (HeapNode<int>& node : nodes) ASSERT_EQ(heap.PopBest(), &node);
}

}  // namespace
}  // namespace muster
