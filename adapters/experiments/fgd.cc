#include "adapters/experiments/fgd.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "adapters/workloads/openb_csv.h"
#include "adapters/workloads/random.h"
#include "muster/placement_solver.h"

namespace muster::inprocess {
namespace {

constexpr ResourceKind kGpu = 2;
constexpr FgdPolicy kPolicies[] = {
    {"Muster", PlacementPolicy::kMuster, true},
    {"FGD", PlacementPolicy::kFragmentation, true},
    {"BestFit", PlacementPolicy::kBestFit, true},
    {"GpuPacking", PlacementPolicy::kGpuPacking, true},
    {"GpuClustering", PlacementPolicy::kGpuClustering, true},
    {"DotProd", PlacementPolicy::kDotProduct, true},
    {"Random", PlacementPolicy::kRandom, true},
    {"Binpack", PlacementPolicy::kBinpack},
    {"Spread", PlacementPolicy::kLeastAllocated},
    {"LeastFree", PlacementPolicy::kLeastFree},
    {"Balanced", PlacementPolicy::kBalanced},
};

// Shapes in a fixed order, whatever the order of the pods.
struct ShapeBefore {
  using Key = std::tuple<int64_t, int64_t, uint32_t, int32_t,
                         const std::vector<std::string>&>;
  static Key KeyOf(const TaskShape& s) {
    return {s.resources[0], s.resources[1], s.devices.count, s.devices.milli,
            s.devices.models};
  }
  bool operator()(const TaskShape& a, const TaskShape& b) const {
    return KeyOf(a) < KeyOf(b);
  }
};

// The pods in the order of their arrival: all of them in an order drawn by
// lot, then more drawn from them, until enough is asked for.
std::vector<uint32_t> Arrivals(const FgdInput& input, Random* random) {
  std::vector<uint32_t> pods = input.pods;
  random->Shuffle(&pods);
  int64_t asked = 0;
  for (const uint32_t shape : pods) asked += input.Demand(shape);
  while (asked * 100 < input.gpu_milli * kMostArrived) {
    const int64_t i = random->Below(static_cast<int64_t>(input.pods.size()));
    pods.push_back(input.pods[static_cast<size_t>(i)]);
    asked += input.Demand(pods.back());
  }
  return pods;
}

// With nodes in an order drawn by lot: among equals the first key is taken.
absl::StatusOr<PlacementSolver> MakeSolver(const FgdInput& input,
                                           const PlacementOptions& options,
                                           Random* random) {
  std::vector<size_t> order(input.nodes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  random->Shuffle(&order);
  SchedulerConfig config;  // Its third resource are GPUs: kGpu.
  config.placement = options;
  absl::StatusOr<PlacementSolver> solver =
      PlacementSolver::Create(std::move(config));
  for (size_t i = 0; solver.ok() && i < order.size(); ++i) {
    Node node = input.nodes[order[i]];
    char place[32];
    std::snprintf(place, sizeof(place), "%06zu ", i);
    node.key.insert(0, place);
    if (absl::Status status = solver->SetNode(node); !status.ok()) {
      return status;
    }
  }
  return solver;
}

// A gang of one task for each shape.
std::vector<Gang> MakeGangs(const FgdInput& input) {
  std::vector<Gang> gangs(input.shapes.size());
  for (size_t s = 0; s < gangs.size(); ++s) {
    gangs[s].roles.emplace_back().shape = input.shapes[s];
  }
  return gangs;
}

}  // namespace

std::span<const FgdPolicy> FgdPolicies() { return kPolicies; }

absl::StatusOr<FgdInput> LoadFgd(const std::string& nodes,
                                 const std::string& pods) {
  FgdInput input;
  absl::StatusOr<std::vector<Node>> loaded = LoadOpenbNodes(nodes);
  if (!loaded.ok()) return loaded.status();
  input.nodes = *std::move(loaded);
  for (const Node& node : input.nodes) {
    input.gpu_milli +=
        int64_t{kWholeDevice} * static_cast<int64_t>(node.devices.size());
  }
  if (input.gpu_milli == 0) {
    return absl::InvalidArgumentError(nodes + ": gpu: no node has any");
  }
  absl::StatusOr<CsvTable> table = CsvTable::Load(pods);
  if (!table.ok()) return table.status();
  std::map<std::string, TaskShape> by_name;
  int64_t asked = 0;
  for (size_t r = 0; r < table->rows(); ++r) {
    const std::string name(table->Text(r, "name"));
    const TaskShape shape = ReadOpenbShape(&*table, r);
    if (!table->status().ok()) return table->status();
    if (!by_name.emplace(name, shape).second) {
      return table->Wrong(r, "name", "'" + name + "' appears twice");
    }
    asked += shape.devices.count;
  }
  if (asked == 0) {
    return absl::InvalidArgumentError(pods + ": num_gpu: no pod asks for any");
  }
  std::map<TaskShape, uint32_t, ShapeBefore> ids;
  for (const auto& [name, shape] : by_name) {
    const auto [it, added] =
        ids.emplace(shape, static_cast<uint32_t>(input.shapes.size()));
    if (added) input.shapes.push_back(shape);
    input.pods.push_back(it->second);
  }
  return input;
}

std::vector<TypicalTask> TypicalTasks(const FgdInput& input, bool with_memory) {
  std::map<TaskShape, int64_t, ShapeBefore> counts;
  for (const uint32_t pod : input.pods) {
    TaskShape shape = input.shapes[pod];
    if (!with_memory) shape.resources.Set(1, 0);
    ++counts[shape];
  }
  std::vector<TypicalTask> tasks;
  for (const auto& [shape, count] : counts) tasks.push_back({shape, count});
  std::ranges::stable_sort(tasks, std::greater<>(), &TypicalTask::weight);
  size_t kept = 0;
  int64_t covered = 0;
  while (kept < std::min<size_t>(tasks.size(),
                                 PlacementOptions::kMaxTypicalTasks) &&
         covered * 100 < static_cast<int64_t>(input.pods.size()) * 95) {
    covered += tasks[kept++].weight;
  }
  tasks.resize(kept);
  return tasks;
}

PlacementOptions FgdOptions(const FgdInput& input, PlacementPolicy policy,
                            uint64_t seed) {
  PlacementOptions options{.policy = policy, .seed = seed};
  // The largest nodes of the paper: 128 cores, 8 GPUs.
  options.yardstick = {128'000, 0, 8 * kWholeDevice};
  if (policy == PlacementPolicy::kFragmentation) {
    options.typical_tasks = TypicalTasks(input, false);
  } else if (policy == PlacementPolicy::kMuster) {
    options.typical_tasks = TypicalTasks(input, true);
    options.supply = SupplyOf(input.nodes);
  }
  return options;
}

absl::StatusOr<FgdRun> RunFgdOnce(const FgdInput& input, PlacementPolicy policy,
                                  uint64_t seed) {
  Random random(seed);
  const std::vector<uint32_t> arrivals = Arrivals(input, &random);
  absl::StatusOr<PlacementSolver> solver =
      MakeSolver(input, FgdOptions(input, policy, seed), &random);
  if (!solver.ok()) return solver.status();
  std::vector<Gang> gangs = MakeGangs(input);
  FgdRun run{.pods = arrivals.size()};
  std::vector<double> sums(kMostArrived + 1, 0);
  std::vector<uint32_t> counts(kMostArrived + 1, 0);
  int64_t asked = 0;
  int64_t allocated = 0;
  const std::clock_t start = std::clock();
  for (size_t i = 0; i < arrivals.size(); ++i) {
    Gang& gang = gangs[arrivals[i]];
    gang.key = std::to_string(i);
    const absl::StatusOr<Placement> placement = solver->Place(gang);
    if (!placement.ok()) return placement.status();
    const int64_t demand = input.Demand(arrivals[i]);
    asked += demand;
    if (placement->fit == Fit::kFits) allocated += demand;
    const int64_t percent =
        (asked * 200 + input.gpu_milli) / (2 * input.gpu_milli);
    if (percent > kMostArrived) continue;
    sums[static_cast<size_t>(percent)] += 100.0 *
                                          static_cast<double>(allocated) /
                                          static_cast<double>(input.gpu_milli);
    ++counts[static_cast<size_t>(percent)];
  }
  run.cpu_s = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  // A percentage that no arrival hit, on a small cluster: as the one before.
  double last = 0;
  for (size_t x = 0; x <= kMostArrived; ++x) {
    if (counts[x] > 0) last = sums[x] / counts[x];
    run.allocated.push_back(last);
  }
  return run;
}

absl::StatusOr<FgdResult> RunFgd(const FgdInput& input, const FgdPolicy& policy,
                                 uint64_t first_seed, uint32_t seeds,
                                 const std::function<void()>& progress) {
  FgdResult result{.name = std::string(policy.name)};
  result.allocated.assign(kMostArrived + 1, 0);
  double cpu_s = 0;
  uint64_t pods = 0;
  for (uint32_t s = 0; s < seeds; ++s) {
    const absl::StatusOr<FgdRun> run =
        RunFgdOnce(input, policy.policy, first_seed + s);
    if (!run.ok()) return run.status();
    for (size_t x = 0; x <= kMostArrived; ++x) {
      result.allocated[x] += run->allocated[x] / seeds;
    }
    result.at100.push_back(run->allocated[100]);
    cpu_s += run->cpu_s;
    pods += run->pods;
    progress();
  }
  double squares = 0;
  for (const double a : result.at100) {
    squares += (a - result.allocated[100]) * (a - result.allocated[100]);
  }
  if (seeds > 1) result.at100_sd = std::sqrt(squares / (seeds - 1));
  if (pods > 0) result.cpu_us_per_pod = 1e6 * cpu_s / static_cast<double>(pods);
  return result;
}

}  // namespace muster::inprocess
