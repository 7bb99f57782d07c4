// A priority heap whose every call is written down, for Linearizable.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "muster/heap/priority_heap.h"
#include "test/queue/linearizability.h"

namespace muster::test {

// Clock: a function that gives each time once, to any thread.
template <class Threads, class Clock>
class HeapRecorder {
 public:
  struct Job : HeapNode<int, Threads> {
    Job(int number, int key) : HeapNode<int, Threads>(key), id(number) {}
    int id;
  };
  using Heap = PriorityHeap<int, std::less<int>, Job, Threads>;

  // One for each thread.
  HeapRecorder(Heap* heap, Clock clock) : heap_(heap), clock_(clock) {}

  const std::vector<HeapCall>& calls() const { return calls_; }

  void Push(Job* job) {
    Begin({.kind = HeapCall::kPush,
           .node = job->id,
           .key = job->key(),
           .end = HeapCall::kNever});
    heap_->Push(job);
    End();
  }
  Job* PopBest() {
    Begin({.kind = HeapCall::kPop});
    return Took(heap_->PopBest());
  }
  Job* PeekBest() {
    Begin({.kind = HeapCall::kPeek});
    return Took(heap_->PeekBest());
  }
  size_t PopBest(std::span<Job*> out) {
    Begin({.kind = HeapCall::kPopMany, .most = out.size()});
    const size_t count = heap_->PopBest(out);
    for (size_t i = 0; i < count; ++i) {
      calls_.back().nodes.push_back(out[i]->id);
    }
    End();
    return count;
  }
  bool Erase(Job* job) {
    Begin({.kind = HeapCall::kErase, .node = job->id});
    return Found(heap_->Erase(job));
  }
  bool Reprioritize(Job* job, int key) {
    Begin({.kind = HeapCall::kReprioritize, .node = job->id, .key = key});
    return Found(heap_->Reprioritize(job, key));
  }
  size_t size() {
    Begin({.kind = HeapCall::kSize});
    const size_t size = heap_->size();
    calls_.back().size = size;
    End();
    return size;
  }

 private:
  void Begin(HeapCall call) {
    call.start = clock_();
    calls_.push_back(std::move(call));
  }
  void End() { calls_.back().end = clock_(); }
  Job* Took(Job* job) {
    if (job != nullptr) calls_.back().nodes.push_back(job->id);
    End();
    return job;
  }
  bool Found(bool found) {
    calls_.back().found = found;
    End();
    return found;
  }

  Heap* heap_;
  Clock clock_;
  std::vector<HeapCall> calls_;
};

}  // namespace muster::test
