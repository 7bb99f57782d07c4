#include "lib/scheduler/reason_text.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "lib/scheduler/rules.h"
#include "muster/topology.h"

namespace muster {
namespace {

// The level of the first topology the gang's constraints name.
std::string LevelName(const SchedulerConfig& config, const Gang* gang,
                      uint32_t level) {
  const TopologyConstraint* constraint = nullptr;
  if (gang != nullptr) {
    const auto look = [&](const auto& of) {
      if (constraint == nullptr && !of.topology.empty()) {
        constraint = &of.topology;
      }
    };
    for (const Group& group : gang->groups) look(group);
    for (const Role& role : gang->roles) look(role);
  }
  const Topology* topology = nullptr;
  if (constraint != nullptr && !constraint->topology.empty()) {
    topology = FindKey(config.topologies, constraint->topology);
  } else if (!config.topologies.empty()) {
    topology = &config.topologies[0];
  }
  if (topology == nullptr || level >= topology->levels.size()) {
    return kHostLevel;
  }
  return topology->levels[level];
}

std::string Moment(Time at) {
  return at % kSecond == 0 ? absl::StrCat(at / kSecond, " s")
                           : absl::StrCat(at / kMillisecond, " ms");
}

}  // namespace

NamedReason NamedOf(const SchedulerConfig& config, const Gang* gang,
                    const Reason& reason) {
  NamedReason named;
  named.code = reason.code;
  named.object_kind = reason.object_kind;
  named.needed = reason.needed;
  named.available = reason.available;
  if (reason.resource < config.resources.size()) {
    named.resource = config.resources[reason.resource];
  }
  const uint32_t o = reason.object;
  if (reason.object_kind == ReasonObject::kLevel) {
    named.object = LevelName(config, gang, o);
  } else if (gang == nullptr) {
    return named;
  } else if (reason.object_kind == ReasonObject::kRole) {
    if (o < gang->roles.size()) named.object = gang->roles[o].name;
  } else if (reason.object_kind == ReasonObject::kGroup) {
    if (o < gang->groups.size()) named.object = gang->groups[o].name;
  }
  return named;
}

std::string ToText(const NamedReason& reason) {
  std::string text(Name(reason.code));
  const std::string what =
      reason.resource.empty() ? std::string("tasks") : reason.resource;
  if (!reason.object.empty()) {
    absl::StrAppend(&text, " (", std::string(Name(reason.object_kind)), " ",
                    reason.object, ")");
  }
  if (reason.code == ReasonCode::kNotBefore ||
      reason.code == ReasonCode::kBackoff) {
    absl::StrAppend(&text, ": until ", Moment(reason.needed), ", now ",
                    Moment(reason.available));
  } else if (reason.needed != 0 || reason.available != 0) {
    absl::StrAppend(&text, ": needs ", reason.needed, " ", what, ", ",
                    reason.available, " available");
  }
  return text;
}

}  // namespace muster
