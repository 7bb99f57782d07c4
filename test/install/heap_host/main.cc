// The heap's headers come from the package, and nothing else: two threads push,
// one takes in order.
#include <array>
#include <cstdio>
#include <thread>

#include "muster/heap/priority_heap.h"

int main() {
  using Node = muster::HeapNode<int>;
  std::array<Node, 3> nodes = {Node(2), Node(1), Node(3)};
  muster::PriorityHeap<int> heap;
  std::thread other([&] { heap.Push(&nodes[0]); });
  heap.Push(&nodes[1]);
  heap.Push(&nodes[2]);
  other.join();
  for (const int key : {1, 2, 3}) {
    const Node* best = heap.PopBest();
    if (best == nullptr || best->key() != key) {
      std::fprintf(stderr, "heap_host: %d is not the best\n", key);
      return 1;
    }
  }
  return heap.PopBest() == nullptr ? 0 : 1;
}
