// Comparing variants: every variant runs on the same inputs, and each measure
// is compared pair by pair with the first variant's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/experiments/statistics.h"
#include "adapters/experiments/variant.h"
#include "adapters/inprocess/workload.h"
#include "adapters/report/report.h"

namespace muster::inprocess {

enum class MeasureUnit : uint8_t { kSeconds, kShare, kGpuHours, kCount };
MUSTER_ENUM_NAMES(MeasureUnit, "s", "share", "GPU-h", "");

enum class Good : uint8_t { kLess, kMore, kNeither };
MUSTER_ENUM_NAMES(Good, "less", "more", "neither");

struct Measure {
  std::string name{};
  MeasureUnit unit = MeasureUnit::kSeconds;
  Good good = Good::kLess;
  friend bool operator==(const Measure&, const Measure&) = default;
};

struct Measured {
  Measure measure{};
  double value = 0;
};

// What is compared of a run, in the order in which it is shown. A class of
// which no gang finished has no measures. `device`: the resource whose use is
// told.
std::vector<Measured> MeasuresOf(const Report& report,
                                 const std::string& device);

// One run of one variant.
struct ComparedRun {
  std::vector<Measured> measured{};
  // Of all decisions, with their times and nodes.
  uint64_t decisions_hash = 0;
  uint64_t refused = 0;  // Gangs.
};

enum class Verdict : uint8_t {
  kNone,    // Not judged: the base, what has no good direction, no value.
  kEqual,   // In every run.
  kBetter,  // The interval of the differences leaves out 0.
  kWorse,
  kNotShown,    // It does not.
  kBetterHere,  // On the one input there is.
  kWorseHere,
};
MUSTER_ENUM_NAMES(Verdict, "", "equal", "better", "worse",
                  "no difference shown", "better here", "worse here");
Verdict Judge(Good good, const PairedDifference& difference);

struct Comparison {
  struct Cell {
    std::vector<std::optional<double>> values{};   // By seed.
    double mean = 0;                               // Of those there are.
    std::optional<PairedDifference> difference{};  // To the base; none of it.
    Verdict verdict = Verdict::kNone;
  };
  struct Row {
    Measure measure{};
    std::vector<Cell> cells{};  // By variant.
  };
  std::string title{};
  std::vector<Variant> variants{};  // The first is the base.
  std::vector<uint64_t> seeds{};    // One entry a run of each variant.
  bool seeded = false;              // Whether seeds mean anything.
  std::vector<Row> rows{};
  std::vector<uint32_t> same{};  // Runs with the base's decisions, by variant.
};

// runs[variant][seed]; as many seeds of each.
Comparison Compare(std::string title, std::vector<Variant> variants,
                   std::vector<uint64_t> seeds, bool seeded,
                   const std::vector<std::vector<ComparedRun>>& runs);

// What one run simulates.
struct CompareInput {
  Setup setup{};
  HostModel host{};
  std::unique_ptr<JobSource> jobs{};
  std::vector<WorldEvent> events{};
};

struct CompareSource {
  std::string title{};
  bool generated = false;  // Each seed makes another input.
  uint64_t first_seed = 1;
  // The input of a seed with a variant applied.
  std::function<absl::StatusOr<CompareInput>(uint64_t seed, const Variant&)>
      make{};
};

struct CompareOptions {
  std::vector<Variant> variants{};  // Two or more; the names differ.
  uint32_t seeds = 0;               // 0: as many as are usual.
  Time until = kForever;
  std::function<void(uint64_t done, uint64_t all)> progress{};
};

// Runs all of it, one after the other: equal arguments, equal results but for
// the CPU time. Where the source is generated, variants meet on equal inputs;
// else seeds matter to placement by lot only. The policy kFragmentation, where
// the input names no typical tasks, is given those of the input's jobs.
// INVALID_ARGUMENT before anything runs, where a variant is wrong; INTERNAL: a
// scheduler broke its contract.
absl::StatusOr<Comparison> RunComparison(const CompareSource& source,
                                         const CompareOptions& options,
                                         uint64_t* refused);

void PrintComparison(const Comparison& c, std::ostream& out);
// docs/muster-sim.md describes the keys; the page reads the same.
std::string ComparisonJson(const Comparison& c);

}  // namespace muster::inprocess
