// Many threads at once. Each test is meant to run under ThreadSanitizer and
// AddressSanitizer too.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "muster/heap/priority_heap.h"

namespace muster {
namespace {

constexpr int kProducers = 8;
constexpr int kPerProducer = 20'000;

struct Job : HeapNode<int> {
  Job(int key, int by, int number)
      : HeapNode(key), producer(by), index(number) {}
  int producer;
  int index;
};
using Heap = PriorityHeap<int, std::less<int>, Job>;

// Runs body(p) on kProducers threads that start together; joins at the end.
template <class Body>
std::vector<std::jthread> StartProducers(std::atomic<bool>* go, Body body) {
  std::vector<std::jthread> threads;
  for (int p = 0; p < kProducers; ++p) {
    threads.emplace_back([go, body, p] {
      go->wait(false, std::memory_order_acquire);
      body(p);
    });
  }
  return threads;
}

void Go(std::atomic<bool>* go) {
  go->store(true, std::memory_order_release);
  go->notify_all();
}

TEST(PriorityHeapThreadsTest, NothingIsLostOrDoubledAndEqualsKeepTheirOrder) {
  constexpr int kKeys = 4;
  Heap heap;
  std::atomic<bool> go = false;
  std::array<std::deque<Job>, kProducers> jobs;
  for (int p = 0; p < kProducers; ++p) {
    std::mt19937 random(p);
    for (int i = 0; i < kPerProducer; ++i) {
      jobs[p].emplace_back(static_cast<int>(random() % kKeys), p, i);
    }
  }
  auto producers = StartProducers(&go, [&](int p) {
    for (Job& job : jobs[p]) heap.Push(&job);
  });
  Go(&go);
  std::array<std::array<int, kKeys>, kProducers> last{};
  for (auto& each : last) each.fill(-1);
  std::array<std::vector<bool>, kProducers> seen;
  for (auto& each : seen) each.resize(kPerProducer);
  for (int popped = 0; popped < kProducers * kPerProducer;) {
    const Job* job = heap.PopBest();
    if (job == nullptr) {
      std::this_thread::yield();
      continue;
    }
    ++popped;
    ASSERT_FALSE(seen[job->producer][job->index]);
    seen[job->producer][job->index] = true;
    ASSERT_LT(last[job->producer][job->key()], job->index);
    last[job->producer][job->key()] = job->index;
  }
  EXPECT_EQ(heap.PopBest(), nullptr);
}

// Producers push ever better nodes and then say so: what the owner knows to be
// pushed bounds what it may be given.
TEST(PriorityHeapThreadsTest, APushThatHappenedBeforeIsNeverOvertaken) {
  Heap heap;
  std::atomic<bool> go = false;
  std::array<std::deque<Job>, kProducers> jobs;
  struct alignas(64) Counter {
    std::atomic<int> value = 0;
  };
  std::array<Counter, kProducers> pushed;
  for (int p = 0; p < kProducers; ++p) {
    for (int i = 0; i < kPerProducer; ++i) jobs[p].emplace_back(-i, p, i);
  }
  auto producers = StartProducers(&go, [&](int p) {
    for (Job& job : jobs[p]) {
      heap.Push(&job);
      pushed[p].value.store(job.index + 1, std::memory_order_release);
    }
  });
  Go(&go);
  std::array<int, kProducers> best_popped;
  best_popped.fill(-1);
  for (int popped = 0; popped < kProducers * kPerProducer;) {
    int bound = 1;  // Nothing known to be waiting.
    for (int p = 0; p < kProducers; ++p) {
      const int latest = pushed[p].value.load(std::memory_order_acquire) - 1;
      if (latest > best_popped[p]) bound = std::min(bound, -latest);
    }
    const Job* job = heap.PopBest();
    if (job == nullptr) {
      ASSERT_EQ(bound, 1);
      std::this_thread::yield();
      continue;
    }
    ++popped;
    ASSERT_LE(job->key(), bound);
    best_popped[job->producer] =
        std::max(best_popped[job->producer], job->index);
  }
}

// A cell in which one thread leaves a job for another.
struct alignas(64) Cell {
  std::atomic<Job*> job = nullptr;
};

// The owner hears of each node the moment its push returns, and erases it,
// gives it another key or leaves it, while others push.
TEST(PriorityHeapThreadsTest, ErasesAndReprioritizesWhatWasJustPushed) {
  constexpr int kBackground = 1'000'000;  // Worse than all others.
  Heap heap;
  std::atomic<bool> go = false;
  std::array<std::deque<Job>, kProducers> jobs;
  std::array<Cell, kProducers> told;
  for (int p = 0; p < kProducers; ++p) {
    for (int i = 0; i < kPerProducer / 10; ++i) jobs[p].emplace_back(i, p, i);
  }
  std::atomic<int> running = kProducers;
  auto producers = StartProducers(&go, [&](int p) {
    for (Job& job : jobs[p]) {
      heap.Push(&job);
      told[p].job.store(&job, std::memory_order_release);
      while (told[p].job.load(std::memory_order_acquire) != nullptr) {
        std::this_thread::yield();
      }
    }
    running.fetch_sub(1, std::memory_order_release);
  });
  Go(&go);
  int erased = 0, moved = 0, left = 0;
  while (running.load(std::memory_order_acquire) != 0) {
    bool any = false;
    for (Cell& cell : told) {
      Job* job = cell.job.load(std::memory_order_acquire);
      if (job == nullptr) continue;
      any = true;
      switch (job->index % 4) {
        case 0:
          EXPECT_TRUE(heap.Erase(job));
          EXPECT_FALSE(heap.Erase(job));
          ++erased;
          break;
        case 1:
          EXPECT_TRUE(heap.Reprioritize(job, -1));
          EXPECT_EQ(heap.PopBest(), job);
          ++moved;
          break;
        case 2:
          EXPECT_TRUE(heap.Reprioritize(job, kBackground));
          ++left;
          break;
        default:
          ++left;
      }
      cell.job.store(nullptr, std::memory_order_release);
    }
    if (!any) std::this_thread::yield();
  }
  EXPECT_EQ(erased, kProducers * kPerProducer / 40);
  EXPECT_EQ(moved, kProducers * kPerProducer / 40);
  EXPECT_EQ(heap.size(), static_cast<size_t>(left));
  std::pair<int, int> last = {-1, -1};
  for (int i = 0; i < left; ++i) {
    const Job* job = heap.PopBest();
    ASSERT_NE(job, nullptr);
    ASSERT_EQ(job->key(), job->index % 4 == 2 ? kBackground : job->index);
    ASSERT_GE(job->key(), last.first);
    last = {job->key(), job->index};
  }
  EXPECT_EQ(heap.PopBest(), nullptr);
}

// A node that left is freed, pushed again by the owner, or handed to a producer
// that pushes it again, each at the first allowed moment and while the others'
// compare-and-swaps may still hold its address.
TEST(PriorityHeapThreadsTest, NodesAreFreedAndPushedAgainAtOnce) {
  Heap heap;
  std::atomic<bool> go = false;
  std::array<Cell, kProducers> back;
  std::atomic<int> running = kProducers;
  std::atomic<int> created = 0;
  auto producers = StartProducers(&go, [&](int p) {
    std::mt19937 random(p);
    for (int i = 0; i < kPerProducer / 2; ++i) {
      Job* job = back[p].job.exchange(nullptr, std::memory_order_acquire);
      if (job == nullptr) {
        job = new Job(0, p, 0);
        created.fetch_add(1, std::memory_order_relaxed);
      }
      job->set_key(static_cast<int>(random() % 3));
      job->index = i;
      heap.Push(job);
    }
    running.fetch_sub(1, std::memory_order_release);
  });
  Go(&go);
  int freed = 0;
  auto release = [&](Job* job) {
    delete job;
    ++freed;
  };
  for (uint64_t turn = 0;; ++turn) {
    const bool done = running.load(std::memory_order_acquire) == 0;
    Job* job = heap.PopBest();
    if (job == nullptr) {
      if (done) break;
      std::this_thread::yield();
      continue;
    }
    switch (turn % 4) {
      case 0:
        release(job);
        break;
      case 1:  // Pushed again, erased, freed: no pop between.
        heap.Push(job);
        EXPECT_TRUE(heap.Erase(job));
        release(job);
        break;
      case 2: {  // To the next producer, if its cell is empty.
        Job* expected = nullptr;
        if (!back[job->index % kProducers].job.compare_exchange_strong(
                expected, job, std::memory_order_release,
                std::memory_order_relaxed)) {
          release(job);
        }
        break;
      }
      default:
        heap.Push(job);
    }
  }
  producers.clear();
  for (Cell& cell : back) {
    if (Job* job = cell.job.load(std::memory_order_relaxed)) release(job);
  }
  EXPECT_EQ(freed, created.load(std::memory_order_relaxed));
}

// Everybody pushes, takes, erases and reprioritizes; who gets a node frees it
// as soon as no other thread can be asking for it.
TEST(PriorityHeapThreadsTest, ManyTakeAndFreeAtOnce) {
  struct Contested : Job {
    using Job::Job;
    std::atomic<bool> popped = false;
  };
  for (int base : {0, 1000}) {  // In levels, or not.
    PriorityHeap<int, std::less<int>, Contested> heap;
    std::atomic<bool> go = false;
    std::atomic<int> freed = 0;
    auto threads = StartProducers(&go, [&heap, &freed, base](int p) {
      std::mt19937 random(p);
      int mine = 0;
      // An even one is its pusher's to free, once its popper said so.
      auto pop = [&] {
        Contested* const job = heap.PopBest();
        if (job == nullptr) return;
        if (job->index % 2 == 0) {
          job->popped.store(true, std::memory_order_release);
        } else {
          delete job;
          ++mine;
        }
      };
      for (int i = 0; i < kPerProducer / 10; ++i) {
        const int key = base + static_cast<int>(random() % 4);
        auto* const job = new Contested(key, p, i);
        heap.Push(job);
        if (random() % 3 == 0) pop();
        if (i % 2 != 0) continue;
        if (random() % 2 == 0) heap.Reprioritize(job, base);
        if (!heap.Erase(job)) {
          while (!job->popped.load(std::memory_order_acquire)) {
            std::this_thread::yield();
          }
        }
        delete job;
        ++mine;
      }
      freed.fetch_add(mine, std::memory_order_relaxed);
    });
    Go(&go);
    threads.clear();
    int left = 0;
    for (; Contested* job = heap.PopBest(); ++left) delete job;
    EXPECT_EQ(freed + left, kProducers * kPerProducer / 10);
  }
}

// One thread stays inside; the others' questions are answered all the same.
TEST(PriorityHeapThreadsTest, ASessionServesTheOthers) {
  Heap heap;
  std::atomic<bool> go = false;
  std::atomic<int> running = kProducers;
  std::array<std::deque<Job>, kProducers> jobs;
  for (int p = 0; p < kProducers; ++p) {
    for (int i = 0; i < kPerProducer / 10; ++i) jobs[p].emplace_back(i, p, i);
  }
  auto threads = StartProducers(&go, [&](int p) {
    for (Job& job : jobs[p]) {
      heap.Push(&job);
      if (job.index % 4 == 0) heap.Erase(&job);
      if (job.index % 4 == 1) heap.Reprioritize(&job, -1);
    }
    running.fetch_sub(1, std::memory_order_release);
  });
  Go(&go);
  size_t popped = 0;
  {
    Heap::Session session(&heap);
    while (running.load(std::memory_order_acquire) != 0) {
      if (session->PopBest() != nullptr) ++popped;
      std::this_thread::yield();
    }
    while (session->PopBest() != nullptr) ++popped;
  }
  EXPECT_GE(popped, size_t{kProducers * kPerProducer / 10 / 4 * 3});
  EXPECT_LE(popped, size_t{kProducers * kPerProducer / 10});
}

// The owner's side moves from thread to thread, as a lock allows.
TEST(PriorityHeapThreadsTest, OwnershipIsHandedOnByJoining) {
  Heap::Owned heap;
  std::deque<Job> jobs;
  for (int i = 0; i < 100; ++i) jobs.emplace_back(i, 0, i);
  for (Job& job : jobs) {
    std::jthread([&] { heap.Push(&job); }).join();
    if (job.index % 2 == 1) {
      std::jthread([&] { ASSERT_NE(heap.PopBest(), nullptr); }).join();
    }
  }
  for (int i = 50; i < 100; ++i) EXPECT_EQ(heap.PopBest(), &jobs[i]);
}

}  // namespace
}  // namespace muster
