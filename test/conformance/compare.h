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
// The gangs that make room, and why they do, by the decisions' reasons and by
// priorities, guarantees and usage. UNIMPLEMENTED where fair sharing is to be
// the reason: the library says of all that one queue takes from another that it
// is reclaimed.
absl::StatusOr<std::string> CompareVictimSet(const Played& played);
// Whether gangs that wait are looked at again in the next pass (still queued)
// or when something changes (inadmissible).
absl::StatusOr<std::string> CompareWaiting(const Played& played);
// Kind flavors: the mode of the gang; of each pod set and resource the mode,
// and the flavour chosen. UNIMPLEMENTED: how far up a queue borrows, other
// modes than fit, preempt and no-fit, the flavour of nothing, and which of
// several flavours is meant for what does not fit.
absl::StatusOr<std::string> CompareFlavors(const Played& played);

// The first difference; where there is none, the first thing not told.
absl::StatusOr<std::string> FirstDifference(
    const std::vector<absl::StatusOr<std::string>>& compared);

// Whether a pod that ended so is one that the scenario wants so. In a
// scenario of several passes a pod that was evicted may wait again.
bool StateMatches(const std::string& expected, const std::string& actual,
                  bool several_passes);

// --- Gangs (compare_gangs.cc) ------------------------------------------------

// null: the scenario has none of this name.
const GangSpec* FindGang(const Scenario& scenario, const std::string& name);
// Whether any pod of the gang was placed by the last pass.
bool Started(const Played& played, const std::string& gang);
// What the unit, a member of its gang, takes; of one that waits, what its role
// prefers. The translation's.
const Resources& TakenBy(const Played& played, size_t unit);
// The flavour that of the resource was taken from; "" where nothing of it was.
std::string FlavorOf(const Played& played, size_t unit,
                     const std::string& resource);

// --- Domains (compare_domains.cc) --------------------------------------------

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
