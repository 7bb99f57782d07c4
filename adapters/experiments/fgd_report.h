// What the FGD experiment gave: as a table, a curve, JSON or a picture.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/experiments/fgd.h"

namespace muster::inprocess {

struct FgdReport {
  std::string list{};
  uint64_t first_seed = 0;
  uint32_t seeds = 0;
  size_t nodes = 0;
  size_t pods = 0;
  int64_t gpus = 0;
  std::vector<FgdResult> results{};
  std::map<std::string, double> published{};  // at100 by name; may be empty.
};

// The published means at 100 % for the list, from fgd_expected_summary.csv;
// nothing if there is no such file.
absl::StatusOr<std::map<std::string, double>> LoadPublished(
    const std::string& file, const std::string& list);

// A table and, for a terminal, the curve.
void PrintFgd(const FgdReport& report, std::ostream& out);
std::string FgdJson(const FgdReport& report);
// The curve as a picture: allocated over arrived, a line a policy.
std::string FgdSvg(const FgdReport& report);

}  // namespace muster::inprocess
