#include <algorithm>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "test/conformance/compare.h"

namespace muster::conformance {
namespace {

std::string LabelOf(const Played& played, const std::string& node,
                    const std::string& level) {
  const auto labels = played.translation.node_labels.find(node);
  if (labels == played.translation.node_labels.end()) return "";
  const auto it = labels->second.find(level);
  return it == labels->second.end() ? "" : it->second;
}

// The topology's levels from the widest down to this one.
std::vector<std::string> LevelsDownTo(const Played& played,
                                      const std::string& level) {
  for (const Topology& topology : played.translation.config.topologies) {
    const auto it =
        std::find(topology.levels.begin(), topology.levels.end(), level);
    if (it != topology.levels.end()) return {topology.levels.begin(), it + 1};
  }
  return {level};
}

std::vector<std::string> DomainOf(const Played& played, size_t unit,
                                  const std::vector<std::string>& levels) {
  std::vector<std::string> values;
  const std::string& node = played.session.outcomes()[unit].node;
  for (const std::string& level : levels) {
    values.push_back(LabelOf(played, node, level));
  }
  return values;
}

int64_t DomainsAt(const Played& played, const std::vector<size_t>& units,
                  const std::string& level) {
  const std::vector<std::string> levels = LevelsDownTo(played, level);
  std::set<std::vector<std::string>> domains;
  for (size_t unit : units) domains.insert(DomainOf(played, unit, levels));
  return static_cast<int64_t>(domains.size());
}

// The levels at which the peer's number of domains binds.
std::set<std::string> ConstrainedLevels(const Played& played,
                                        const TopologyRequestSpec& request) {
  std::vector<std::string> named{request.required, request.preferred};
  for (const SliceSpec& slice : request.slices) named.push_back(slice.required);
  std::set<std::string> levels;
  for (const std::string& level : named) {
    if (level.empty()) continue;
    for (const std::string& wider : LevelsDownTo(played, level)) {
      levels.insert(wider);
    }
  }
  return levels;
}

std::string CheckSlices(const Played& played, const std::vector<size_t>& units,
                        const TopologyRequestSpec& request) {
  if (!request.colocate_group.empty() && units.size() == 1) return "";
  for (const SliceSpec& slice : request.slices) {
    const int64_t size = slice.size.value_or(1);
    if (slice.required.empty() || size < 2) continue;
    for (size_t first = 0; first < units.size();
         first += static_cast<size_t>(size)) {
      const size_t end =
          std::min(units.size(), first + static_cast<size_t>(size));
      const std::vector<size_t> of_slice(units.begin() + first,
                                         units.begin() + end);
      if (DomainsAt(played, of_slice, slice.required) > 1) {
        return "a slice crosses domains of " + slice.required;
      }
    }
  }
  return "";
}

}  // namespace

std::vector<size_t> UnitsOf(const Played& played, const std::string& gang,
                            const std::string& pod_set) {
  std::vector<size_t> units;
  for (size_t u = 0; u < played.translation.units.size(); ++u) {
    const Unit& unit = played.translation.units[u];
    const GangSpec& spec = played.scenario.gangs[unit.gang];
    if (spec.name == gang && spec.pods[unit.pod].name == pod_set &&
        unit.member) {
      units.push_back(u);
    }
  }
  return units;
}

std::string CompareLostPlaces(const GangSpec& gang,
                              const AssignmentSpec& expected) {
  for (const DomainCountSpec& domain : expected.domains) {
    const auto& nodes = gang.unhealthy_nodes;
    if (domain.values.empty() ||
        std::find(nodes.begin(), nodes.end(), domain.values.back()) ==
            nodes.end()) {
      continue;
    }
    return "expected to keep its place on " + domain.values.back() +
           ", which is unhealthy";
  }
  return "";
}

std::string CompareAssignment(const Played& played,
                              const std::vector<size_t>& units,
                              const AssignmentSpec& expected) {
  std::map<std::vector<std::string>, int64_t> counts;
  for (size_t unit : units) {
    if (played.session.outcomes()[unit].node.empty()) continue;
    ++counts[DomainOf(played, unit, expected.levels)];
  }
  std::map<std::vector<std::string>, int64_t> wanted;
  for (const DomainCountSpec& d : expected.domains) wanted[d.values] += d.count;
  if (counts == wanted) return "";
  std::string difference = "is placed in";
  for (const auto& [values, count] : counts) {
    difference += " ";
    for (const std::string& value : values) difference += value + ":";
    difference += std::to_string(count);
  }
  return difference;
}

std::string CompareDomainCounts(
    const Played& played, const GangSpec& gang, const PodSpec& pod,
    const std::map<std::string, int64_t>& expected) {
  std::vector<size_t> units;
  for (size_t unit : UnitsOf(played, gang.name, pod.name)) {
    if (!played.session.outcomes()[unit].node.empty()) units.push_back(unit);
  }
  for (const std::string& level : ConstrainedLevels(played, pod.topology)) {
    const auto it = expected.find(level);
    if (it == expected.end()) continue;
    const int64_t domains = DomainsAt(played, units, level);
    if (domains <= it->second) continue;
    return pod.name + ": in " + std::to_string(domains) + " domains of " +
           level + ", the peer needs " + std::to_string(it->second);
  }
  const std::string slices = CheckSlices(played, units, pod.topology);
  return slices.empty() ? "" : pod.name + ": " + slices;
}

std::vector<int64_t> PlacedPerDomain(const Played& played) {
  const auto& topologies = played.translation.config.topologies;
  std::map<std::vector<std::string>, int64_t> counts;
  for (size_t u = 0; u < played.translation.units.size(); ++u) {
    const UnitOutcome& outcome = played.session.outcomes()[u];
    if (outcome.state != "placed") continue;
    if (topologies.empty()) {
      ++counts[{outcome.node}];
    } else {
      ++counts[DomainOf(played, u, topologies.front().levels)];
    }
  }
  std::vector<int64_t> sorted;
  for (const auto& [domain, count] : counts) sorted.push_back(count);
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

absl::StatusOr<std::string> ComparePlacement(const Played& played) {
  const Scenario& s = played.scenario;
  const Expectation& e = s.expect;
  bool all_placed = true;
  bool any_placed = false;
  bool any_kept = false;
  for (size_t u = 0; u < played.translation.units.size(); ++u) {
    const Unit& unit = played.translation.units[u];
    const GangSpec& gang = s.gangs[unit.gang];
    if (gang.state != "pending" && !gang.pods[unit.pod].current_assignment) {
      continue;
    }
    // Pods that had their places before and keep them are placed, too.
    const std::string& state = played.session.outcomes()[u].state;
    all_placed &= state == "placed" || state == "running";
    any_placed |= state == "placed";
    any_kept |= state == "running";
  }
  if (!e.infeasible.empty()) {
    const bool whole = any_kept && all_placed;
    return any_placed || whole ? "expected to be infeasible, is placed" : "";
  }
  for (const GangSpec& gang : s.gangs) {
    for (const auto& [pod, assignment] : e.assignments) {
      const std::string kept = CompareLostPlaces(gang, assignment);
      if (!kept.empty()) return pod + ": " + kept;
    }
  }
  if (!all_placed) return "expected to be placed, is not";
  for (const GangSpec& gang : s.gangs) {
    for (const PodSpec& pod : gang.pods) {
      const auto counts = e.domain_counts.find(pod.name);
      if (s.grade == "generic-relaxed") {
        if (counts == e.domain_counts.end()) continue;
        std::string difference =
            CompareDomainCounts(played, gang, pod, counts->second);
        if (!difference.empty()) return difference;
        continue;
      }
      const auto assignment = e.assignments.find(pod.name);
      if (assignment == e.assignments.end()) continue;
      const std::string difference = CompareAssignment(
          played, UnitsOf(played, gang.name, pod.name), assignment->second);
      if (!difference.empty()) return pod.name + ": " + difference;
    }
  }
  return "";
}

}  // namespace muster::conformance
