#include <string>

#include "absl/status/status.h"
#include "test/conformance/compare.h"

namespace muster::conformance {
namespace {

absl::StatusOr<std::string> CompareOne(const Played& played,
                                       const std::string& gang, bool queued) {
  if (FindGang(played.scenario, gang) == nullptr) {
    return gang + ": expected to wait, is nowhere";
  }
  if (Started(played, gang)) return gang + ": expected to wait";
  switch (played.session.WaitOf(gang)) {
    case Wait::kNone:
      return absl::UnimplementedError(
          "how a gang waits that has tasks somewhere");
    case Wait::kForRelease:
      if (queued) return "";
      return gang + ": expected to wait until something changes, is nominated";
    case Wait::kNextPass:
      if (queued) return "";
      return gang +
             ": expected to wait until something changes, is looked at again "
             "in the next pass";
    case Wait::kUntilChange:
      if (!queued) return "";
      return gang +
             ": expected to be looked at again in the next pass, waits until "
             "something changes";
  }
  return absl::InternalError("a wait of no kind");
}

}  // namespace

absl::StatusOr<std::string> CompareWaiting(const Played& played) {
  std::vector<absl::StatusOr<std::string>> compared;
  const Expectation& e = played.scenario.expect;
  for (const std::string& gang : e.still_queued) {
    compared.push_back(CompareOne(played, gang, true));
  }
  for (const std::string& gang : e.inadmissible) {
    compared.push_back(CompareOne(played, gang, false));
  }
  return FirstDifference(compared);
}

}  // namespace muster::conformance
