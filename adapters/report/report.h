// What is told at the end of a run: a table for people, JSON for programs.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "adapters/inprocess/metrics.h"
#include "adapters/inprocess/simulator.h"

namespace muster::inprocess {

// Columns as wide as they need to be, numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  void Row(std::vector<std::string> cells);
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

struct GroupReport {
  std::string name{};
  Quantiles wait{};
  Quantiles completion{};
};

// A gang that never came to its end, and why.
struct LeftOver {
  std::string gang{};
  std::string phase{};
  std::string code{};
  std::string reason{};
};

struct Report {
  std::string title{};
  Metrics::Counts counts{};
  std::vector<std::pair<std::string, double>> utilisation{};  // By resource.
  double offered_load = 0;  // Work submitted / capacity over the makespan.
  double partly_used_share = 0;
  double scattered_share = 0;
  std::vector<Day> days{};  // Where there are more than two.
  GroupReport all{};
  std::vector<GroupReport> by_class{};
  std::vector<GroupReport> by_size{};
  double makespan_s = 0;
  double cpu_s = 0;  // Of the process, so far.
  double pass_s = 0;
  double worst_pass_s = 0;
  double decisions_per_s = 0;  // Of the time inside passes.
  bool allocations_counted = false;
  uint64_t peak_memory_bytes = 0;
  uint64_t state_hash = 0;
  uint64_t left_over = 0;  // Gangs.
  // Of these, how many wait, by the code of their reason; most first.
  std::vector<std::pair<std::string, uint64_t>> left_over_by_reason{};
  std::vector<std::string> never{};         // Of these, who can never run.
  std::vector<LeftOver> left_over_first{};  // The first 20 of them.
  std::vector<Refusal> refusals{};
};

Report MakeReport(std::string title, const Simulator& simulator,
                  bool allocations_counted);
void PrintReport(const Report& report, std::ostream& out);
// docs/muster-sim.md describes the keys.
std::string ReportJson(const Report& report);

}  // namespace muster::inprocess
