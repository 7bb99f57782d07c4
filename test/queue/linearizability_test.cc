// Histories of many threads, and of threads that stop for ever, are those of a
// strict queue.
#include "test/queue/linearizability.h"

#include <array>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/queue/delayed_threads.h"
#include "test/queue/heap_recorder.h"

namespace muster::test {
namespace {

// --- The checker itself ------------------------------------------------------

using Calls = std::vector<HeapCall>;

HeapCall Push(int node, int key, uint64_t start, uint64_t end) {
  return {.kind = HeapCall::kPush,
          .node = node,
          .key = key,
          .start = start,
          .end = end};
}
HeapCall Pop(std::vector<int> nodes, uint64_t start, uint64_t end) {
  return {.kind = HeapCall::kPop,
          .nodes = std::move(nodes),
          .start = start,
          .end = end};
}
HeapCall Erase(int node, bool found, uint64_t start, uint64_t end) {
  return {.kind = HeapCall::kErase,
          .node = node,
          .found = found,
          .start = start,
          .end = end};
}
HeapCall Reprioritize(int node, int key, uint64_t start, uint64_t end) {
  return {.kind = HeapCall::kReprioritize,
          .node = node,
          .key = key,
          .found = true,
          .start = start,
          .end = end};
}

TEST(LinearizabilityTest, OneAfterTheOtherLeavesNoChoice) {
  EXPECT_TRUE(Linearizable({}));
  EXPECT_TRUE(Linearizable({Push(1, 5, 1, 2), Pop({1}, 3, 4), Pop({}, 5, 6)}));
  EXPECT_FALSE(Linearizable({Push(1, 5, 1, 2), Pop({}, 3, 4)}));
  const Calls pushes = {Push(1, 5, 1, 2), Push(2, 5, 3, 4), Push(3, 4, 5, 6)};
  auto then = [&pushes](Calls rest) {
    Calls all = pushes;
    all.insert(all.end(), rest.begin(), rest.end());
    return Linearizable(all);
  };
  EXPECT_TRUE(then({Pop({3}, 7, 8), Pop({1}, 9, 10), Pop({2}, 11, 12)}));
  EXPECT_FALSE(then({Pop({1}, 7, 8)}));                   // Not the best.
  EXPECT_FALSE(then({Pop({3}, 7, 8), Pop({2}, 9, 10)}));  // Not the first.
  EXPECT_FALSE(then({Pop({3}, 7, 8), Pop({3}, 9, 10)}));  // Twice.
  EXPECT_TRUE(then({Erase(3, true, 7, 8), Pop({1}, 9, 10)}));
  EXPECT_FALSE(then({Erase(3, false, 7, 8)}));
  EXPECT_FALSE(then({Erase(3, true, 7, 8), Pop({3}, 9, 10)}));
  EXPECT_TRUE(then({Reprioritize(3, 5, 7, 8), Pop({1}, 9, 10)}));
  EXPECT_TRUE(then({Reprioritize(1, 5, 7, 8), Pop({3}, 9, 10),
                    Pop({1}, 11, 12)}));  // Keeps its place.
  EXPECT_FALSE(then({Reprioritize(3, 5, 7, 8), Pop({3}, 9, 10)}));
}

TEST(LinearizabilityTest, CallsAtOnceGoInAnyOrderButOneForAll) {
  const Calls pushes = {Push(1, 5, 1, 10), Push(2, 5, 2, 9)};
  auto then = [&pushes](Calls rest) {
    Calls all = pushes;
    all.insert(all.end(), rest.begin(), rest.end());
    return Linearizable(all);
  };
  EXPECT_TRUE(then({Pop({1}, 11, 12), Pop({2}, 13, 14)}));
  EXPECT_TRUE(then({Pop({2}, 11, 12), Pop({1}, 13, 14)}));
  EXPECT_TRUE(then({Pop({}, 3, 4), Pop({2}, 11, 12)}));
  EXPECT_FALSE(then({Pop({}, 3, 11), Pop({2}, 12, 13), Pop({}, 14, 15)}));
  // One sees the first before the second, another the other way round.
  EXPECT_FALSE(then({Pop({1}, 3, 4), Pop({1}, 5, 6)}));
}

TEST(LinearizabilityTest, ACallWithoutEndMayHaveHappenedOrNot) {
  const HeapCall never = Push(1, 5, 1, HeapCall::kNever);
  EXPECT_TRUE(Linearizable({never, Pop({}, 2, 3)}));
  EXPECT_TRUE(Linearizable({never, Pop({}, 2, 3), Pop({1}, 4, 5)}));
  EXPECT_FALSE(Linearizable({never, Pop({1}, 2, 3), Pop({1}, 4, 5)}));
}

// --- The heap ----------------------------------------------------------------

struct Clock {
  uint64_t operator()() const { return now->fetch_add(1) + 1; }
  std::atomic<uint64_t>* now;
};
using Recorder = HeapRecorder<DelayedThreads, Clock>;
using Job = Recorder::Job;
using Heap = Recorder::Heap;

constexpr int kThreads = 3;
constexpr int kShared = 3;  // Jobs that wait from the start.
constexpr int kOwn = 3;     // Jobs of each thread.
constexpr int kOperations = 6;

// One short story of three threads.
class Round {
 public:
  explicit Round(uint64_t seed) : seed_(seed) {
    base_ = std::array{0, 1000, 62}[seed % 3];  // Levels, keys, in between.
    for (int i = 0; i < kShared + kThreads * kOwn; ++i) {
      jobs_.emplace_back(i, base_ + i % 2);
    }
    for (int t = 0; t < kThreads; ++t) on_.emplace_back(&heap_, Clock{&now_});
    for (int i = 0; i < kShared; ++i) on_[0].Push(&jobs_[i]);
  }

