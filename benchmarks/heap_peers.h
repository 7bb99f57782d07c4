// PriorityHeap and the structures that one would use instead, behind one face:
//   Job                  what is queued, of a type of its own
//   Push, Pop            pop returns null if there is nothing
//   Erase, Reprioritize  of a job that is known to wait; levels only
//   name()
// kLevels: ranks are levels, equals leave first in, first out; else they are
// keys of 62 bits, and the peers may mix up equals.

#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/synchronization/mutex.h"
#include "boost/heap/d_ary_heap.hpp"
#include "muster/heap/priority_heap.h"

#if defined(MUSTER_BENCHMARK_TBB)
#include <oneapi/tbb/concurrent_priority_queue.h>
#endif
#if defined(MUSTER_BENCHMARK_CDS)
#include <cds/container/fcpriority_queue.h>
#include <cds/init.h>
#endif

namespace muster::benchmarks {

inline constexpr uint32_t kLevelCount = 16;

// Every job has a cache line of its own, whatever a structure adds to it.
inline constexpr size_t kLine = 64;

struct Payload {
  uint64_t value = 0;
  bool waiting = false;  // For the taker alone.
};

// --- Muster ------------------------------------------------------------------

template <bool kLevels>
struct Muster {
  using Key = std::conditional_t<kLevels, uint32_t, uint64_t>;
  struct alignas(kLine) Job : HeapNode<Key>, Payload {};
  static const char* name() { return "muster"; }

  void Push(Job* job, uint64_t rank) {
    job->set_key(static_cast<Key>(rank));
    heap.Push(job);
  }
  void Drain() { heap.Drain(); }
  Job* Pop() { return heap.PopBest(); }
  void Erase(Job* job) { heap.Erase(job); }
  void Reprioritize(Job* job, uint64_t rank) {
    heap.Reprioritize(job, static_cast<Key>(rank));
  }

  PriorityHeap<Key, std::less<Key>, Job> heap;
};

// The taker stays inside, as a scheduler does for a pass. Made by the taker.
struct MusterSession {
  using Heap = decltype(Muster<true>::heap);
  using Job = Muster<true>::Job;
  static const char* name() { return "muster"; }

  void Push(Job* job, uint64_t rank) {
    job->set_key(static_cast<uint32_t>(rank));
    heap.Push(job);
  }
  void Drain() { session->Drain(); }
  Job* Pop() { return session->PopBest(); }
  void Erase(Job* job) { session->Erase(job); }
  void Reprioritize(Job* job, uint64_t rank) {
    session->Reprioritize(job, static_cast<uint32_t>(rank));
  }

  Heap heap;
  Heap::Session session{&heap};
};

// Each call by itself, as if there were several takers.
struct MusterCalls : Muster<true> {
  static const char* name() { return "muster_calls"; }
};

// --- Lists -------------------------------------------------------------------

// One intrusive list for each level, and a bitmap of those that hold anything.
struct PlainLists {
  struct alignas(kLine) Job : Payload {
    Job* next = nullptr;
    Job* prev = nullptr;
    uint32_t rank = 0;
  };
  static const char* name() { return "plain_lists"; }

  PlainLists() {
    for (Job& end : ends) end.next = end.prev = &end;
  }
  void Push(Job* job, uint64_t rank) {
    Job* const end = &ends[rank];
    job->rank = static_cast<uint32_t>(rank);
    job->next = end;
    job->prev = end->prev;
    end->prev->next = job;
    end->prev = job;
    bitmap |= uint64_t{1} << rank;
  }
  Job* Pop() {
    if (bitmap == 0) return nullptr;
    Job* const job = ends[std::countr_zero(bitmap)].next;
    Erase(job);
    return job;
  }
  void Erase(Job* job) {
    job->prev->next = job->next;
    job->next->prev = job->prev;
    if (ends[job->rank].next == &ends[job->rank]) {
      bitmap &= ~(uint64_t{1} << job->rank);
    }
  }
  void Reprioritize(Job* job, uint64_t rank) {
    if (job->rank == rank) return;
    Erase(job);
    Push(job, rank);
  }

