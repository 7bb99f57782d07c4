#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "test/conformance/compare.h"
#include "test/conformance/kinds.h"
#include "test/conformance/translate_queues.h"

namespace muster::conformance {
namespace {

constexpr char kAlreadyEvicting[] = "already-evicting";
constexpr char kInQueue[] = "InClusterQueue";

const GangSpec* FindGang(const Scenario& s, const std::string& name) {
  for (const GangSpec& gang : s.gangs) {
    if (gang.name == name) return &gang;
  }
  return nullptr;
}

// Whether any pod of the gang was placed by this pass.
bool Started(const Played& played, const std::string& gang) {
  for (size_t u = 0; u < played.translation.units.size(); ++u) {
    const Unit& unit = played.translation.units[u];
    if (played.scenario.gangs[unit.gang].name == gang &&
        played.session.outcomes()[u].state == "placed") {
      return true;
    }
  }
  return false;
}

// The flavour the pod set's resource was taken from, in what was placed; ""
// where nothing of it was taken.
std::string FlavorOf(const Played& played, size_t unit_index,
                     const std::string& resource) {
  const Unit& unit = played.translation.units[unit_index];
  const Role& role =
      played.translation.gangs[unit.gang].gang.roles[unit.task.role];
  const uint32_t alternative =
      played.session.outcomes()[unit_index].alternative;
  const Resources& taken = alternative == 0
                               ? role.shape.resources
                               : role.alternatives[alternative - 1].resources;
  const auto& names = played.translation.config.resources;
  for (ResourceKind k = 0; k < names.size(); ++k) {
    const std::string prefix = resource + "@";
    if (names[k].starts_with(prefix) && taken[k] > 0) {
      return names[k].substr(prefix.size());
    }
  }
  return "";
}

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

// A victim in the preemptor's own queue and one elsewhere are told apart; why
// another queue may be taken from has as many names as there are policies.
std::string CompareReason(const Played& played, const Eviction& eviction,
                          const std::string& expected) {
  const GangSpec* victim = FindGang(played.scenario, eviction.gang);
  const GangSpec* preemptor = FindGang(played.scenario, eviction.on_behalf_of);
  if (victim == nullptr || preemptor == nullptr) {
    return eviction.gang + ": evicted for nobody";
  }
  const bool same = victim->queue == preemptor->queue;
  if (same == (expected == kInQueue)) return "";
  return eviction.gang + ": evicted for a gang of " +
         (same ? "its own" : "another") + " queue, expected " + expected;
}

std::string CompareVictimSet(const Played& played) {
  const Expectation& e = played.scenario.expect;
  std::set<std::string> evicted;
  for (const Eviction& eviction : played.session.evictions()) {
    evicted.insert(eviction.gang);
    const auto it = e.victims.find(eviction.gang);
    if (it == e.victims.end()) {
      if (e.victims_exact)
        return eviction.gang + ": expected not to be evicted";
      continue;
    }
    if (it->second == kAlreadyEvicting) continue;
    std::string difference = CompareReason(played, eviction, it->second);
    if (!difference.empty()) return difference;
  }
  for (const auto& [victim, reason] : e.victims) {
    if (reason != kAlreadyEvicting && !evicted.contains(victim)) {
      return victim + ": expected to be evicted";
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<std::string> CompareVictims(const Played& played) {
  const Scenario& s = played.scenario;
  if (FindGang(s, s.preemptor) == nullptr) {
    return absl::UnimplementedError("a preemptor that is no gang");
  }
  const bool preempts =
      std::any_of(s.needs.begin(), s.needs.end(),
                  [](const NeedSpec& need) { return need.mode == "preempt"; });
  if (preempts && Started(played, s.preemptor)) {
    return s.preemptor + ": started where there is no room";
  }
  return CompareVictimSet(played);
}

absl::StatusOr<std::string> CompareAdmission(const Played& played) {
  for (std::string difference :
       {CompareAdmitted(played), CompareVictimSet(played),
        CompareCounts(played)}) {
    if (!difference.empty()) return difference;
  }
  const Expectation& e = played.scenario.expect;
  for (const auto* list : {&e.still_queued, &e.inadmissible}) {
    for (const std::string& gang : *list) {
      if (Started(played, gang)) return gang + ": expected to wait";
    }
  }
  for (const std::string& gang : e.still_running) {
    if (e.victims.contains(gang)) continue;
    for (const Eviction& eviction : played.session.evictions()) {
      if (eviction.gang == gang) return gang + ": expected to go on";
    }
  }
  return "";
}

absl::StatusOr<std::string> CompareFlavors(const Played& played) {
  const Scenario& s = played.scenario;
  if (s.gangs.empty()) return absl::UnimplementedError("no gang to ask about");
  const std::string& gang = s.gangs.front().name;
  std::string mode = "preempt";
  if (Started(played, gang)) {
    mode = "fit";
  } else if (const auto why = played.session.WhyWaits(gang);
             !why || why == ReasonCode::kNeverFits ||
             why == ReasonCode::kNoNodeAdmits ||
             why == ReasonCode::kOverLimitAlways) {
    mode = "no-fit";
  }
  if (mode != s.expect.mode) {
    return gang + ": expected mode " + s.expect.mode + ", is " + mode;
  }
  for (const FlavorExpectation& expected : s.expect.flavors) {
    if (expected.borrow != 0) {
      return absl::UnimplementedError("how far up a queue borrows");
    }
    for (size_t unit : UnitsOf(played, gang, expected.pod_set)) {
      const TaskId task = played.translation.units[unit].task;
      const Role& role = played.translation.gangs[0].gang.roles[task.role];
      if (mode != "fit" && !role.alternatives.empty()) {
        return absl::UnimplementedError("the flavour of what does not fit");
      }
      const std::string taken = FlavorOf(played, unit, expected.resource);
      if (!taken.empty() && taken != expected.flavor) {
        return expected.pod_set + ": " + expected.resource + " from " + taken +
               ", expected " + expected.flavor;
      }
    }
  }
  return "";
}

}  // namespace muster::conformance
