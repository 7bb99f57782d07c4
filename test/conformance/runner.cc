#include "test/conformance/runner.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "test/conformance/compare.h"
#include "test/conformance/places.h"
#include "test/conformance/session.h"
#include "test/conformance/translation.h"

namespace muster::conformance {
namespace {

absl::StatusOr<std::string> Compare(const Played& played) {
  const std::string& kind = played.scenario.kind;
  if (kind == "placement") return ComparePlacement(played);
  if (kind == "victims") return CompareVictims(played);
  if (kind == "admission-cycle") return CompareAdmission(played);
  if (kind == "flavors") return CompareFlavors(played);
  return ComparePods(played);
}

// Passes until the outcome is due, and then as many in which it must stay.
absl::StatusOr<std::string> Converge(const Played& played, Session* session) {
  const Scenario& s = played.scenario;
  for (int64_t pass = 1; pass <= s.until_match; ++pass) {
    if (pass > 1) {
      if (auto status = session->CarryOut(); !status.ok()) return status;
    }
    session->Pass();
  }
  absl::StatusOr<std::string> difference = Compare(played);
  if (!difference.ok() || !difference->empty()) return difference;
  const std::vector<UnitOutcome> settled = session->outcomes();
  for (int64_t pass = 1; pass <= s.stable_after; ++pass) {
    if (auto status = session->CarryOut(); !status.ok()) return status;
    session->Pass();
    for (size_t u = 0; u < settled.size(); ++u) {
      const UnitOutcome& now = session->outcomes()[u];
      const bool same_state = StateMatches(now.state, settled[u].state, true) ||
                              StateMatches(settled[u].state, now.state, true);
      const bool both_seated = !now.node.empty() && !settled[u].node.empty();
      if (same_state && (!both_seated || now.node == settled[u].node)) continue;
      return played.translation.units[u].name + ": was " + settled[u].state +
             ", and is " + now.state + " " + std::to_string(pass) +
             " passes later";
    }
  }
  return "";
}

absl::StatusOr<std::string> Play(const Scenario& scenario, bool decides) {
  auto translation = Translate(scenario);
  if (!translation.ok()) return translation.status();
  auto session = Session::Open(*translation, decides);
  if (!session.ok()) return session.status();
  const Played played{scenario, *translation, *session};
  if (scenario.kind == "converge") return Converge(played, &*session);
  session->Pass();
  return Compare(played);
}

}  // namespace

CaseResult RunScenario(const Scenario& scenario, bool decides) {
  CaseResult result{scenario.id,    scenario.project,      scenario.kind,
                    scenario.grade, Verdict::kUnsupported, ""};
  const absl::StatusOr<std::string> difference =
      Play(WithAdmittedCounts(WithUsageAsGangs(scenario)), decides);
  if (difference.ok()) {
    result.verdict = difference->empty() ? Verdict::kPass : Verdict::kFail;
    result.why = *difference;
  } else if (absl::IsUnimplemented(difference.status())) {
    result.why = std::string(difference.status().message());
  } else {
    result.verdict = Verdict::kFail;
    result.why = "refused: " + std::string(difference.status().message());
  }
  return result;
}

}  // namespace muster::conformance
