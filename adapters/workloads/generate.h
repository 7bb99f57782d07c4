// Clusters and workloads made up from a seed and published figures: the model
// is told, figure by figure, in docs/workload.md.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/inprocess/workload.h"
#include "muster/enum_names.h"

namespace muster::inprocess {

enum class Preset : uint8_t {
  kSmall,   // 64 GPUs, 8 nodes.
  kMedium,  // 6,212 GPUs of seven models, 1,213 nodes.
  kLarge,   // 100,000 GPUs, 12,500 nodes.
};
MUSTER_ENUM_NAMES(Preset, "small", "medium", "large");

struct GenerateOptions {
  Preset preset = Preset::kSmall;
  uint64_t seed = 1;
  int64_t load_permille = 850;  // 10..2000; what it means: docs/workload.md.
  int64_t hours = 7 * 24;       // While jobs arrive: quarters of a day.
  bool failures = true;         // Nodes fail and come back.
  bool spot = true;             // Some nodes are taken back at short notice.
  bool elastic = true;          // Some gangs run with fewer tasks.
  bool quotas = true;           // Queues have guarantees and limits.
  bool rhythm = true;           // Days and weeks, not an even rate.
  bool warm_start = true;       // At time 0 the cluster is at work already.

  friend bool operator==(const GenerateOptions&,
                         const GenerateOptions&) = default;
};

// One option as people write it: ("load", "0.85"), ("no-spot", ""). An error
// names the key and what is allowed.
absl::Status SetGenerateOption(std::string_view key, std::string_view value,
                               GenerateOptions* options);
// "preset=large,load=0.85,seed=1,no-failures"; "" is the default.
absl::StatusOr<GenerateOptions> ParseGenerateOptions(std::string_view text);
// What ParseGenerateOptions reads back.
std::string ToText(const GenerateOptions& options);

// A job in 16 bytes, so that millions are no burden.
struct GeneratedJob {
  static constexpr uint8_t kAnyModel = 255;
  uint32_t submit = 0;   // Seconds.
  uint32_t work = 0;     // Seconds.
  uint16_t queue = 0;    // Position in Setup::queues.
  uint8_t size = 0;      // Position in JobSizes().
  uint8_t ask = 0;       // Position in JobSize::asks.
  uint8_t model = 0;     // Position in Generated::models, or kAnyModel.
  uint8_t priority = 0;  // Position in Setup::priority_classes.
  bool elastic = false;
  bool one_block = false;  // Wants all its tasks in one block.
};

struct Generated {
  GenerateOptions options{};
  Setup setup{};
  std::vector<std::string> models{};  // Of GPUs, as the nodes have them.
  std::vector<GeneratedJob> jobs{};   // By time of submission.
  std::vector<WorldEvent> events{};   // By time.
  int64_t gpus = 0;

  // The i-th job as it is submitted.
  Job MakeJob(size_t i) const;
};

// Equal options, equal workloads, on every machine: integers only. Each part
// has random numbers of its own: switching one off leaves the others as they
// are. O(jobs log jobs + nodes x hours).
Generated Generate(const GenerateOptions& options);

// The jobs of *workload one after the other. Any number of sources may read
// one workload.
std::unique_ptr<JobSource> MakeSource(
    std::shared_ptr<const Generated> workload);

// As a scenario that LoadScenario reads.
void WriteScenario(const Generated& workload, std::ostream& out);

}  // namespace muster::inprocess
