// What a run of many scenarios came to.
#pragma once

#include <string>
#include <vector>

#include "test/conformance/runner.h"

namespace muster::conformance {

// Counts by project, kind and grade, and the ids of what failed; `verbose`
// adds why, and lists what is not supported.
std::string ToTable(const std::vector<CaseResult>& results, bool verbose);

// How many pass of all, and of those that need a decision: that a scheduler
// which decides nothing does not pass. By grade, by project, and together.
// `null` is the run of such a one over the same scenarios.
std::string ToSummary(const std::vector<CaseResult>& results,
                      const std::vector<CaseResult>& null);

// {"cases": [{"id", "project", "kind", "grade", "result", "why"}],
//  "pass": n, "fail": n, "unsupported": n}
std::string ToJson(const std::vector<CaseResult>& results);

}  // namespace muster::conformance