  uint64_t bitmap = 0;
  std::array<Job, kLevelCount> ends;
};

// A sequential structure behind one lock.
template <class Sequential, class Mutex, class Lock>
struct Locked {
  using Job = typename Sequential::Job;

  void Push(Job* job, uint64_t rank) {
    const Lock lock(Guard());
    inside.Push(job, rank);
  }
  Job* Pop() {
    const Lock lock(Guard());
    return inside.Pop();
  }
  void Erase(Job* job) {
    const Lock lock(Guard());
    inside.Erase(job);
  }
  void Reprioritize(Job* job, uint64_t rank) {
    const Lock lock(Guard());
    inside.Reprioritize(job, rank);
  }
  auto Guard() {
    if constexpr (std::is_same_v<Mutex, absl::Mutex>) {
      return &mutex;
    } else {
      return std::ref(mutex);
    }
  }

  Mutex mutex;
  Sequential inside;
};
struct StdLock {
  explicit StdLock(std::mutex& m) : lock(m) {}
  std::lock_guard<std::mutex> lock;
};

struct MutexLists : Locked<PlainLists, std::mutex, StdLock> {
  static const char* name() { return "mutex_lists"; }
};

// --- Heaps that cannot erase -------------------------------------------------

// In levels a job has a ticket (level, sequence); what was erased or moved
// stays until it comes up, known by a ticket that is no longer its job's.
struct alignas(kLine) Ticketed : Payload {
  uint64_t ticket = 0;
};
using Entry = std::pair<uint64_t, Ticketed*>;  // Ticket or key, job.

template <bool kLevels>
uint64_t TicketFor(Ticketed* job, uint64_t rank, uint64_t sequence) {
  job->ticket = kLevels ? rank << 56 | sequence : rank;
  return job->ticket;
}
template <bool kLevels>
bool IsValid(const Entry& entry) {
  if constexpr (!kLevels) return true;
  return entry.second->ticket == entry.first;
}

template <bool kLevels>
struct StdHeap {
  using Job = Ticketed;
  void Push(Job* job, uint64_t rank) {
    const uint64_t ticket = TicketFor<kLevels>(job, rank, ++sequence);
    heap.emplace(ticket, job);
  }
  Job* Pop() {
    while (!heap.empty()) {
      const Entry entry = heap.top();
      heap.pop();
      if (IsValid<kLevels>(entry)) return entry.second;
    }
    return nullptr;
  }
  void Erase(Job* job) { job->ticket = 0; }
  void Reprioritize(Job* job, uint64_t rank) {
    if (job->ticket >> 56 != rank) Push(job, rank);
  }

  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  uint64_t sequence = 0;
};
template <bool kLevels>
struct MutexHeap : Locked<StdHeap<kLevels>, std::mutex, StdLock> {
  static const char* name() { return "mutex_heap"; }
};

#if defined(MUSTER_BENCHMARK_TBB)
template <bool kLevels>
struct Tbb {
  using Job = Ticketed;
  static const char* name() { return "tbb"; }
  void Push(Job* job, uint64_t rank) {
    const uint64_t number = kLevels ? ++sequence : 0;
    const uint64_t ticket = TicketFor<kLevels>(job, rank, number);
    heap.emplace(ticket, job);
  }
  Job* Pop() {
    Entry entry;
    while (heap.try_pop(entry)) {
      if (IsValid<kLevels>(entry)) return entry.second;
    }
    return nullptr;
  }
  void Erase(Job* job) { job->ticket = 0; }
  void Reprioritize(Job* job, uint64_t rank) {
    if (job->ticket >> 56 != rank) Push(job, rank);
  }

