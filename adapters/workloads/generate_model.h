// The figures of the generated workloads. Their sources, and which of them are
// assumptions: docs/workload.md, in this order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "adapters/workloads/generate.h"
#include "adapters/workloads/random.h"

namespace muster::inprocess {

// --- The cluster -------------------------------------------------------------

struct NodeType {
  uint32_t permille;  // Of the cluster's nodes; all types: 1000.
  uint32_t gpus;      // Each.
  const char* model;
  int64_t cpu_milli;
  int64_t memory_mib;
};

struct ClusterModel {
  uint32_t nodes;
  std::span<const NodeType> node_types;
  uint32_t nodes_per_rack;
  uint32_t racks_per_block;
  uint32_t blocks_per_zone;
  uint32_t departments;
  uint32_t tenants;    // Leaf queues, dealt out to the departments in turn.
  uint32_t most_gpus;  // Of one gang.
};
const ClusterModel& ModelOf(Preset preset);

// One node in this many is a spot node.
inline constexpr uint32_t kSpotEvery = 10;
inline constexpr char kSpotTaint[] = "spot";

// Chances in one hour: `hits` of `of`.
struct HourlyChance {
  int64_t hits;
  int64_t of;
};
inline constexpr HourlyChance kFailure = {650, 100 * 1000 * 24};  // A node.
inline constexpr HourlyChance kSpotReclaim = {1, 24};
inline constexpr int64_t kRepairSeconds = 6 * 3600;
inline constexpr int64_t kSpotNoticeSeconds = 120;
inline constexpr int64_t kSpotAwaySeconds = 3600;

// --- Tenants and classes -----------------------------------------------------

// The weight of a tenant, from 0 on: a half, a third, ... of the first one's.
constexpr int64_t PartOf(size_t tenant) {
  return 1'000'000 / static_cast<int64_t>(tenant + 1);
}
// Its part of the jobs, and of this percentage of the GPUs, its guarantee.
inline constexpr int64_t kGuaranteedPercent = 90;
// Its limit: this times the guarantee, but never less than the largest gang.
inline constexpr int64_t kLimitTimes = 3;

enum PriorityRank : uint8_t { kHigh, kNormal, kLow };

// --- Jobs --------------------------------------------------------------------

// What each of `tasks` tasks asks.
struct TaskAsk {
  int64_t cpu_milli;
  int64_t memory_mib;
  int32_t gpu_milli;  // Whole GPUs, a part of one, or 0.
  uint32_t tasks;
  uint32_t weight;  // Among the asks of its size.
};

// A point of a distribution: this part has at most these seconds. Straight
// lines in between.
struct Quantile {
  int64_t per_mille;
  int64_t seconds;
};

struct JobSize {
  uint32_t gpus;        // 0: none.
  bool shares;          // A part of one GPU.
  uint32_t per_100000;  // Jobs.
  std::span<const TaskAsk> asks;
  std::span<const Quantile> run_times;
  int64_t high_permille;  // Priority classes; the rest is normal.
  int64_t low_permille;
};
std::span<const JobSize> JobSizes();

// No job runs longer.
inline constexpr int64_t kLongestRun = 7 * 24 * 3600;
// Of jobs of up to 8 GPUs, where there are several models. Larger ones always
// name one.
inline constexpr int64_t kNamesModelPermille = 330;
// Of jobs of more than one node.
inline constexpr int64_t kOneBlockPermille = 250;
// Of jobs of 8 GPUs or more and several tasks; they run with half of them.
inline constexpr int64_t kElasticPermille = 200;
// Of jobs with whole GPUs; others save nothing.
inline constexpr Duration kCheckpointEvery = kHour;
inline constexpr Duration kRestartCost = 5 * 60 * kSecond;

// --- Arrivals ----------------------------------------------------------------

extern const std::array<int64_t, 24> kHourWeights;  // From midnight on.
extern const std::array<int64_t, 7> kDayWeights;    // From Monday on.

// --- Draws -------------------------------------------------------------------

int64_t DrawSeconds(std::span<const Quantile> run_times, Random* random);

// Draws positions in proportion to their weights, in O(log n).
class WeightedDraw {
 public:
  void Add(int64_t weight);
  int64_t total() const { return sums_.empty() ? 0 : sums_.back(); }
  size_t Draw(Random* random) const;

 private:
  std::vector<int64_t> sums_;
};

}  // namespace muster::inprocess
