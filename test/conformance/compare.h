// Whether what a scheduler did is what a scenario expects.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "test/conformance/scenario.h"
#include "test/conformance/session.h"
#include "test/conformance/translation.h"

namespace muster::conformance {

// What is compared, and against what.
struct Played {
  const Scenario& scenario;
  const Translation& translation;
  const Session& session;
};

// Each says the first difference, or "" for none; UNIMPLEMENTED where the
// expectation is about something the library does not tell.

// Kinds cycle and converge: states of pods, and all that depends on them.
absl::StatusOr<std::string> ComparePods(const Played& played);
// Kind placement: assignments by pod set, or that there is none.
absl::StatusOr<std::string> ComparePlacement(const Played& played);
// Kinds victims and admission-cycle.
absl::StatusOr<std::string> CompareVictims(const Played& played);
absl::StatusOr<std::string> CompareAdmission(const Played& played);
// Kind flavors: the mode, and the flavours chosen.
absl::StatusOr<std::string> CompareFlavors(const Played& played);

// Whether a pod that ended so is one that the scenario wants so. In a
// scenario of several passes a pod that was evicted may wait again.
bool StateMatches(const std::string& expected, const std::string& actual,
                  bool several_passes);

// --- Domains (compare_domains.cc)
// ----------------------------------------------

// The units of a gang's pod set, by index.
std::vector<size_t> UnitsOf(const Played& played, const std::string& gang,
                            const std::string& pod_set);
// Whether the peer leaves pods on a node that is gone, for want of another or
// by a rule of its own. The library has no such places. Says so, or "".
std::string CompareLostPlaces(const GangSpec& gang,
                              const AssignmentSpec& expected);
// Exactly these domains with these counts.
std::string CompareAssignment(const Played& played,
                              const std::vector<size_t>& units,
                              const AssignmentSpec& expected);
// No more domains than the peer at the levels that the pod set's constraint
// names and at wider ones, and every slice in one domain.
std::string CompareDomainCounts(const Played& played, const GangSpec& gang,
                                const PodSpec& pod,
                                const std::map<std::string, int64_t>& expected);
// The number of pods placed in each domain of the narrowest level, sorted.
std::vector<int64_t> PlacedPerDomain(const Played& played);

}  // namespace muster::conformance
