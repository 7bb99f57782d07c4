// TreeKnapsack alone: how long the optimum takes, and how often it is
// certified.
//
// BM_Solve/<state>/gang:<tasks>x<devices a task>, on 100,000 nodes of 8 devices
// (5 zones x 20 blocks x 25 racks x 40 nodes), 15 % of the devices free. Every
// iteration meets another state, made from its number, with the default budget.
//   uneven     every rack has a load of its own, up to twice the mean; its
//              nodes are full or free
//   ragged     the same, but device by device
//   scattered  every device is free with the same chance
//   steady     gangs of 1 to 512 devices came and went, placed tightly
//   deep       like ragged, on eight levels: 2 x 3 x 3 x 4 x 4 x 5 x 7 x 10
//              nodes, loads by rack and, three levels further up, by site
// Counters: the share of answers certified as optimal, and that within 20 ms of
// CPU; microseconds of CPU; steps; racks used by the answer and by the greedy
// alone.
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/random.h"
#include "lib/solver/tree_knapsack.h"

namespace muster::solver {
namespace {

constexpr uint32_t kDevices = 8;
constexpr uint32_t kFanouts[] = {5, 20, 25, 40};
constexpr uint32_t kDeepFanouts[] = {2, 3, 3, 4, 4, 5, 7, 10};
constexpr uint32_t kRackNodes = kFanouts[3];
constexpr uint32_t kRacks = 5 * 20 * 25;
constexpr uint32_t kNodes = kRacks * kRackNodes;
constexpr int kStates = 200;

using bench::Random;

using Free = std::vector<uint8_t>;  // Devices free, by node.

Free Uneven(Random& random) {
  Free free(kNodes);
  uint32_t share = 0;
  for (uint32_t n = 0; n < kNodes; ++n) {
    if (n % kRackNodes == 0) share = random.Below(300);
    free[n] = random.Below(1000) < share ? kDevices : 0;
  }
  return free;
}

Free Ragged(Random& random) {
  Free free(kNodes);
  uint32_t share = 0;
  for (uint32_t n = 0; n < kNodes; ++n) {
    if (n % kRackNodes == 0) share = random.Below(300);
    for (uint32_t d = 0; d < kDevices; ++d) {
      free[n] += random.Below(1000) < share;
    }
  }
  return free;
}

Free Scattered(Random& random) {
  Free free(kNodes);
  for (uint8_t& devices : free) {
    for (uint32_t d = 0; d < kDevices; ++d) devices += random.Below(100) < 15;
  }
  return free;
}

Free Deep(Random& random) {
  constexpr uint32_t kRack = 10, kSite = 4 * 5 * 7 * kRack;
  Free free(2 * 3 * 3 * 4 * kSite);
  uint32_t share = 0, site = 0;
  for (uint32_t n = 0; n < free.size(); ++n) {
    if (n % kSite == 0) site = 20 + random.Below(80);
    if (n % kRack == 0) share = random.Below(300);
    for (uint32_t d = 0; d < kDevices; ++d) {
      free[n] += random.Below(100'000) < share * site;
    }
  }
  return free;
}

// Gangs come to the rack, of those they fit into, with the least room; what is
// too large for one goes to the racks with the most.
class SteadyCluster {
 public:
  explicit SteadyCluster(Random& random)
      : random_(random), free_(kNodes, kDevices) {
    room_.assign(kRacks, kRackNodes * kDevices);
    while (used_ < kNodes * kDevices * 85ull / 100) Arrive();
    for (int i = 0; i < 20'000; ++i) {
      Leave();
      while (used_ < kNodes * kDevices * 85ull / 100) Arrive();
    }
  }
  const Free& free() const { return free_; }

 private:
  struct Piece {
    uint32_t node = 0;
    uint32_t devices = 0;
  };

  void Arrive() {
    uint32_t want = 1u << random_.Below(10);
    std::vector<Piece> gang;
    while (want > 0) {
      uint32_t tight = kRacks, large = 0;
      for (uint32_t r = 0; r < kRacks; ++r) {
        if (room_[r] > room_[large]) large = r;
        if (room_[r] >= want && (tight == kRacks || room_[r] < room_[tight])) {
          tight = r;
        }
      }
      want -= Fill(tight < kRacks ? tight : large, want, &gang);
    }
    gangs_.push_back(std::move(gang));
  }
  uint32_t Fill(uint32_t rack, uint32_t want, std::vector<Piece>* gang) {
    uint32_t taken = 0;
    for (uint32_t n = rack * kRackNodes; n < (rack + 1) * kRackNodes; ++n) {
      const uint32_t devices = std::min<uint32_t>(want - taken, free_[n]);
      if (devices == 0) continue;
      gang->push_back({n, devices});
      free_[n] -= devices;
      taken += devices;
    }
    room_[rack] -= taken;
    used_ += taken;
    return taken;
  }
  void Leave() {
    const uint32_t i = random_.Below(static_cast<uint32_t>(gangs_.size()));
    for (const Piece& piece : gangs_[i]) {
      free_[piece.node] += piece.devices;
      room_[piece.node / kRackNodes] += piece.devices;
      used_ -= piece.devices;
    }
    gangs_[i] = std::move(gangs_.back());
    gangs_.pop_back();
  }

  Random& random_;
  Free free_;
  std::vector<uint32_t> room_;  // By rack.
  uint64_t used_ = 0;
  std::vector<std::vector<Piece>> gangs_;
};

Free Steady(Random& random) { return SteadyCluster(random).free(); }

// The tree for tasks of so many devices.
class Tree {
 public:
  // Children of a domain by level, from the whole to the racks.
  explicit Tree(std::span<const uint32_t> fanouts)
      : slots_(fanouts.size() - 1), children_(fanouts.size() - 1) {
    uint32_t domains = 1;
    for (size_t l = 0; l < slots_.size(); ++l) {
      domains *= fanouts[l];
      slots_[l].resize(domains);
      for (uint32_t i = 0; i <= domains; ++i) {
        children_[l].push_back(i * fanouts[l + 1]);
      }
      levels_.push_back({children_[l], slots_[l]});
    }
  }
  TreeQuestion Ask(const Free& free, uint32_t tasks, uint32_t devices) {
    nodes_.clear();
    for (const uint8_t f : free) nodes_.push_back(f / devices);
    for (size_t l = slots_.size(); l-- > 0;) {
      const bool racks = l + 1 == slots_.size();
      for (uint32_t i = 0; i < slots_[l].size(); ++i) {
        const uint32_t first = children_[l][i], end = children_[l][i + 1];
        slots_[l][i] = 0;
        for (uint32_t c = first; c < end; ++c) {
          slots_[l][i] += racks ? nodes_[c] : slots_[l + 1][c];
        }
      }
    }
    TreeQuestion question;
    question.levels = levels_;
    question.nodes = nodes_;
    question.tasks = tasks;
    return question;
  }

 private:
  std::vector<uint16_t> nodes_;
  std::vector<std::vector<uint32_t>> slots_, children_;
  std::vector<TreeQuestion::LevelSlots> levels_;
};

// Seconds of CPU of this thread: others share the machine.
double Cpu() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * now.tv_nsec;
}

double At(std::vector<double>& sorted, double quantile) {
  return sorted[static_cast<size_t>(quantile * (sorted.size() - 1))];
}

// A kind of state, and the tree it is on.
struct Kind {
  const char* name = nullptr;
  Free (*make)(Random&) = nullptr;
  std::span<const uint32_t> fanouts{};
};

void BM_Solve(benchmark::State& state, const Kind& kind, uint32_t tasks,
              uint32_t devices) {
  Tree tree(kind.fanouts);
  const size_t rack = kind.fanouts.size() - 2;  // Its level.
  TreeKnapsack knapsack;
  TreeAnswer answer;
  std::vector<double> micros, steps;
  double certified = 0, in_time = 0, racks = 0, greedy_racks = 0;
  uint64_t seed = 0;
  for (auto _ : state) {
    Random random(++seed);
    TreeQuestion question = tree.Ask(kind.make(random), tasks, devices);
    const double start = Cpu();
    knapsack.Solve(question, &answer);
    const double took = Cpu() - start;
    state.SetIterationTime(took);
    certified += answer.optimal;
    in_time += answer.optimal && took <= 0.02;
    racks += answer.levels[rack].used;
    micros.push_back(took * 1e6);
    steps.push_back(static_cast<double>(answer.steps));
    question.budget = 0;
    knapsack.Solve(question, &answer);
    greedy_racks += answer.levels[rack].used;
  }
  std::sort(micros.begin(), micros.end());
  std::sort(steps.begin(), steps.end());
  const auto count = static_cast<double>(state.iterations());
  state.counters["certified"] = certified / count;
  state.counters["certified_20ms"] = in_time / count;
  state.counters["us_median"] = At(micros, 0.5);
  state.counters["us_p95"] = At(micros, 0.95);
  state.counters["us_max"] = micros.back();
  state.counters["steps_p95"] = At(steps, 0.95);
  state.counters["steps_max"] = steps.back();
  state.counters["racks"] = racks / count;
  state.counters["racks_greedy"] = greedy_racks / count;
}

void Register(const Kind& kind, int states,
              const std::vector<std::pair<uint32_t, uint32_t>>& gangs) {
  for (const auto& [tasks, devices] : gangs) {
    const std::string gang =
        std::to_string(tasks) + "x" + std::to_string(devices);
    benchmark::RegisterBenchmark(
        (std::string("BM_Solve/") + kind.name + "/gang:" + gang).c_str(),
        [kind, tasks = tasks, devices = devices](benchmark::State& state) {
          BM_Solve(state, kind, tasks, devices);
        })
        ->Iterations(states)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

const bool registered = [] {
  Register({"uneven", Uneven, kFanouts}, kStates,
           {{64, 8}, {256, 8}, {512, 8}});
  Register({"ragged", Ragged, kFanouts}, kStates,
           {{64, 2}, {512, 2}, {2048, 2}, {4096, 1}});
  Register({"scattered", Scattered, kFanouts}, kStates,
           {{64, 2}, {512, 2}, {2048, 2}});
  Register({"steady", Steady, kFanouts}, 20,
           {{64, 8}, {256, 8}, {512, 8}, {64, 2}});
  Register({"deep", Deep, kDeepFanouts}, kStates,
           {{64, 2}, {512, 2}, {2048, 2}, {4096, 1}});
  return true;
}();

}  // namespace
}  // namespace muster::solver
