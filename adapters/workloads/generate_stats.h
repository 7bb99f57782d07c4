// What came out of a generated workload, beside what was published.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "adapters/workloads/generate.h"

namespace muster::inprocess {

enum class Unit : uint8_t { kCount, kNumber, kShare, kSeconds };

struct Statistic {
  std::string key{};       // For programs.
  std::string quantity{};  // For people.
  double value = 0;        // Seconds, shares of 1, or plain numbers.
  Unit unit = Unit::kCount;
  std::string published{};  // As printed; empty: nothing is.
  std::string source{};     // Short; docs/workload.md tells it in full.
};

// Of the jobs that arrive, not of those that are there at time 0 with the rest
// of their work; the load is of all. O(jobs log jobs).
std::vector<Statistic> StatisticsOf(const Generated& workload);

void PrintStatistics(const Generated& workload, std::ostream& out);
// {"options": "...", "statistics": {KEY: {"quantity", "value", "published",
// "source"}}}
std::string StatisticsJson(const Generated& workload);

}  // namespace muster::inprocess
