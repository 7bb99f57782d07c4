// Fabrics, and the gangs that are placed on them.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lib/base/status_macros.h"
#include "lib/scheduler/validate.h"
#include "muster/fabric.h"

namespace muster {
namespace {

const FabricTopology* FindFabric(const SchedulerConfig& config,
                                 const TopologyConstraint& c) {
  const auto it =
      std::find_if(config.fabrics.begin(), config.fabrics.end(),
                   [&](const auto& f) { return f.key == c.topology; });
  return it == config.fabrics.end() ? nullptr : &*it;
}

absl::Status Constraint(const FabricTopology& fabric, const std::string& field,
                        const TopologyConstraint& c) {
  const auto levels = Fabric::LevelsOfText(fabric.text);
  const bool known =
      c.required.empty() || c.required == kHostLevel ||
      std::find(levels.begin(), levels.end(), c.required) != levels.end();
  if (!known) {
    std::string all = kHostLevel;
    for (const auto level : levels)
      all = absl::StrCat(std::string(level), ", ", all);
    return Invalid(absl::StrCat(field, ".required: '", c.required,
                                "' is no level of fabric '", fabric.key,
                                "', which has ", all));
  }
  const char* refused = !c.preferred.empty()      ? ".preferred"
                        : !c.slices.empty()       ? ".slices"
                        : !(c.spread == Spread()) ? ".spread"
                                                  : nullptr;
  if (refused == nullptr) return absl::OkStatus();
  return Invalid(absl::StrCat(field, refused, ": cannot be used on a fabric, '",
                              fabric.key, "'"));
}

}  // namespace

absl::Status ValidateFabrics(const SchedulerConfig& config) {
  for (size_t i = 0; i < config.fabrics.size(); ++i) {
    const FabricTopology& fabric = config.fabrics[i];
    const std::string field = absl::StrCat("config.fabrics[", i, "]");
    MUSTER_RETURN_IF_ERROR(ValidateKey(field + ".key", fabric.key));
    const auto same = [&](const auto& other) {
      return other.key == fabric.key;
    };
    if (std::any_of(config.topologies.begin(), config.topologies.end(), same) ||
        std::count_if(config.fabrics.begin(), config.fabrics.end(), same) > 1) {
      return Invalid(absl::StrCat(field, ".key: '", fabric.key, "' twice"));
    }
    const absl::Status read = Fabric::FromText(fabric.text).status();
    if (!read.ok()) {
      return Invalid(
          absl::StrCat(field, ".text: ", std::string(read.message())));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> ValidateOnFabric(const SchedulerConfig& config,
                                      const std::string& field,
                                      const TopologyConstraint& c) {
  const FabricTopology* fabric = FindFabric(config, c);
  if (fabric == nullptr) return false;
  MUSTER_RETURN_IF_ERROR(Constraint(*fabric, field, c));
  return true;
}

absl::Status ValidateFabricGang(const SchedulerConfig& config,
                                const Gang& gang) {
  uint32_t constraints = 0;
  bool on_fabric = false;
  const auto look = [&](const TopologyConstraint& c) {
    constraints += !(c == TopologyConstraint());
    on_fabric |= FindFabric(config, c) != nullptr;
  };
  for (const Role& role : gang.roles) look(role.topology);
  for (const Group& group : gang.groups) look(group.topology);
  if (!on_fabric) return absl::OkStatus();
  const std::string field = absl::StrCat("gang '", gang.key, "'");
  if (gang.roles.size() > 1) {
    return Invalid(absl::StrCat(field, ".roles: has ", gang.roles.size(),
                                " roles; a gang on a fabric has one"));
  }
  if (gang.groups.size() > 1) {
    return Invalid(field + ".groups: a gang on a fabric has none but the root");
  }
  if (constraints > 1) {
    return Invalid(field +
                   ".groups[0].topology: a gang on a fabric has one "
                   "constraint, here or at its role");
  }
  if (!gang.traffic.empty()) {
    return Invalid(field + ".traffic: cannot be used on a fabric");
  }
  if (!gang.roles[0].preferences.empty()) {
    return Invalid(field + ".roles[0].preferences: cannot be used on a fabric");
  }
  if (!gang.groups.empty() &&
      gang.groups[0].min_tasks > gang.roles[0].min_tasks) {
    return Invalid(absl::StrCat(
        field, ".groups[0].min_tasks: ", gang.groups[0].min_tasks,
        " is more than .roles[0].min_tasks, ", gang.roles[0].min_tasks,
        ", which a gang on a fabric is placed by"));
  }
  return absl::OkStatus();
}

}  // namespace muster
