// Streams of jobs that come and go, placed by the solver and by Kueue's rule:
// who keeps gangs together when the cluster is full and used for long?
//
// 10 blocks of 8 racks of 16 nodes with 8 devices. Jobs of 1 to 512 devices,
// sizes beyond a node in whole nodes; times between arrivals and durations are
// exponential. What does not fit waits; smaller ones may pass.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::solver_test {
namespace {

constexpr uint32_t kRackNodes = 16;
constexpr uint32_t kBlockNodes = 8 * kRackNodes;
constexpr uint32_t kNodes = 10 * kBlockNodes;
constexpr uint32_t kDevices = 8;

struct Job {
  uint32_t tasks = 1;
  uint32_t devices = 1;  // Of each task.
  double arrival = 0;
  double duration = 0;
};

using Places = std::vector<uint32_t>;  // Node numbers, task by task.

class Placer {
 public:
  virtual ~Placer() = default;
  // Empty if there is no room.
  virtual Places Place(size_t id, const Job& job) = 0;
  virtual void Release(size_t id) = 0;
};

// Kueue's BestFit for topologies: from the level that the job prefers outwards,
// at the first where one domain has room, the tightest such domain; below,
// level by level, the largest children of those chosen until the rest fits one,
// then the tightest for the rest. Written from its documentation; hosts are the
// last level.
class KueueRule final : public Placer {
 public:
  enum Level : size_t { kBlock, kRack, kHost };
  explicit KueueRule(Level preferred) : preferred_(preferred) {}

  Places Place(size_t id, const Job& job) override {
    for (size_t l = 0; l < slots_.size(); ++l) {
      slots_[l].assign(kNodes / kSpan[l], 0);
    }
    for (uint32_t n = 0; n < kNodes; ++n) {
      for (size_t l = 0; l < slots_.size(); ++l) {
        slots_[l][n / kSpan[l]] += free_[n] / job.devices;
      }
    }
    Chosen chosen;
    size_t level = preferred_ + 1;
    while (level > 0 && chosen.empty()) {
      --level;
      chosen = Tightest(level, job.tasks);
    }
    if (chosen.empty()) {
      Places all(slots_[0].size());
      for (uint32_t d = 0; d < all.size(); ++d) all[d] = d;
      chosen = Several(0, all, job.tasks);
    }
    for (; !chosen.empty() && level + 1 < slots_.size(); ++level) {
      const uint32_t fan = kSpan[level] / kSpan[level + 1];
      Places children;
      for (const auto& [domain, tasks] : chosen) {
        for (uint32_t c = 0; c < fan; ++c) children.push_back(domain * fan + c);
      }
      chosen = Several(level + 1, children, job.tasks);
    }
    Places places;
    for (const auto& [node, tasks] : chosen) {
      places.insert(places.end(), tasks, node);
      free_[node] -= tasks * job.devices;
    }
    placed_.resize(std::max(placed_.size(), id + 1));
    placed_[id] = {places, job.devices};
    return places;
  }

  void Release(size_t id) override {
    for (const uint32_t n : placed_[id].first) free_[n] += placed_[id].second;
  }

 private:
  using Chosen = std::vector<std::pair<uint32_t, uint32_t>>;  // Domain, tasks.
  static constexpr std::array<uint32_t, 3> kSpan = {kBlockNodes, kRackNodes, 1};

  Chosen Tightest(size_t level, uint32_t tasks) const {
    Chosen best;
    for (uint32_t d = 0; d < slots_[level].size(); ++d) {
      if (slots_[level][d] < tasks) continue;
      if (best.empty() || slots_[level][d] < slots_[level][best[0].first]) {
        best = {{d, tasks}};
      }
    }
    return best;
  }

  Chosen Several(size_t level, Places domains, uint32_t tasks) const {
    const std::vector<uint32_t>& slots = slots_[level];
    std::stable_sort(
        domains.begin(), domains.end(),
        [&](uint32_t a, uint32_t b) { return slots[a] > slots[b]; });
    Chosen chosen;
    for (size_t i = 0; i < domains.size() && tasks > 0; ++i) {
      uint32_t domain = domains[i];
      for (size_t k = i; k < domains.size() && slots[domains[k]] >= tasks;
           ++k) {
        if (slots[domains[k]] < slots[domain]) domain = domains[k];
      }
      const uint32_t taken = std::min(tasks, slots[domain]);
      if (taken > 0) chosen.emplace_back(domain, taken);
      tasks -= taken;
    }
    return tasks == 0 ? chosen : Chosen{};
  }

