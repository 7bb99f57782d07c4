// Counts allocations, and lets them fail.

#include <cstddef>
#include <deque>
#include <new>

#include "gtest/gtest.h"
#include "muster/heap/priority_heap.h"
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

TEST(PriorityHeapAllocationTest, LevelsNeverAllocate) {
  std::deque<HeapNode<int>> nodes(1000);
  PriorityHeap<int> heap;
  const size_t before = test::Allocations();
  for (HeapNode<int>& node : nodes) heap.Push(&node);
  EXPECT_TRUE(heap.Reprioritize(&nodes[500], 7));
  EXPECT_TRUE(heap.Erase(&nodes[700]));
  while (heap.PopBest() != nullptr) {
  }
  EXPECT_EQ(test::Allocations(), before);
}

TEST(PriorityHeapAllocationTest, NothingAllocatesWithinTheReserve) {
  std::deque<HeapNode<int>> nodes;
  for (int i = 0; i < 1000; ++i) nodes.emplace_back(100 + i);
  PriorityHeap<int> heap;
  heap.Reserve(nodes.size());
  const size_t before = test::Allocations();
  for (int round = 0; round < 3; ++round) {
    for (HeapNode<int>& node : nodes) {
      heap.Push(&node);
      EXPECT_TRUE(heap.Reprioritize(&node, node.key() + 1));  // In the inbox.
    }
    for (int i = 0; i < 1000; ++i) {
      EXPECT_TRUE(heap.Reprioritize(&nodes[i], 5000 - i));
    }
    for (int i = 0; i < 1000; i += 2) EXPECT_TRUE(heap.Erase(&nodes[i]));
    while (heap.PopBest() != nullptr) {
    }
  }
  EXPECT_EQ(test::Allocations(), before);
}

TEST(PriorityHeapAllocationTest, AFailedAllocationLosesNothing) {
  std::deque<HeapNode<int>> nodes;
  for (int i = 0; i < 400; ++i) nodes.emplace_back(i < 3 ? 7 : 100);
  PriorityHeap<int> heap;
  size_t next = 0;
  for (; next < 3; ++next) heap.Push(&nodes[next]);
  EXPECT_EQ(heap.side(), HeapSide::kLevels);
  for (; next < 60; ++next) heap.Push(&nodes[next]);
  test::FailAllocations(true);  // From one side to the other: half done.
  EXPECT_THROW(heap.PopBest(), std::bad_alloc);
  for (; next < 120; ++next) heap.Push(&nodes[next]);
  EXPECT_THROW(heap.Erase(&nodes[30]), std::bad_alloc);
  EXPECT_THROW(heap.empty(), std::bad_alloc);
  test::FailAllocations(false);
  EXPECT_EQ(heap.size(), 120u);
  for (; next < 400; ++next) heap.Push(&nodes[next]);
  test::FailAllocations(true);
  EXPECT_THROW(heap.Drain(), std::bad_alloc);
  test::FailAllocations(false);
  for (HeapNode<int>& node : nodes) ASSERT_EQ(heap.PopBest(), &node);
  EXPECT_TRUE(heap.empty());
}

}  // namespace
}  // namespace muster
