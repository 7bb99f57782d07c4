// What the heap's benchmarks do with each structure of heap_peers.h, and what
// they count.

#pragma once

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/heap_peers.h"
#include "benchmarks/random.h"

namespace muster::benchmarks {

using bench::Random;

// --- Counting ----------------------------------------------------------------

struct Figures {
  double cpu_ns = 0;   // Of all threads, for each operation or job.
  double wall_ns = 0;  // For each operation or job.
  std::vector<uint32_t> submit_ns{};  // Of every sixteenth push.
};

inline double ProcessCpuNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) +
         static_cast<double>(now.tv_nsec);
}

class Stopwatch {
 public:
  // Adds what was spent for `count` operations.
  void Stop(size_t count, Figures* figures) const {
    const double n = static_cast<double>(count);
    figures->cpu_ns += (ProcessCpuNanoseconds() - cpu_) / n;
    const std::chrono::duration<double, std::nano> wall = Clock::now() - wall_;
    figures->wall_ns += wall.count() / n;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point wall_ = Clock::now();
  double cpu_ = ProcessCpuNanoseconds();
};

// Times every sixteenth push of one thread.
template <class Structure>
class Submitter {
 public:
  explicit Submitter(Structure* structure) : structure_(structure) {
    submit_ns_.reserve(1 << 14);
  }
  void Push(typename Structure::Job* job, uint64_t rank) {
    if (++count_ % 16 != 0) return structure_->Push(job, rank);
    const auto start = std::chrono::steady_clock::now();
    structure_->Push(job, rank);
    const auto took = std::chrono::steady_clock::now() - start;
    submit_ns_.push_back(
        static_cast<uint32_t>(std::chrono::nanoseconds(took).count()));
  }
  std::vector<uint32_t>& submit_ns() { return submit_ns_; }

 private:
  Structure* structure_;
  uint64_t count_ = 0;
  std::vector<uint32_t> submit_ns_;
};

// Runs body(t, submitter) on so many threads, one of them this one, from one
// moment on; counts `count` operations of all of them.
template <class Structure, class Body>
void Together(Structure* structure, int threads, size_t count, Figures* figures,
              Body body) {
  std::atomic<bool> go = false;
  std::vector<Submitter<Structure>> submitters(threads, Submitter(structure));
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) {
    others.emplace_back([&, t] {
      const Visitor visitor;
      go.wait(false);
      body(t, &submitters[t]);
    });
  }
  const Stopwatch watch;
  go = true;
  go.notify_all();
  body(0, &submitters[0]);
  for (std::jthread& other : others) other.join();
  watch.Stop(count, figures);
  for (auto& each : submitters) {
    figures->submit_ns.insert(figures->submit_ns.end(),
                              each.submit_ns().begin(), each.submit_ns().end());
  }
}

// --- Like a scheduler --------------------------------------------------------

inline constexpr int kWaiting = 100'000;
inline constexpr int kSubmitted = 200'000;

// The taker's part of one job: a pop, and now and then one of those that waited
// from the start is erased or moved: 5 % of the jobs each.
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
      structure->Reprioritize(job, (*random)() % kLevelCount);
    }
  }
  return true;
}

// threads - 1 submit jobs of 16 levels while one takes as many; one thread
// alone submits and takes in turn. Some wait from the start.
template <class Structure>
Figures SchedulerLike(int threads, uint64_t seed) {
  using Job = typename Structure::Job;
  Structure structure;
  std::deque<Job> waiting(kWaiting);
  Random random(seed);
  for (Job& job : waiting) {
    job.waiting = true;
    structure.Push(&job, random() % kLevelCount);
  }
  std::vector<std::deque<Job>> submitted(std::max(threads - 1, 1));
  for (auto& jobs : submitted) jobs.resize(kSubmitted / submitted.size());
  const int total = static_cast<int>(submitted.size() * submitted[0].size());
  std::vector<Random> choices;
  for (int t = 0; t < threads; ++t) choices.emplace_back(random());

  Figures figures;
  Together(&structure, threads, total, &figures, [&](int t, auto* submitter) {
    Random choice = choices[t];
    if (threads == 1) {
      int turn = 0;
      for (Job& job : submitted[0]) {
        submitter->Push(&job, choice() % kLevelCount);
        Take(&structure, &waiting, turn++, &choice);
      }
    } else if (t > 0) {
      for (Job& job : submitted[t - 1]) {
        submitter->Push(&job, choice() % kLevelCount);
      }
    } else {
      for (int turn = 0; turn < total;) {
        if (Take(&structure, &waiting, turn, &choice)) {
          ++turn;
        } else {
          std::this_thread::yield();
        }
      }
    }
  });
  return figures;
}