  const Level preferred_;
  std::vector<uint32_t> free_ = std::vector<uint32_t>(kNodes, kDevices);
  std::array<std::vector<uint32_t>, 3> slots_;
  std::vector<std::pair<Places, uint32_t>> placed_;
};

class Muster final : public Placer {
 public:
  Muster() : cluster_(1, 0, {{"net", {"block", "rack"}}}) {
    for (uint32_t n = 0; n < kNodes; ++n) {
      Node node;
      node.key = Name('n', n);
      node.capacity = {0};
      node.devices.assign(kDevices, {});
      node.labels = {{"block", Name('b', n / kBlockNodes)},
                     {"rack", Name('r', n / kRackNodes)}};
      number_.resize(cluster_.Upsert(node).index + 1, n);
    }
  }

  Places Place(size_t id, const Job& job) override {
    PreparedGang gang;
    gang.gang.groups.resize(1);
    Role& role = gang.gang.roles.emplace_back();
    role.min_tasks = role.desired_tasks = job.tasks;
    role.shape.devices.count = job.devices;
    gang.shapes = {{cluster_.Intern(role, 0)}};
    PlacementRequest request;
    request.gang = &gang;
    PlacementResult result;
    solver_->Place(cluster_, request, &result);
    Places places;
    for (const Assignment& a : result.tasks) {
      places.push_back(number_[a.at.node]);
    }
    placed_.resize(std::max(placed_.size(), id + 1));
    placed_[id] = std::move(result.tasks);
    return places;
  }

  void Release(size_t id) override {
    for (const Assignment& a : placed_[id]) {
      cluster_.Credit(a.at, Ledger::kBoth);
    }
  }

 private:
  static std::string Name(char kind, uint32_t number) {
    const std::string digits = std::to_string(number);
    return kind + std::string(5 - digits.size(), '0') + digits;
  }

  Cluster cluster_;
  std::unique_ptr<GangSolver> solver_ = NewGangSolver();
  std::vector<uint32_t> number_;  // By node index.
  std::vector<std::vector<Assignment>> placed_;
};

std::vector<Job> Stream(uint64_t seed, double load, size_t jobs) {
  static constexpr uint32_t kSizes[] = {1,  1,  1,  1,  1,   1,   2,  2,
                                        2,  4,  4,  8,  8,   8,   16, 16,
                                        32, 32, 64, 64, 128, 256, 512};
  double mean = 0;
  for (const uint32_t s : kSizes) mean += s;
  mean /= std::size(kSizes);
  std::mt19937_64 random(seed);
  const auto exponential = [&] {
    return -std::log1p(-static_cast<double>(random() >> 11) * 0x1p-53);
  };
  const double rate = load * kNodes * kDevices / mean;
  std::vector<Job> stream;
  double now = 0;
  for (size_t i = 0; i < jobs; ++i) {
    now += exponential() / rate;
    const uint32_t size = kSizes[random() % std::size(kSizes)];
    stream.push_back({std::max(1u, size / kDevices), std::min(size, kDevices),
                      now, exponential()});
  }
  return stream;
}

struct Quality {
  double racks = 0;      // Over the fewest the gangs' sizes allow.
  double scattered = 0;  // Gangs of a rack or more that lie in several blocks.
  double partly_used = 0;  // Nodes, on average.
};

class Course {
 public:
  Course(Placer& placer, const std::vector<Job>& jobs)
      : placer_(placer), jobs_(jobs), where_(jobs.size()) {}

  Quality Go() {
    for (size_t next = 0; next < jobs_.size() || !waiting_.empty();) {
      const bool arrives =
          next < jobs_.size() &&
          (ends_.empty() || jobs_[next].arrival <= ends_.top().first);
      if (arrives) {
        now_ = jobs_[next].arrival;
        waiting_.push_back(next++);
      } else {
        End();
      }
      Serve();
    }
    return {racks_ / least_, scattered_ / large_, partly_ / samples_};
  }

 private:
  void End() {
    const size_t id = ends_.top().second;
    now_ = ends_.top().first;
    ends_.pop();
    placer_.Release(id);
    for (const uint32_t n : where_[id]) used_[n] -= jobs_[id].devices;
  }

