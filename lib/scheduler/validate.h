// Checks of what a host hands in. Each error names the field and what is
// allowed; what passes can be used without further checks.
#ifndef MUSTER_LIB_SCHEDULER_VALIDATE_H_
#define MUSTER_LIB_SCHEDULER_VALIDATE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "muster/cluster.h"
#include "muster/config.h"
#include "muster/disruption_budget.h"
#include "muster/enum_names.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"

namespace muster {

absl::Status ValidateConfig(const SchedulerConfig& config);
// Whether it may take the place of `before`: see ConfigChanged.
absl::Status ValidateReconfig(const SchedulerConfig& before,
                              const SchedulerConfig& config);
absl::Status ValidateTolerations(const std::string& field,
                                 const std::vector<Toleration>& all);
// `field` names the shape in messages.
absl::Status ValidateShape(const SchedulerConfig& config,
                           const std::string& field, const TaskShape& shape);
// Of ValidateConfig, ValidateNode, ValidateOthers and ValidateShape.
absl::Status ValidatePartitionSchemes(const SchedulerConfig& config);
absl::Status ValidateDevice(const SchedulerConfig& config,
                            const std::string& field, const Device& device);
absl::Status ValidateDeviceShare(const SchedulerConfig& config,
                                 const std::string& field,
                                 const DeviceShare& share);
absl::Status ValidateDeviceRequest(const SchedulerConfig& config,
                                   const std::string& field,
                                   const DeviceRequest& request);
// Likewise of ValidateConfig and ValidateGang.
absl::Status ValidateFabrics(const SchedulerConfig& config);
absl::Status ValidateFabricGang(const SchedulerConfig& config,
                                const Gang& gang);
// Whether the constraint names a fabric: then it is valid by itself.
absl::StatusOr<bool> ValidateOnFabric(const SchedulerConfig& config,
                                      const std::string& field,
                                      const TopologyConstraint& constraint);
absl::Status ValidateKey(std::string_view what, std::string_view key);
absl::Status ValidateNode(const SchedulerConfig& config, const Node& node);
absl::Status ValidateOthers(const SchedulerConfig& config,
                            const OtherUsage& usage);
absl::Status ValidateQueue(const SchedulerConfig& config, const Queue& queue);
absl::Status ValidateBudget(const DisruptionBudget& budget);
absl::Status ValidatePriorityClass(const PriorityClass& priority_class);
// The gang by itself: its queue, class and node sets are looked up elsewhere.
absl::Status ValidateGang(const SchedulerConfig& config, const Gang& gang);

// The node's capacity, with that of all others that are there, is at most 2^62
// of each kind; or that of all these nodes.
absl::Status ValidateClusterTotal(const Cluster& cluster,
                                  const SchedulerConfig& config,
                                  const Node& node);
absl::Status ValidateClusterTotal(const SchedulerConfig& config,
                                  std::span<const Node> nodes);

// A time that a host tells: within +-kForever / 2.
absl::Status ValidateTime(std::string_view field, Time time);
// A value of its enum.
absl::Status NotAnEnumValue(std::string_view field, uint64_t value,
                            size_t count);
template <class E>
absl::Status ValidateEnum(std::string_view field, E value) {
  const size_t count = EnumNames(E{}).size();
  return static_cast<size_t>(value) < count
             ? absl::OkStatus()
             : NotAnEnumValue(field, static_cast<uint64_t>(value), count);
}

// The start wave of each role: 0 for those that wait for none. An error if
// start_after names no role or goes round in a circle.
absl::StatusOr<std::vector<uint32_t>> StartWaves(const Gang& gang);

// InvalidArgument: the field and what is allowed.
absl::Status Invalid(std::string_view what);
// Refused in this version, wherever it is set.
absl::Status NotSupportedYet(std::string_view field);

}  // namespace muster

#endif  // MUSTER_LIB_SCHEDULER_VALIDATE_H_
