// Runs scenarios and judges them.
#pragma once

#include <string>
#include <vector>

#include "muster/enum_names.h"
#include "test/conformance/scenario.h"

namespace muster::conformance {

enum class Verdict { kPass, kFail, kUnsupported };
MUSTER_ENUM_NAMES(Verdict, "pass", "fail", "unsupported");

struct CaseResult {
  std::string id;
  std::string project;
  std::string kind;
  std::string grade;
  Verdict verdict = Verdict::kUnsupported;
  std::string why;  // Empty for a pass.
};

// `decides`: false plays it to a scheduler that decides nothing.
CaseResult RunScenario(const Scenario& scenario, bool decides);

}  // namespace muster::conformance
