// PriorityHeap beside the structures one would write instead, in one program
// and in turns, so that all of them meet the same machine.
//
// BM_SchedulerLike/threads:N: N - 1 threads submit jobs of 16 classes while one
// takes the best, erases 5 % and gives 5 % another class; for N = 1 one thread
// does all of it. 100,000 jobs wait from the start. The counters:
//   muster_ns, mutex_heap_ns, mutex_lists_ns  CPU of all threads per job
//   vs_mutex_heap, vs_mutex_lists             the peer's CPU / Muster's
// each the median over the rounds of the run; above 1 Muster needs less.

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

#include "muster/priority_heap.h"

namespace muster {
namespace {

constexpr uint32_t kClasses = 16;
constexpr int kWaiting = 100'000;
constexpr int kSubmitted = 200'000;

// splitmix64: equal choices for every structure.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// --- The structures: Push, Pop, Erase, Reprioritize on a Job of their own. ---

struct Muster {
  struct Job : HeapNode<uint32_t> {
    bool waiting = false;  // For the owner alone, as in its siblings below.
  };
  void Push(Job* job, uint32_t rank) {
    job->set_key(rank);
    heap.Push(job);
  }
  Job* Pop() { return heap.PopBest(); }
  void Erase(Job* job) { heap.Erase(job); }
  void Reprioritize(Job* job, uint32_t rank) { heap.Reprioritize(job, rank); }

  PriorityHeap<uint32_t, std::less<uint32_t>, Job> heap;
};

// A binary heap cannot erase: what was erased or moved stays in it until it
// comes up, known by a ticket that is no longer its job's.
struct MutexHeap {
  struct Job {
    uint64_t ticket = 0;
    bool waiting = false;
  };
  using Entry = std::pair<uint64_t, Job*>;  // (class, sequence), job

  void Push(Job* job, uint32_t rank) {
    const std::lock_guard lock(mutex);
    Add(job, rank);
  }
  Job* Pop() {
    const std::lock_guard lock(mutex);
    while (!heap.empty()) {
      const auto [ticket, job] = heap.top();
      heap.pop();
      if (job->ticket == ticket) return job;
    }
    return nullptr;
  }
  void Erase(Job* job) {
    const std::lock_guard lock(mutex);
    job->ticket = 0;
  }
  void Reprioritize(Job* job, uint32_t rank) {
    const std::lock_guard lock(mutex);
    if (job->ticket >> 56 != rank) Add(job, rank);
  }
  void Add(Job* job, uint32_t rank) {
    job->ticket = (uint64_t{rank} << 56) | ++sequence;
    heap.emplace(job->ticket, job);
  }

  std::mutex mutex;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
  uint64_t sequence = 0;
};

// One intrusive list for each class, and a bitmap of those that hold anything.
struct MutexLists {
  struct Job {
    Job* next = nullptr;
    Job* prev = nullptr;
    uint32_t rank = 0;
    bool waiting = false;
  };

  MutexLists() {
    for (Job& end : ends) end.next = end.prev = &end;
  }
  void Push(Job* job, uint32_t rank) {
    const std::lock_guard lock(mutex);
    Link(job, rank);
  }
  Job* Pop() {
    const std::lock_guard lock(mutex);
    if (bitmap == 0) return nullptr;
    Job* const job = ends[std::countr_zero(bitmap)].next;
    Unlink(job);
    return job;
  }
  void Erase(Job* job) {
    const std::lock_guard lock(mutex);
    Unlink(job);
  }
  void Reprioritize(Job* job, uint32_t rank) {
    const std::lock_guard lock(mutex);
    if (job->rank == rank) return;
    Unlink(job);
    Link(job, rank);
  }
  void Link(Job* job, uint32_t rank) {
    Job* const end = &ends[rank];
    job->rank = rank;
    job->next = end;
    job->prev = end->prev;
    end->prev->next = job;
    end->prev = job;
    bitmap |= uint64_t{1} << rank;
  }
  void Unlink(Job* job) {
    job->prev->next = job->next;
    job->next->prev = job->prev;
    if (ends[job->rank].next == &ends[job->rank]) {
      bitmap &= ~(uint64_t{1} << job->rank);
    }
  }

