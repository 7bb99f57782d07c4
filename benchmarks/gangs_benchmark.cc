// Where gangs go whose tasks are not all alike and alone: what one question to
// the solver costs, on the uneven state of busy_cluster.h with four kinds of
// resources. Medians over questions, as ns_median; what was placed is undone.
//
//   mixed    64 workers with whole nodes and 4 parameter servers without
//            devices, anywhere; traffic: the same, and they talk
//   slices   16 slices of 8 workers, each slice in one rack, all in one zone
//   nested   2 slices of 64, each in one block, of 8 slices of 8 in one rack
//   grow     one worker more beside 63 that run
//   replace  the same, and without it the gang does not run
//   too-big  16 slices of more workers than a rack has room for
//
// Workers take 8 devices each; on 100 nodes, whose devices are free at random,
// one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/busy_cluster.h"
#include "lib/cluster/cluster.h"
#include "lib/solver/gang_solver.h"

namespace muster::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kWorkers = 64;
constexpr uint32_t kServers = 4;
constexpr uint32_t kSlice = 8;

Role MakeRole(const std::string& name, uint32_t tasks, int64_t cores,
              uint32_t devices) {
  Role role;
  role.name = name;
  role.min_tasks = role.desired_tasks = tasks;
  role.shape.resources = {cores * 1000, int64_t{16} << 30, 0, 0};
  role.shape.devices.count = devices;
  return role;
}

Gang MakeGang(const std::string& kind, uint32_t devices) {
  Gang gang;
  gang.key = "gang";
  gang.groups.resize(1);
  gang.roles = {MakeRole("worker", kWorkers, 4, devices)};
  Role& workers = gang.roles[0];
  TopologyConstraint& where = gang.groups[0].topology;
  if (kind == "mixed" || kind == "traffic") {
    gang.roles.push_back(MakeRole("ps", kServers, 8, 0));
    if (kind == "traffic") gang.traffic = {{"worker", "ps", 1}};
  } else if (kind == "slices") {
    workers.min_tasks = workers.desired_tasks = 2 * kWorkers;
    where = {.required = "zone", .slices = {{"rack", kSlice}}};
  } else if (kind == "nested") {
    workers.min_tasks = workers.desired_tasks = 2 * kWorkers;
    where = {.slices = {{"block", kWorkers}, {"rack", kSlice}}};
  } else if (kind == "too-big") {
    workers.min_tasks = workers.desired_tasks = 16 * 8 * (kRackNodes + 1);
    where = {.slices = {{"rack", 8 * (kRackNodes + 1)}}};
  } else if (kind == "grow") {
    workers.min_tasks = 1;
  }
  return gang;
}

// A question, and the gang's tasks that run already.
class Question {
 public:
  Question(BusyCluster& busy, const std::string& kind, uint32_t devices)
      : cluster_(busy.cluster), grows_(kind == "grow") {
    gang_.gang = MakeGang(kind, devices);
    for (const Role& role : gang_.gang.roles) {
      gang_.shapes.push_back({cluster_.Intern(role, 0)});
    }
    request_.gang = &gang_;
    if (!grows_ && kind != "replace") return;
    PreparedGang running = gang_;
    running.gang.roles[0].min_tasks = kWorkers - 1;
    request_.gang = &running;
    solver_->Place(cluster_, request_, &result_);
    running_ = result_.tasks;
    request_.gang = &gang_;
    request_.fixed = running_;
  }
  ~Question() {
    for (const Assignment& a : running_) {
      cluster_.Credit(a.at, Ledger::kBoth);
    }
  }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  const PlacementResult& Ask() {
    const Cluster::Mark mark = cluster_.Begin();
    if (grows_) {
      solver_->Grow(cluster_, request_, &result_);
    } else {
      solver_->Place(cluster_, request_, &result_);
    }
    cluster_.Rollback(mark);
    return result_;
  }

 private:
  Cluster& cluster_;
  const bool grows_;
  const std::unique_ptr<GangSolver> solver_ = NewGangSolver();
  PreparedGang gang_;
  PlacementRequest request_;
  PlacementResult result_;
  std::vector<Assignment> running_;
};

void BM_Gang(benchmark::State& state, uint32_t nodes, const std::string& kind) {
  // So small an uneven cluster has no room.
  BusyCluster& busy = Busy(
      nodes, nodes <= 100 ? State::kScattered : State::kUneven, Kinds::kFour);
  Question question(busy, kind, nodes <= 100 ? 1 : kDevices);
  question.Ask();
  std::vector<double> times;
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    question.Ask();
    const double took =
        std::chrono::duration<double>(Clock::now() - start).count();
    state.SetIterationTime(took);
    times.push_back(took);
  }
  const auto middle = times.begin() + static_cast<ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const PlacementResult& result = question.Ask();
  state.counters["ns_median"] = *middle * 1e9;
  state.counters["fits"] = result.fit == Fit::kFits ? 1 : 0;
  state.counters["tasks"] = static_cast<double>(result.tasks.size());
  state.counters["steps"] = static_cast<double>(result.steps);
  state.counters["optimal"] = result.certificate.optimal ? 1 : 0;
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const uint32_t nodes : {100u, 1000u, 10000u, 100000u}) {
    for (const char* kind : {"mixed", "traffic", "slices", "nested", "grow",
                             "replace", "too-big"}) {
      const std::string name =
          "BM_Gang/nodes:" + std::to_string(nodes) + "/" + kind;
      benchmark::RegisterBenchmark(name.c_str(), BM_Gang, nodes,
                                   std::string(kind))
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace muster::bench