  void Serve() {
    std::set<uint32_t> in_vain;  // Sizes.
    std::erase_if(waiting_, [&](size_t id) {
      const Job& job = jobs_[id];
      const uint32_t size = job.tasks * job.devices;
      if (in_vain.contains(size)) return false;
      where_[id] = placer_.Place(id, job);
      if (where_[id].empty()) {
        in_vain.insert(size);
        return false;
      }
      for (const uint32_t n : where_[id]) used_[n] += job.devices;
      ends_.emplace(now_ + job.duration, id);
      if (id > jobs_.size() / 4) Measure(id);  // Used for a while by then.
      return true;
    });
  }

  void Measure(size_t id) {
    if (jobs_[id].tasks > 1) {
      std::set<uint32_t> racks, blocks;
      for (const uint32_t n : where_[id]) {
        racks.insert(n / kRackNodes);
        blocks.insert(n / kBlockNodes);
      }
      racks_ += static_cast<double>(racks.size());
      least_ += (jobs_[id].tasks + kRackNodes - 1) / kRackNodes;
      large_ += jobs_[id].tasks >= kRackNodes ? 1 : 0;
      scattered_ += jobs_[id].tasks >= kRackNodes && blocks.size() > 1 ? 1 : 0;
    }
    if (id % 16 != 0) return;
    samples_ += 1;
    partly_ += static_cast<double>(std::ranges::count_if(
        used_, [](uint32_t used) { return used > 0 && used < kDevices; }));
  }

  Placer& placer_;
  const std::vector<Job>& jobs_;
  std::vector<Places> where_;
  std::vector<uint32_t> used_ = std::vector<uint32_t>(kNodes, 0);
  std::vector<size_t> waiting_;
  using Ending = std::pair<double, size_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ends_;
  double now_ = 0, racks_ = 0, least_ = 0, large_ = 0, scattered_ = 0,
         partly_ = 0, samples_ = 0;
};

// On average over streams that nothing was tuned on: eight, or as many as
// MUSTER_SEEDS says.
template <class MakePlacer>
Quality Measure(const char* name, double load, MakePlacer make) {
  const char* chosen = std::getenv("MUSTER_SEEDS");
  const int seeds = chosen != nullptr ? std::max(1, std::atoi(chosen)) : 8;
  Quality mean;
  for (int i = 0; i < seeds; ++i) {
    const std::vector<Job> jobs =
        Stream(1001 + static_cast<uint64_t>(i), load, 10'000);
    const std::unique_ptr<Placer> placer = make();
    const Quality q = Course(*placer, jobs).Go();
    mean.racks += q.racks / seeds;
    mean.scattered += q.scattered / seeds;
    mean.partly_used += q.partly_used / seeds;
  }
  std::printf(
      "load %.2f, %-20s racks / least %.3f, large gangs in several blocks "
      "%.1f %%, partly used nodes %.2f\n",
      load, name, mean.racks, 100 * mean.scattered, mean.partly_used);
  return mean;
}

class OnlineTest : public testing::TestWithParam<double> {};

TEST_P(OnlineTest, GangsLieTogetherAndNodesFillUp) {
  const auto rule = [](KueueRule::Level preferred) {
    return [preferred] { return std::make_unique<KueueRule>(preferred); };
  };
  const Quality muster =
      Measure("Muster:", GetParam(), [] { return std::make_unique<Muster>(); });
  // What gangs ask for that want few racks.
  const Quality racks =
      Measure("Kueue's rule, racks:", GetParam(), rule(KueueRule::kRack));
  EXPECT_LE(muster.racks, racks.racks);
  EXPECT_LE(muster.scattered, racks.scattered + 0.04) << "a little more often";
  EXPECT_LE(muster.partly_used, 0.70 * racks.partly_used);
  // The same if jobs of one node ask for one: docs/placement.md tells what
  // bounds the number of partly used nodes then.
  const Quality hosts =
      Measure("Kueue's rule, hosts:", GetParam(), rule(KueueRule::kHost));
  EXPECT_LE(muster.racks, hosts.racks);
  EXPECT_LE(muster.partly_used, 0.92 * hosts.partly_used);
}

INSTANTIATE_TEST_SUITE_P(Loads, OnlineTest, testing::Values(0.85, 0.93));

}  // namespace
}  // namespace muster::solver_test