  std::mutex mutex;
  uint64_t bitmap = 0;
  std::array<Job, kClasses> ends;
};

// --- The workload ------------------------------------------------------------

double ProcessCpuNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec);
}

// The owner's part of one job: a pop, and now and then one of those that waited
// from the start is erased or moved.
template <class Structure>
bool Take(Structure* structure, std::deque<typename Structure::Job>* waiting,
          int turn, Random* random) {
  typename Structure::Job* job = structure->Pop();
  if (job == nullptr) return false;
  job->waiting = false;
  if (turn % 10 == 0) {
    job = &(*waiting)[(*random)() % waiting->size()];
    if (!job->waiting) {
    } else if (turn % 20 == 0) {
      job->waiting = false;
      structure->Erase(job);
    } else {
      structure->Reprioritize(job, (*random)() % kClasses);
    }
  }
  return true;
}

// CPU nanoseconds of all threads per submitted job.
template <class Structure>
double Round(int threads, uint64_t seed) {
  using Job = typename Structure::Job;
  Structure structure;
  std::deque<Job> waiting(kWaiting);
  Random random(seed);
  for (Job& job : waiting) {
    job.waiting = true;
    structure.Push(&job, random() % kClasses);
  }
  std::vector<std::deque<Job>> submitted(std::max(threads - 1, 1));
  for (std::deque<Job>& jobs : submitted) {
    jobs.resize(kSubmitted / submitted.size());
  }
  const int total = static_cast<int>(submitted.size() * submitted[0].size());

  if (threads == 1) {
    const double start = ProcessCpuNanoseconds();
    int turn = 0;
    for (Job& job : submitted[0]) {
      structure.Push(&job, random() % kClasses);
      Take(&structure, &waiting, turn++, &random);
    }
    return (ProcessCpuNanoseconds() - start) / total;
  }

  std::atomic<bool> go = false;
  std::vector<std::jthread> producers;
  for (std::deque<Job>& jobs : submitted) {
    producers.emplace_back([&, choice = Random(random())]() mutable {
      go.wait(false);
      for (Job& job : jobs) structure.Push(&job, choice() % kClasses);
    });
  }
  const double start = ProcessCpuNanoseconds();
  go = true;
  go.notify_all();
  for (int turn = 0; turn < total;) {
    if (Take(&structure, &waiting, turn, &random)) {
      ++turn;
    } else {
      std::this_thread::yield();
    }
  }
  for (std::jthread& producer : producers) producer.join();
  return (ProcessCpuNanoseconds() - start) / total;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void BM_SchedulerLike(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  std::vector<double> muster, mutex_heap, mutex_lists, vs_heap, vs_lists;
  uint64_t seed = 0;
  for (auto _ : state) {
    ++seed;
    // Who goes first changes from round to round.
    for (uint64_t i = 0; i < 3; ++i) {
      switch ((seed + i) % 3) {
        case 0:
          muster.push_back(Round<Muster>(threads, seed));
          break;
        case 1:
          mutex_heap.push_back(Round<MutexHeap>(threads, seed));
          break;
        default:
          mutex_lists.push_back(Round<MutexLists>(threads, seed));
      }
    }
    vs_heap.push_back(mutex_heap.back() / muster.back());
    vs_lists.push_back(mutex_lists.back() / muster.back());
  }
  state.counters["muster_ns"] = Median(muster);
  state.counters["mutex_heap_ns"] = Median(mutex_heap);
  state.counters["mutex_lists_ns"] = Median(mutex_lists);
  state.counters["vs_mutex_heap"] = Median(vs_heap);
  state.counters["vs_mutex_lists"] = Median(vs_lists);
}
// A minimum of seconds, as the CPU that is counted here is one thread's.
BENCHMARK(BM_SchedulerLike)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace muster
