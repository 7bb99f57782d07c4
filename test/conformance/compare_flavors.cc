#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "test/conformance/compare.h"

namespace muster::conformance {
namespace {

constexpr char kFit[] = "fit";
constexpr char kPreempt[] = "preempt";
constexpr char kNoFit[] = "no-fit";

// Of a gang for this reason to wait: kNone, it does not; unset, the library
// does not take it.
std::string ModeOf(std::optional<ReasonCode> why) {
  if (why == ReasonCode::kNone) return kFit;
  if (!why || why == ReasonCode::kNeverFits ||
      why == ReasonCode::kNoNodeAdmits || why == ReasonCode::kOverLimitAlways) {
    return kNoFit;
  }
  return kPreempt;
}

// The role's part that asks for the resource alone.
Role OnlyResource(const Played& played, Role role,
                  const std::string& resource) {
  const auto& names = played.translation.config.resources;
  for (ResourceKind k = 0; k < names.size(); ++k) {
    const bool keeps =
        names[k] == resource || names[k].starts_with(resource + "@");
    if (!keeps && role.shape.resources[k] != 0) role.shape.resources.Set(k, 0);
  }
  if (resource != played.translation.config.device_kind) {
    role.shape.devices = {};
  }
  role.group = 0;
  return role;
}

// The gang, were the entry's resource all that it asks for, with what earlier
// pod sets ask of the same flavour.
Gang PartFor(const Played& played, size_t entry) {
  const auto& entries = played.scenario.expect.flavors;
  const Gang& whole = played.translation.gangs.front().gang;
  Gang part = whole;
  part.groups.clear();
  part.roles.clear();
  for (size_t e = 0; e <= entry; ++e) {
    if (entries[e].resource != entries[entry].resource ||
        entries[e].flavor != entries[entry].flavor) {
      continue;
    }
    const std::vector<size_t> units =
        UnitsOf(played, whole.key, entries[e].pod_set);
    const TaskId task = played.translation.units[units.front()].task;
    part.roles.push_back(
        OnlyResource(played, whole.roles[task.role], entries[entry].resource));
  }
  return part;
}

std::string CompareFlavor(const Played& played,
                          const FlavorExpectation& expected, size_t unit) {
  const std::string taken = FlavorOf(played, unit, expected.resource);
  if (taken == expected.flavor) return "";
  return expected.pod_set + ": " + expected.resource + " from " + taken +
         ", expected " + expected.flavor;
}

// Whether the library can tell of the entry what is expected of it.
absl::Status CheckEntry(const Played& played, const FlavorExpectation& expected,
                        const std::string& mode) {
  if (expected.borrow != 0) {
    return absl::UnimplementedError("how far up a queue borrows");
  }
  const bool known = expected.mode.empty() || expected.mode == kFit ||
                     expected.mode == kPreempt || expected.mode == kNoFit;
  if (!known) return absl::UnimplementedError("mode " + expected.mode);
  const Gang& gang = played.translation.gangs.front().gang;
  const auto units = UnitsOf(played, gang.key, expected.pod_set);
  if (units.empty() || gang.roles.empty()) {
    return absl::UnimplementedError("the flavour of a pod set without pods");
  }
  const TaskId task = played.translation.units[units.front()].task;
  if (mode != kFit && !gang.roles[task.role].alternatives.empty()) {
    return absl::UnimplementedError("the flavour of what does not fit");
  }
  if (FlavorOf(played, units.front(), expected.resource).empty()) {
    return absl::UnimplementedError("the flavour of what is not asked for");
  }
  return absl::OkStatus();
}

// Where all of the gang started, each part of it fits; else each part is asked
// about by itself.
absl::StatusOr<std::string> CompareEntry(const Played& played, size_t entry,
                                         const std::string& mode) {
  const FlavorExpectation& expected = played.scenario.expect.flavors[entry];
  if (auto status = CheckEntry(played, expected, mode); !status.ok()) {
    return status;
  }
  const std::string& gang = played.scenario.gangs.front().name;
  for (size_t unit : UnitsOf(played, gang, expected.pod_set)) {
    std::string difference = CompareFlavor(played, expected, unit);
    if (!difference.empty()) return difference;
  }
  if (expected.mode.empty()) return "";
  std::string of_entry = kFit;
  if (mode != kFit) {
    of_entry = ModeOf(played.session.WhyWouldWait(PartFor(played, entry)));
  }
  if (of_entry == expected.mode) return "";
  return expected.pod_set + ": " + expected.resource + " expected mode " +
         expected.mode + ", is " + of_entry;
}

}  // namespace

absl::StatusOr<std::string> CompareFlavors(const Played& played) {
  const Scenario& s = played.scenario;
  if (s.gangs.empty()) return absl::UnimplementedError("no gang to ask about");
  const std::string& gang = s.gangs.front().name;
  const std::string mode =
      Started(played, gang) ? kFit : ModeOf(played.session.WhyWaits(gang));
  if (mode != s.expect.mode) {
    return gang + ": expected mode " + s.expect.mode + ", is " + mode;
  }
  std::vector<absl::StatusOr<std::string>> compared;
  for (size_t entry = 0; entry < s.expect.flavors.size(); ++entry) {
    compared.push_back(CompareEntry(played, entry, mode));
  }
  return FirstDifference(compared);
}

}  // namespace muster::conformance
