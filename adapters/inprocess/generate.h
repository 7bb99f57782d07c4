// Workloads made up from a seed and published figures.
#ifndef MUSTER_ADAPTERS_INPROCESS_GENERATE_H_
#define MUSTER_ADAPTERS_INPROCESS_GENERATE_H_

#include <cstdint>
#include <ostream>
#include <vector>

#include "adapters/inprocess/workload.h"

namespace muster::inprocess {

struct GenerateOptions {
  uint64_t seed = 1;
  uint32_t nodes = 64;  // Of 8 GPUs each, 16 to a rack.
  uint32_t jobs = 2000;
  uint32_t load_percent = 95;  // Work asked for / capacity, while jobs arrive.
  bool failures = true;        // Nodes fail and come back.
};

struct Generated {
  Setup setup{};
  std::vector<Job> jobs{};  // By time of submission.
  std::vector<WorldEvent> events{};
};

// Equal options, equal workloads, on every machine. The sources of the figures
// stand beside them in generate.cc.
Generated Generate(const GenerateOptions& options);

// As a scenario that LoadScenario reads.
void WriteScenario(const Generated& generated, const GenerateOptions& options,
                   std::ostream& out);

}  // namespace muster::inprocess

#endif  // MUSTER_ADAPTERS_INPROCESS_GENERATE_H_
