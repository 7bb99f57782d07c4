// PriorityHeap beside the structures one would use instead, in one program and
// in turns, so that all of them meet the same machine (heap_peers.h). Each case
// is one workload with so many threads (heap_workload.h):
//   BM_SchedulerLike  threads - 1 submit, one takes, erases, reprioritizes;
//                     muster in a Session, muster_calls without
//   BM_ArbitraryKeys  pop and push again, 10^4 wait;  BM_ManyKeys  10^6 wait
//   BM_FillThenDrain  all push all, then all pop all
//   BM_Bursts         each pushes 256, then pops 256
//   BM_PopsAlone      one thread pops 10^5 or 10^6
// The counters, the median over the rounds of a run; P is a structure's name:
//   P_ns              CPU of all threads per operation (BM_SchedulerLike: job)
//   P_mops            operations (jobs) per microsecond of the wall's clock
//   P_p50, _p99, _p999  nanoseconds that a push took
//   vs_P              CPU of P / CPU of Muster: above 1 Muster needs less

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/heap_peers.h"
#include "benchmarks/heap_workload.h"

namespace muster::benchmarks {
namespace {

double Median(std::vector<double> values) {
  const auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// A second thread that sleeps. While a program has but one, the C library's
// locks cost no atomic instruction, and the peers' figures would be of a
// program that needs none of them.
class Company {
 public:
  Company() : thread_([this] { end_.acquire(); }) {}
  ~Company() { end_.release(); }

 private:
  std::binary_semaphore end_{0};
  std::jthread thread_;
};

void Prepare() {
#if defined(MUSTER_BENCHMARK_CDS)
  static const struct Cds {
    Cds() { cds::Initialize(); }
    ~Cds() { cds::Terminate(); }
  } cds;
#endif
  static const Visitor visitor;
  static Company company;
}

// The rounds of one case.
class Comparison {
 public:
  template <class Structure>
  void Add(Figures figures) {
    Peer& peer = peers_[Structure::name()];
    peer.cpu_ns.push_back(figures.cpu_ns);
    peer.mops.push_back(1000 / figures.wall_ns);
    peer.submit_ns.insert(peer.submit_ns.end(), figures.submit_ns.begin(),
                          figures.submit_ns.end());
  }

  void Report(benchmark::State* state) {
    const std::vector<double>& muster = peers_.at("muster").cpu_ns;
    for (auto& [name, peer] : peers_) {
      state->counters[name + "_ns"] = Median(peer.cpu_ns);
      state->counters[name + "_mops"] = Median(peer.mops);
      std::sort(peer.submit_ns.begin(), peer.submit_ns.end());
      const size_t n = peer.submit_ns.size();
      if (n >= 1000) {
        state->counters[name + "_p50"] = peer.submit_ns[n / 2];
        state->counters[name + "_p99"] = peer.submit_ns[n - 1 - n / 100];
        state->counters[name + "_p999"] = peer.submit_ns[n - 1 - n / 1000];
      }
      if (name == "muster") continue;
      std::vector<double> ratios;
      for (size_t i = 0; i < muster.size(); ++i) {
        ratios.push_back(peer.cpu_ns[i] / muster[i]);
      }
      state->counters["vs_" + name] = Median(ratios);
    }
  }

 private:
  struct Peer {
    std::vector<double> cpu_ns{}, mops{};
    std::vector<uint32_t> submit_ns{};
  };
  std::map<std::string, Peer> peers_;
};

// Runs workload<P>(seed) for each structure P, round by round; who goes first
// changes from round to round. Google Benchmark calls all rounds one iteration,
// so that a case's name needs no number of them.
template <class... Structures, class Workload>
void Compare(benchmark::State& state, uint64_t rounds, Workload workload) {
  Prepare();
  Comparison comparison;
  for (auto _ : state) {
    for (uint64_t turn = 0; turn < rounds * sizeof...(Structures); ++turn) {
      const uint64_t seed = 1 + turn / sizeof...(Structures);
      size_t place = 0;
      ((place++ == (seed + turn) % sizeof...(Structures)
            ? comparison.Add<Structures>(
                  workload.template operator()<Structures>(seed))
            : void()),
       ...);
    }
  }
  comparison.Report(&state);
}

template <class Workload>
void CompareKeys(benchmark::State& state, uint64_t rounds, Workload workload) {
  Compare<Muster<false>, MutexHeap<false>, AbslBtree<false>,
#if defined(MUSTER_BENCHMARK_TBB)
          Tbb<false>,
#endif
#if defined(MUSTER_BENCHMARK_CDS)
          FlatCombining<false>,
#endif
          BoostHeap<false>>(state, rounds, workload);
}

void BM_SchedulerLike(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  Compare<MusterSession, MusterCalls, MutexHeap<true>, MutexLists,
          AbslBtree<true>,
#if defined(MUSTER_BENCHMARK_TBB)
          Tbb<true>,
#endif
#if defined(MUSTER_BENCHMARK_CDS)
          FlatCombining<true>,
#endif
          BoostHeap<true>>(state, 15, [=]<class S>(uint64_t seed) {
    return SchedulerLike<S>(threads, seed);
  });
}

void BM_ArbitraryKeys(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  CompareKeys(state, 15, [=]<class S>(uint64_t seed) {
    return PopAndPush<S>(threads, 10'000, 200'000, seed);
  });
}

void BM_ManyKeys(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  CompareKeys(state, 3, [=]<class S>(uint64_t seed) {
    return PopAndPush<S>(threads, 1'000'000, 200'000, seed);
  });
}

void BM_FillThenDrain(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  CompareKeys(state, 7, [=]<class S>(uint64_t seed) {
    return FillThenDrain<S>(threads, 400'000, seed);
  });
}

void BM_Bursts(benchmark::State& state) {
  const int threads = static_cast<int>(state.range(0));
  CompareKeys(state, 9, [=]<class S>(uint64_t seed) {
    return Bursts<S>(threads, 200'000, seed);
  });
}

void BM_PopsAlone(benchmark::State& state) {
  const int waiting = static_cast<int>(state.range(0));
  Compare<MusterSession, MusterCalls, PlainLists, MutexLists>(
      state, 9,
      [=]<class S>(uint64_t seed) { return PopsAlone<S>(waiting, seed); });
}

void Threads(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("threads")->Unit(benchmark::kMillisecond);
  for (int threads : {1, 2, 4, 8, 16}) benchmark->Arg(threads);
}
BENCHMARK(BM_SchedulerLike)->Apply(Threads);
BENCHMARK(BM_ArbitraryKeys)->Apply(Threads);
BENCHMARK(BM_ManyKeys)->Apply(Threads);
BENCHMARK(BM_FillThenDrain)->Apply(Threads);
BENCHMARK(BM_Bursts)->Apply(Threads);
BENCHMARK(BM_PopsAlone)->ArgName("waiting")->Arg(100'000)->Arg(1'000'000);

}  // namespace
}  // namespace muster::benchmarks
