// What the fields of one value have to be to each other and to the
// configuration. Each is within its bounds (bounds.h), and so is all inside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "lib/base/fraction.h"
#include "lib/base/status_macros.h"
#include "muster/config.h"
#include "muster/disruption_budget.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/queue.h"

namespace muster {

// INVALID_ARGUMENT, or UNIMPLEMENTED for what later versions will allow. The
// message begins where the value's own name ends: ".level: is empty".
absl::Status Rule(const SchedulerConfig& config, const Labels& labels);
absl::Status Rule(const SchedulerConfig& config, const Requirement& r);
absl::Status Rule(const SchedulerConfig& config, const Toleration& t);
absl::Status Rule(const SchedulerConfig& config, const Node& node);
absl::Status Rule(const SchedulerConfig& config, const Quota& quota);
absl::Status Rule(const SchedulerConfig& config, const Queue& queue);
absl::Status Rule(const SchedulerConfig& config, const DisruptionBudget& b);
absl::Status Rule(const SchedulerConfig& config, const Topology& topology);
absl::Status Rule(const SchedulerConfig& config, const TypicalTask& task);
absl::Status Rule(const SchedulerConfig& config, const PlacementOptions& p);
absl::Status Rule(const SchedulerConfig& config, const HostCapabilities& host);
absl::Status Rule(const SchedulerConfig& config, const SchedulerConfig& same);
absl::Status Rule(const SchedulerConfig& config, const PartitionScheme& scheme);
absl::Status Rule(const SchedulerConfig& config, const Device& device);
absl::Status Rule(const SchedulerConfig& config, const DeviceShare& share);
absl::Status Rule(const SchedulerConfig& config, const DeviceRequest& request);
absl::Status Rule(const SchedulerConfig& config, const TaskShape& shape);
absl::Status Rule(const SchedulerConfig& config, const FabricTopology& fabric);
// rules_gang.cc
absl::Status Rule(const SchedulerConfig& config, const TopologyConstraint& c);
absl::Status Rule(const SchedulerConfig& config, const Role& role);
absl::Status Rule(const SchedulerConfig& config, const Gang& gang);
// What the tasks could use of the kind: roles at what they desire, each in the
// alternative that asks most of it. At most Resources::kMaxTotal, of a gang
// that obeys its rule.
Wide MostOf(const Gang& gang, ResourceKind k, ResourceKind device_kind,
            ResourceKind node_kind);
// Of a constraint that names the fabric; of a gang that may have such.
absl::Status FabricRule(const FabricTopology& fabric,
                        const TopologyConstraint& c);
absl::Status FabricRule(const SchedulerConfig& config, const Gang& gang);

inline absl::Status NotSupportedYet(const char* field) {
  return absl::UnimplementedError(absl::StrCat(field, ": not supported yet"));
}

// Values are found by key and are few: a list of them, and none twice.
template <class T>
const T* FindKey(const std::vector<T>& list, std::string_view key) {
  const auto it = std::ranges::find(list, key, &T::key);
  return it == list.end() ? nullptr : &*it;
}

// No element of the list has the name of another.
template <class List, class NameOf>
absl::Status NoneTwice(const List& list, const char* field, const char* member,
                       NameOf name_of) {
  if (list.size() <= 1) return absl::OkStatus();
  std::set<std::string> seen;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string name(std::invoke(name_of, list[i]));
    if (!seen.insert(name).second) {
      return Invalid(field, "[", i, "]", member, ": '", name, "' twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
