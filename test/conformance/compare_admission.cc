#include <algorithm>
#include <string>
#include <vector>

#include "test/conformance/compare.h"

namespace muster::conformance {
namespace {

std::string ComparePodSet(const Played& played, const GangSpec& gang,
                          const PodSetExpectation& expected) {
  std::vector<size_t> placed;
  for (size_t unit : UnitsOf(played, gang.name, expected.name)) {
    const std::string& state = played.session.outcomes()[unit].state;
    if (state == "placed" || state == "running") placed.push_back(unit);
  }
  const std::string what = gang.name + " " + expected.name + ": ";
  if (expected.assignment) {
    const std::string kept = CompareLostPlaces(gang, *expected.assignment);
    if (!kept.empty()) return what + kept;
  }
  if (expected.count &&
      static_cast<int64_t>(placed.size()) != *expected.count) {
    return what + std::to_string(placed.size()) + " pods admitted, expected " +
           std::to_string(*expected.count);
  }
  for (size_t unit : placed) {
    for (const auto& [resource, flavor] : expected.flavors) {
      const std::string taken = FlavorOf(played, unit, resource);
      if (!taken.empty() && taken != flavor) {
        return what + resource + " from " + taken + ", expected " + flavor;
      }
    }
  }
  const bool exact = played.scenario.grade != "generic-relaxed";
  if (!exact || !expected.assignment) return "";
  const std::string difference =
      CompareAssignment(played, placed, *expected.assignment);
  return difference.empty() ? "" : what + difference;
}

std::string CompareAdmitted(const Played& played) {
  const Scenario& s = played.scenario;
  for (const auto& [name, admitted] : s.expect.admitted) {
    const GangSpec* gang = FindGang(s, name);
    if (gang == nullptr) return name + ": expected to be admitted, is nowhere";
    int64_t expected = 0;
    for (const auto& set : admitted.pod_sets) expected += set.count.value_or(0);
    if (gang->state == "pending" && expected > 0 && !Started(played, name)) {
      return name + ": expected to be admitted, is not";
    }
    for (const PodSetExpectation& set : admitted.pod_sets) {
      std::string difference = ComparePodSet(played, *gang, set);
      if (!difference.empty()) return difference;
    }
  }
  for (const GangSpec& gang : s.gangs) {
    const bool waits = gang.state == "pending" || !gang.unhealthy_nodes.empty();
    if (waits && !s.expect.admitted.contains(gang.name) &&
        Started(played, gang.name)) {
      return gang.name + ": expected to wait, is admitted";
    }
  }
  return "";
}

std::string CompareCounts(const Played& played) {
  const Scenario& s = played.scenario;
  if (s.grade != "generic-relaxed") return "";
  for (const auto& [key, counts] : s.expect.domain_counts) {
    const size_t hash = key.rfind('#');
    const GangSpec* gang = FindGang(s, key.substr(0, hash));
    if (gang == nullptr || hash == std::string::npos) continue;
    for (const PodSpec& pod : gang->pods) {
      if (pod.name != key.substr(hash + 1)) continue;
      std::string difference = CompareDomainCounts(played, *gang, pod, counts);
      if (!difference.empty()) return difference;
    }
  }
  return "";
}

std::string CompareStillRunning(const Played& played) {
  const Expectation& e = played.scenario.expect;
  for (const std::string& gang : e.still_running) {
    if (e.victims.contains(gang)) continue;
    for (const Eviction& eviction : played.session.evictions()) {
      if (eviction.gang == gang) return gang + ": expected to go on";
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> CompareAdmission(const Played& played) {
  return FirstDifference({CompareAdmitted(played), CompareVictimSet(played),
                          CompareCounts(played), CompareWaiting(played),
                          CompareStillRunning(played)});
}

}  // namespace muster::conformance
