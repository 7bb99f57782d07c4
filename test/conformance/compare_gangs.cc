#include "test/conformance/compare.h"

namespace muster::conformance {

const GangSpec* FindGang(const Scenario& s, const std::string& name) {
  for (const GangSpec& gang : s.gangs) {
    if (gang.name == name) return &gang;
  }
  return nullptr;
}

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

const Resources& TakenBy(const Played& played, size_t unit_index) {
  const Unit& unit = played.translation.units[unit_index];
  const Role& role =
      played.translation.gangs[unit.gang].gang.roles[unit.task.role];
  const uint32_t alternative =
      played.session.outcomes()[unit_index].alternative;
  return alternative == 0 ? role.shape.resources
                          : role.alternatives[alternative - 1].resources;
}

std::string FlavorOf(const Played& played, size_t unit_index,
                     const std::string& resource) {
  const Resources& taken = TakenBy(played, unit_index);
  const auto& names = played.translation.config.resources;
  for (ResourceKind k = 0; k < names.size(); ++k) {
    const std::string prefix = resource + "@";
    if (names[k].starts_with(prefix) && taken[k] > 0) {
      return names[k].substr(prefix.size());
    }
  }
  return "";
}

absl::StatusOr<std::string> FirstDifference(
    const std::vector<absl::StatusOr<std::string>>& compared) {
  for (const auto& difference : compared) {
    if (difference.ok() && !difference->empty()) return difference;
  }
  for (const auto& difference : compared) {
    if (!difference.ok()) return difference;
  }
  return "";
}

}  // namespace muster::conformance
