// What each field of a value that a host hands in may be: one line for each
// that has bounds of its own. The public headers say them in words.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "muster/config.h"
#include "muster/device_set.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/state.h"

namespace muster {

// Of a number: its values. Of a text or a list: its length.
struct Bound {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
  bool or_forever = false;  // kForever is allowed, too.
  bool of_keys = false;     // Of a list: its texts are keys.
};

namespace bounds {

// One field of T.
template <class T, class M>
struct Of {
  M T::* field;
  Bound bound;
};
template <class T, class M>
Of(M T::*, Bound) -> Of<T, M>;

inline constexpr Bound kAny{};
inline constexpr Bound kKey{1, int64_t{kMaxKeyLength}};
inline constexpr Bound kText{0, int64_t{kMaxTextLength}};
inline constexpr Bound kList{0, int64_t{kMaxListLength}};
inline constexpr Bound kAt{0, kMaxTime};
// A time reckoned from others, if there is one.
inline constexpr Bound kUntil{0, kMaxTime + kMaxDuration, true};
inline constexpr Bound kRunTime{0, kMaxTime, true};
inline constexpr Bound kSpan{0, kMaxDuration};
inline constexpr Bound kInt32{-1, std::numeric_limits<int32_t>::max()};
inline constexpr Bound kMemory{0, kMaxDeviceMemory};
inline constexpr Bound kMilli{0, kWholeDevice};
inline constexpr Bound kFirstSlice{0, PartitionScheme::kMaxSlices - 1};
inline constexpr Bound kSlices{1, PartitionScheme::kMaxSlices};
inline constexpr Bound kDevices{0, int64_t{DeviceSet::kCapacity}};
inline constexpr Bound kNodes{0, kMaxNodes};
inline constexpr Bound kTasks{0, Gang::kMaxTasks};
inline constexpr Bound kTopologies{0, int64_t{SchedulerConfig::kMaxTopologies}};
// Decisions and versions are counted without coming to the end of their type.
inline constexpr Bound kSeq{1, int64_t{1} << 62};

constexpr Bound To(int64_t most) { return {0, most}; }

// The fields of T with bounds of their own.
template <class T>
inline constexpr auto kBounds = std::tuple();

#define MUSTER_BOUNDS(T, ...) \
  template <>                 \
  inline constexpr auto kBounds<T> = std::tuple(__VA_ARGS__)

// --- Nodes
MUSTER_BOUNDS(Taint, Of{&Taint::since, kAt});
MUSTER_BOUNDS(Toleration, Of{&Toleration::key, kText},  // Or empty.
              Of{&Toleration::seconds, {-1, int64_t{1} << 31}});
MUSTER_BOUNDS(Preference, Of{&Preference::weight, {1, 100}});
MUSTER_BOUNDS(Device, Of{&Device::memory_bytes, kMemory},
              Of{&Device::island, kInt32}, Of{&Device::numa, kInt32},
              Of{&Device::rail, {-1, 63}},
              Of{&Device::partitions, To(PartitionScheme::kMaxSlices)});
MUSTER_BOUNDS(DeviceRequest, Of{&DeviceRequest::count, kDevices},
              Of{&DeviceRequest::milli, kMilli},
              Of{&DeviceRequest::memory_bytes, kMemory});
MUSTER_BOUNDS(DeviceShare, Of{&DeviceShare::milli, kMilli},
              Of{&DeviceShare::memory_bytes, kMemory},
              Of{&DeviceShare::first_slice, kFirstSlice});
MUSTER_BOUNDS(PartitionProfile, Of{&PartitionProfile::name, kKey},
              Of{&PartitionProfile::memory_slices, kSlices},
              Of{&PartitionProfile::milli, {1, kWholeDevice}},
              Of{&PartitionProfile::starts, kSlices});
MUSTER_BOUNDS(PartitionScheme, Of{&PartitionScheme::memory_slices, kSlices},
              Of{&PartitionScheme::profiles,
                 {1, int64_t{PartitionScheme::kMaxProfiles}}});
MUSTER_BOUNDS(Node, Of{&Node::devices, kDevices},
              Of{&Node::taints, To(Node::kMaxTaints)});
MUSTER_BOUNDS(ExternalUsage, Of{&ExternalUsage::unnamed_devices, kDevices});
MUSTER_BOUNDS(NodeSet, Of{&NodeSet::nodes, {0, kMaxNodes, false, true}});

// --- Tenants
MUSTER_BOUNDS(Quota, Of{&Quota::guarantee, To(kMaxQuota)},
              Of{&Quota::limit, To(kMaxQuota)},
              Of{&Quota::borrow_limit, To(kMaxQuota)},
              Of{&Quota::lend_limit, To(kMaxQuota)});
MUSTER_BOUNDS(Queue, Of{&Queue::weight, {1, Queue::kMaxWeight}});
MUSTER_BOUNDS(PriorityClass, Of{&PriorityClass::min_runtime, kSpan},
              Of{&PriorityClass::grace, kSpan});

MUSTER_BOUNDS(DisruptionBudget,
              Of{&DisruptionBudget::gangs, {0, kMaxNodes, false, true}},
              Of{&DisruptionBudget::allowed, To(int64_t{1} << 32)});

// --- Gangs
MUSTER_BOUNDS(Slice, Of{&Slice::size, {1, kInt32.most}});
MUSTER_BOUNDS(Role, Of{&Role::min_tasks, kTasks},
              Of{&Role::desired_tasks, {1, Gang::kMaxTasks}},
              Of{&Role::alternatives, To(Role::kMaxAlternatives)});
MUSTER_BOUNDS(Traffic, Of{&Traffic::weight, {1, Traffic::kMaxWeight}});
MUSTER_BOUNDS(Gang, Of{&Gang::submitted, kAt},
              Of{&Gang::groups, To(Gang::kMaxGroups)},
              Of{&Gang::roles, {1, int64_t{Gang::kMaxRoles}}},
              Of{&Gang::not_before, kAt}, Of{&Gang::max_runtime, kSpan},
              Of{&Gang::expected_runtime, kSpan},
              Of{&Gang::restart_cost, kSpan});

// --- The configuration
MUSTER_BOUNDS(Topology, Of{&Topology::levels, {1, 16, false, true}});
MUSTER_BOUNDS(FabricTopology,
              Of{&FabricTopology::text, To(FabricTopology::kMaxTextLength)});
MUSTER_BOUNDS(TypicalTask,
              Of{&TypicalTask::weight, {1, TypicalTask::kMaxWeight}});
MUSTER_BOUNDS(ModelSupply,
              Of{&ModelSupply::devices, To(ModelSupply::kMaxDevices)});
MUSTER_BOUNDS(PlacementOptions, Of{&PlacementOptions::typical_tasks,
                                   To(PlacementOptions::kMaxTypicalTasks)});
MUSTER_BOUNDS(PreemptionCosts,
              Of{&PreemptionCosts::restart, To(PreemptionCosts::kMaxRestart)},
              Of{&PreemptionCosts::gang, To(PreemptionCosts::kMaxGang)});
MUSTER_BOUNDS(EvictionBackoff, Of{&EvictionBackoff::wait_base, kSpan},
              Of{&EvictionBackoff::wait_max, kSpan},
              Of{&EvictionBackoff::protection_base, kSpan},
              Of{&EvictionBackoff::protection_max, kSpan});
MUSTER_BOUNDS(SearchLimits,
              Of{&SearchLimits::placement_steps, To(SearchLimits::kMaxSteps)},
              Of{&SearchLimits::victim_steps, To(SearchLimits::kMaxSteps)},
              Of{&SearchLimits::most_effort, To(GangClassState::kMostEffort)});
MUSTER_BOUNDS(SchedulerConfig,
              Of{&SchedulerConfig::resources,
                 {0, Resources::kMaxKinds, false, true}},
              Of{&SchedulerConfig::topologies, kTopologies},
              Of{&SchedulerConfig::fabrics, kTopologies},
              Of{&SchedulerConfig::partition_schemes, kTopologies},
              Of{&SchedulerConfig::backoff_base, kSpan},
              Of{&SchedulerConfig::backoff_max, kSpan},
              Of{&SchedulerConfig::replacement_timeout, kSpan},
              Of{&SchedulerConfig::suspend_timeout, kSpan});

// --- Events
MUSTER_BOUNDS(Event, Of{&Event::at, kAt});
MUSTER_BOUNDS(SpotNotice, Of{&SpotNotice::at, kAt});
MUSTER_BOUNDS(CheckpointTaken, Of{&CheckpointTaken::at, kAt});
MUSTER_BOUNDS(TaskAnswer, Of{&TaskAnswer::devices, kDevices},
              Of{&TaskAnswer::first_slice, kFirstSlice});
MUSTER_BOUNDS(TasksAnswered, Of{&TasksAnswered::tasks, kTasks});
MUSTER_BOUNDS(RealTask, Of{&RealTask::devices, kDevices},
              Of{&RealTask::first_slice, kFirstSlice},
              Of{&RealTask::started, kUntil});
MUSTER_BOUNDS(Reconciled, Of{&Reconciled::nodes, kNodes},
              Of{&Reconciled::external, kNodes}, Of{&Reconciled::down, kNodes});

MUSTER_BOUNDS(RealGang, Of{&RealGang::started, kUntil},
              Of{&RealGang::checkpoint, kUntil},
              Of{&RealGang::run_time, kRunTime},
              Of{&RealGang::saved, kRunTime});

// --- States and plans
MUSTER_BOUNDS(TaskState, Of{&TaskState::first_slice, kFirstSlice});
MUSTER_BOUNDS(PendingDecision, Of{&PendingDecision::seq, kSeq},
              Of{&PendingDecision::tasks, {1, Gang::kMaxTasks}});
MUSTER_BOUNDS(GangState, Of{&GangState::attempts, To(kInt32.most)},
              Of{&GangState::failures, To(kInt32.most)},
              Of{&GangState::backoff_until, kUntil},
              Of{&GangState::run_time, kAt}, Of{&GangState::saved, kAt},
              Of{&GangState::unsaved, kAt}, Of{&GangState::started, kUntil},
              Of{&GangState::checkpoint, kAt}, Of{&GangState::since, kUntil},
              Of{&GangState::evictions, To(kInt32.most)},
              Of{&GangState::evicted, kAt},
              Of{&GangState::made_room_seq, To(kSeq.most)});
MUSTER_BOUNDS(NodeState, Of{&NodeState::spot_notice, kUntil});
MUSTER_BOUNDS(GangClassState, Of{&GangClassState::retry_at, kUntil},
              Of{&GangClassState::effort, To(GangClassState::kMostEffort)});
MUSTER_BOUNDS(SchedulerState, Of{&SchedulerState::now, kAt},
              Of{&SchedulerState::version, To(kSeq.most)},
              Of{&SchedulerState::next_seq, kSeq},
              Of{&SchedulerState::round_seq, kSeq},
              Of{&SchedulerState::external_seq, To(kSeq.most)},
              Of{&SchedulerState::nodes, kNodes});
MUSTER_BOUNDS(PlannedTaskRecord,
              Of{&PlannedTaskRecord::first_slice, kFirstSlice});
MUSTER_BOUNDS(DecisionRecord, Of{&DecisionRecord::seq, kSeq},
              Of{&DecisionRecord::tasks, kTasks});
MUSTER_BOUNDS(PlanRecord, Of{&PlanRecord::now, kAt});

#undef MUSTER_BOUNDS

// Those of one field of a value; texts and lists have usual ones, and what is
// named a key is a key.
template <class M>
inline constexpr Bound kUsual = kAny;
template <>
inline constexpr Bound kUsual<std::string> = kText;
template <class E>
inline constexpr Bound kUsual<std::vector<E>> = kList;

// The lists of these have no end but that of what they tell of.
template <class T>
inline constexpr bool kIsEndless =
    std::is_same_v<T, Reconciled> || std::is_same_v<T, GangState> ||
    std::is_same_v<T, SchedulerState> || std::is_same_v<T, PlanRecord>;

template <class T, class M>
constexpr Bound BoundOf(const T& value, std::string_view name,
                        const M& member) {
  Bound bound = name == "key" ? kKey : kIsEndless<T> ? kAny : kUsual<M>;
  const auto look = [&]<class F>(const Of<T, F>& b) {
    if constexpr (std::is_same_v<F, M>) {
      if (&(value.*b.field) == &member) bound = b.bound;
    }
  };
  std::apply([&](const auto&... each) { (look(each), ...); }, kBounds<T>);
  return bound;
}

}  // namespace bounds
}  // namespace muster