// --- Arbitrary keys ----------------------------------------------------------

inline constexpr uint64_t kKeyRange = uint64_t{1} << 40;

// Each thread takes the best job and pushes it again, so much later: as many
// wait all the time.
template <class Structure>
Figures PopAndPush(int threads, int waiting, int operations, uint64_t seed) {
  using Job = typename Structure::Job;
  Structure structure;
  std::vector<Job> jobs(waiting);
  Random random(seed);
  for (Job& job : jobs) {
    job.value = random() % kKeyRange;
    structure.Push(&job, job.value);
  }
  const int turns = operations / 2 / threads;
  Figures figures;
  Together(&structure, threads, size_t{2} * turns * threads, &figures,
           [&](int t, auto* submitter) {
             Random choice(seed * 64 + t);
             for (int turn = 0; turn < turns;) {
               Job* const job = structure.Pop();
               if (job == nullptr) continue;
               job->value += choice() % kKeyRange;
               submitter->Push(job, job->value);
               ++turn;
             }
           });
  return figures;
}

// All threads push all, then all pop all.
template <class Structure>
Figures FillThenDrain(int threads, int operations, uint64_t seed) {
  using Job = typename Structure::Job;
  Structure structure;
  const int each = operations / 2 / threads;
  std::vector<std::vector<Job>> jobs(threads);
  for (auto& of_thread : jobs) of_thread = std::vector<Job>(each);
  Figures figures;
  const size_t count = size_t{2} * each * threads;
  Together(&structure, threads, count, &figures, [&](int t, auto* submitter) {
    Random choice(seed * 64 + t);
    for (Job& job : jobs[t]) submitter->Push(&job, choice() % kKeyRange);
  });
  std::atomic<uint64_t> sum = 0;
  Together(&structure, threads, count, &figures, [&](int, auto*) {
    uint64_t mine = 0;
    while (Job* job = structure.Pop()) mine += job->value;
    sum += mine;
  });
  return figures;
}

// Each thread pushes 256 jobs, then pops 256, again and again.
template <class Structure>
Figures Bursts(int threads, int operations, uint64_t seed) {
  using Job = typename Structure::Job;
  constexpr int kBurst = 256;
  Structure structure;
  const int rounds = operations / 2 / kBurst / threads;
  std::vector<std::vector<Job*>> mine(threads);
  std::vector<Job> jobs(threads * kBurst);
  for (int i = 0; i < threads * kBurst; ++i) {
    mine[i % threads].push_back(&jobs[i]);
  }
  Figures figures;
  const size_t count = size_t{2} * rounds * threads * kBurst;
  Together(&structure, threads, count, &figures, [&](int t, auto* submitter) {
    Random choice(seed * 64 + t);
    for (int round = 0; round < rounds; ++round) {
      for (Job* job : mine[t]) submitter->Push(job, choice() % kKeyRange);
      for (Job*& job : mine[t]) {
        // As many wait as threads push: there is one for each.
        do {
          job = structure.Pop();
        } while (job == nullptr);
      }
    }
  });
  return figures;
}

// --- Pops alone --------------------------------------------------------------

// One thread pops all, of 16 levels.
template <class Structure>
Figures PopsAlone(int waiting, uint64_t seed) {
  using Job = typename Structure::Job;
  Structure structure;
  std::vector<Job> jobs(waiting);
  Random random(seed);
  for (Job& job : jobs) structure.Push(&job, random() % kLevelCount);
  if constexpr (requires { structure.Drain(); }) structure.Drain();
  Figures figures;
  uint64_t sum = 0;
  const Stopwatch watch;
  while (Job* job = structure.Pop()) sum += job->value;
  watch.Stop(waiting, &figures);
  if (sum != 0) figures.cpu_ns = 0;
  return figures;
}

}  // namespace muster::benchmarks