  // A thread pushes no jobs but its own, and only when it knows them to be out
  // of the heap; it erases and moves its own, and those all share.
  void Run(int t) {
    std::mt19937_64 random(seed_ * kThreads + t);
    const Delays delays(random());
    std::array<bool, kOwn> idle;
    idle.fill(true);
    const int first = kShared + t * kOwn;
    auto took = [&](const Job* job) {
      if (job != nullptr && job->id >= first && job->id < first + kOwn) {
        idle[job->id - first] = true;
      }
    };
    Recorder& on = on_[t];
    for (int i = 0; i < kOperations; ++i) {
      const int own = static_cast<int>(random() % kOwn);
      const int key = base_ + static_cast<int>(random() % 3);
      Job* const mine = &jobs_[first + own];
      Job* const any =
          random() % 2 == 0 && !idle[own] ? mine : &jobs_[random() % kShared];
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
          if (!idle[own]) break;
          idle[own] = false;
          mine->set_key(key);
          on.Push(mine);
          break;
        case 3:
          took(on.PopBest());
          break;
        case 4: {
          std::array<Job*, 2> out;
          const size_t count = on.PopBest(out);
          for (size_t n = 0; n < count; ++n) took(out[n]);
          break;
        }
        case 5:
          if (random() % 2 == 0) {
            on.PeekBest();
          } else {
            on.size();
          }
          break;
        case 6:
          if (on.Erase(any)) took(any);
          break;
        default:
          on.Reprioritize(any, key);
      }
    }
  }

  Calls Finish() {
    while (on_[0].PopBest() != nullptr) {
    }
    Calls calls;
    for (const Recorder& each : on_) {
      calls.insert(calls.end(), each.calls().begin(), each.calls().end());
    }
    return calls;
  }

 private:
  const uint64_t seed_;
  int base_;
  std::atomic<uint64_t> now_ = 0;
  Heap heap_;
  std::deque<Job> jobs_;
  std::vector<Recorder> on_;
};

TEST(LinearizabilityThreadsTest, EveryRecordedHistoryIsOneOfAStrictQueue) {
  uint64_t first = 1, last = 3000;
  if (const char* seed = std::getenv("MUSTER_SEED")) {
    first = last = std::strtoull(seed, nullptr, 10);
  }
  std::cout << "seeds " << first << " to " << last << "\n";
  std::unique_ptr<Round> round;
  std::barrier meet(kThreads + 1);
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint64_t seed = first; seed <= last; ++seed) {
        meet.arrive_and_wait();
        round->Run(t);
        meet.arrive_and_wait();
      }
    });
  }
  size_t overlapping = 0;
  for (uint64_t seed = first; seed <= last; ++seed) {
    round = std::make_unique<Round>(seed);
    meet.arrive_and_wait();
    meet.arrive_and_wait();
    const Calls calls = round->Finish();
    EXPECT_TRUE(Linearizable(calls)) << "MUSTER_SEED=" << seed << "\n"
                                     << Print(calls);
    for (const HeapCall& a : calls) {
      for (const HeapCall& b : calls)
        overlapping += a.start < b.start && b.start < a.end;
    }
  }
  std::cout << overlapping << " pairs of calls at once\n";
  if (first != last) {
    EXPECT_GT(overlapping, last);
  }
}

