// The experiment that was published with FGD (Weng et al., "Beware of
// Fragmentation", USENIX ATC'23), through the public API: pods arrive at an
// empty cluster one at a time and never leave; what share of the GPUs is
// allocated when so many have been asked for?
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/placement_policy.h"

namespace muster::inprocess {

// A cluster and a list of pods, of the kinds cpu, memory and gpu.
struct FgdInput {
  std::vector<Node> nodes{};
  std::vector<TaskShape> shapes{};  // Distinct.
  std::vector<uint32_t> pods{};     // The shape of each, by name.
  int64_t gpu_milli = 0;            // Of the cluster, in thousandths.

  int64_t Demand(uint32_t shape) const {
    return int64_t{shapes[shape].devices.count} * shapes[shape].devices.milli;
  }
};
// Both in the format of openb (openb_csv.h).
absl::StatusOr<FgdInput> LoadFgd(const std::string& nodes,
                                 const std::string& pods);

struct FgdPolicy {
  std::string_view name{};  // As published; the library's own capitalised.
  PlacementPolicy policy = PlacementPolicy::kMuster;
  bool published = false;  // One of the six, or Muster's default.
};
std::span<const FgdPolicy> FgdPolicies();

// The most frequent pods, until they are 95 % of all, by frequency.
std::vector<TypicalTask> TypicalTasks(const FgdInput& input, bool with_memory);

// What the protocol gives the policy: FGD does not look at memory.
PlacementOptions FgdOptions(const FgdInput& input, PlacementPolicy policy,
                            uint64_t seed);

constexpr uint32_t kMostArrived = 130;  // Percent of the cluster.

struct FgdRun {
  // Percent allocated, by percent asked for: the mean over arrivals after which
  // that, rounded, is what was asked for.
  std::vector<double> allocated{};  // [0..kMostArrived]
  uint64_t pods = 0;
  double cpu_s = 0;  // Of the solver.
};
absl::StatusOr<FgdRun> RunFgdOnce(const FgdInput& input, PlacementPolicy policy,
                                  uint64_t seed);

struct FgdResult {
  std::string name{};
  std::vector<double> allocated{};  // Mean over the seeds.
  std::vector<double> at100{};      // By seed.
  double at100_sd = 0;              // 0 with one seed.
  double cpu_us_per_pod = 0;
};
// Seeds first_seed, first_seed + 1, ...; `progress` hears of runs.
absl::StatusOr<FgdResult> RunFgd(const FgdInput& input, const FgdPolicy& policy,
                                 uint64_t first_seed, uint32_t seeds,
                                 const std::function<void()>& progress);

}  // namespace muster::inprocess