  tbb::concurrent_priority_queue<Entry, std::greater<>> heap;
  std::atomic<uint64_t> sequence = 0;
};
#endif

#if defined(MUSTER_BENCHMARK_CDS)
template <bool kLevels>
struct FlatCombining {
  using Job = Ticketed;
  using Heap = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;
  static const char* name() { return "flat_combining"; }
  void Push(Job* job, uint64_t rank) {
    const uint64_t number = kLevels ? ++sequence : 0;
    heap.push({TicketFor<kLevels>(job, rank, number), job});
  }
  Job* Pop() {
    Entry entry;
    while (heap.pop(entry)) {
      if (IsValid<kLevels>(entry)) return entry.second;
    }
    return nullptr;
  }
  void Erase(Job* job) { job->ticket = 0; }
  void Reprioritize(Job* job, uint64_t rank) {
    if (job->ticket >> 56 != rank) Push(job, rank);
  }

  cds::container::FCPriorityQueue<Entry, Heap> heap;
  std::atomic<uint64_t> sequence = 0;
};
#endif

// --- Heaps and trees that can ------------------------------------------------

template <bool kLevels>
struct Btree {
  using Job = Ticketed;
  void Push(Job* job, uint64_t rank) {
    const uint64_t ticket = TicketFor<kLevels>(job, rank, ++sequence);
    tree.insert({ticket, job});
  }
  Job* Pop() {
    if (tree.empty()) return nullptr;
    Job* const job = tree.begin()->second;
    tree.erase(tree.begin());
    return job;
  }
  void Erase(Job* job) { tree.erase({job->ticket, job}); }
  void Reprioritize(Job* job, uint64_t rank) {
    if (job->ticket >> 56 == rank) return;
    Erase(job);
    Push(job, rank);
  }

  absl::btree_set<Entry> tree;
  uint64_t sequence = 0;
};
struct AbslLock {
  explicit AbslLock(absl::Mutex* m) : lock(m) {}
  absl::MutexLock lock;
};
template <bool kLevels>
struct AbslBtree : Locked<Btree<kLevels>, absl::Mutex, AbslLock> {
  static const char* name() { return "absl_btree"; }
};

// With handles in levels, where jobs are erased; without where they are not.
template <bool kLevels>
struct DaryHeap {
  using Heap = boost::heap::d_ary_heap<Entry, boost::heap::arity<4>,
                                       boost::heap::compare<std::greater<>>,
                                       boost::heap::mutable_<kLevels>>;
  struct Job : Ticketed {
    std::conditional_t<kLevels, typename Heap::handle_type, char> handle{};
  };
  void Push(Job* job, uint64_t rank) {
    const Entry entry{TicketFor<kLevels>(job, rank, ++sequence), job};
    if constexpr (kLevels) {
      job->handle = heap.push(entry);
    } else {
      heap.push(entry);
    }
  }
  Job* Pop() {
    if (heap.empty()) return nullptr;
    Job* const job = static_cast<Job*>(heap.top().second);
    heap.pop();
    return job;
  }
  void Erase(Job* job) { heap.erase(job->handle); }
  void Reprioritize(Job* job, uint64_t rank) {
    if (job->ticket >> 56 == rank) return;
    heap.update(job->handle, {TicketFor<kLevels>(job, rank, ++sequence), job});
  }

  Heap heap;
  uint64_t sequence = 0;
};
template <bool kLevels>
struct BoostHeap : Locked<DaryHeap<kLevels>, std::mutex, StdLock> {
  static const char* name() { return "boost_heap"; }
};

// What a thread needs before it uses any of them, and at its end.
struct Visitor {
#if defined(MUSTER_BENCHMARK_CDS)
  Visitor() { cds::threading::Manager::attachThread(); }
  ~Visitor() { cds::threading::Manager::detachThread(); }
#else
  Visitor() {}
#endif
};

}  // namespace muster::benchmarks