// --- Threads that stop for ever ----------------------------------------------

// A pusher stops before its first or its second atomic step; the others go on,
// and what it was about to push is there once it has pushed it.
TEST(LinearizabilityThreadsTest, APusherThatStopsStopsNobody) {
  for (int step : {1, 2}) {
    for (int base : {0, 1000}) {
      std::atomic<uint64_t> now = 0;
      Heap heap;
      Recorder stopped(&heap, {&now}), a(&heap, {&now}), b(&heap, {&now});
      Job waits(0, base);
      Delays::Stop stop{.step = step};
      std::jthread pusher([&] {
        const Delays delays(&stop);
        stopped.Push(&waits);
      });
      stop.reached.wait(false, std::memory_order_acquire);
      std::deque<Job> jobs;
      for (int i = 1; i <= 12; ++i) jobs.emplace_back(i, base + i % 3);
      auto half = [&](Recorder& on, int from) {
        for (int i = from; i < from + 6; ++i) on.Push(&jobs[i]);
        on.Reprioritize(&jobs[from], base + 2);
        on.Erase(&jobs[from + 1]);
        for (int i = 0; i < 3; ++i) on.PopBest();
      };
      {
        const std::jthread one([&] { half(a, 0); });
        half(b, 6);
      }
      EXPECT_EQ(heap.size(), 4u);  // All that was asked for is done.
      stop.Release();
      pusher.join();
      while (b.PopBest() != nullptr) {
      }
      Calls calls = stopped.calls();
      for (const Recorder* each : {&a, &b}) {
        calls.insert(calls.end(), each->calls().begin(), each->calls().end());
      }
      EXPECT_TRUE(Linearizable(calls)) << Print(calls);
    }
  }
}

// One that stops inside stops those who take, as the header says, but no push.
TEST(LinearizabilityThreadsTest, ATakerThatStopsStopsNoPush) {
  Heap heap;
  Job first(0, 1);
  heap.Push(&first);
  Delays::Stop stop{.step = 3};  // It has entered, and is about to drain.
  Job* taken = nullptr;
  std::jthread taker([&] {
    const Delays delays(&stop);
    taken = heap.PopBest();
  });
  stop.reached.wait(false, std::memory_order_acquire);
  std::deque<Job> jobs;
  for (int i = 0; i < 100; ++i) heap.Push(&jobs.emplace_back(i, 0));
  stop.Release();
  taker.join();
  EXPECT_EQ(taken, &jobs[0]);
  EXPECT_EQ(heap.size(), 100u);
}

// --- Many threads, held up at every step -------------------------------------

TEST(LinearizabilityThreadsTest, HeldUpAtEveryStepNothingIsLost) {
  constexpr int kMany = 8, kPer = 400;
  for (int base : {0, 1000}) {
    Heap heap;
    std::vector<std::deque<Job>> jobs(kMany);
    std::vector<std::vector<Job*>> taken(kMany);
    std::vector<int> erased(kMany);
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kMany; ++t) {
        for (int i = 0; i < kPer; ++i) {
          jobs[t].emplace_back(t * kPer + i, base + i % 5);
        }
        threads.emplace_back([&, t] {
          std::mt19937_64 random(t);
          const Delays delays(t);
          for (Job& job : jobs[t]) {
            heap.Push(&job);
            const uint64_t dice = random() % 10;
            if (dice == 0) erased[t] += heap.Erase(&job);
            if (dice == 1) heap.Reprioritize(&job, base + 5);
            if (dice > 4) continue;
            if (Job* best = heap.PopBest()) taken[t].push_back(best);
          }
        });
      }
    }
    std::vector<bool> seen(kMany * kPer);
    size_t count = 0;
    auto note = [&](const Job* job) {
      EXPECT_FALSE(seen[job->id]);
      seen[job->id] = true;
      ++count;
    };
    for (const auto& each : taken) {
      for (const Job* job : each) note(job);
    }
    int last = base;
    while (const Job* job = heap.PopBest()) {
      EXPECT_GE(job->key(), last);
      last = job->key();
      note(job);
    }
    for (int each : erased) count += each;
    EXPECT_EQ(count, size_t{kMany * kPer});
  }
}

}  // namespace
}  // namespace muster::test
