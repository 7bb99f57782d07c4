// The list of all values that have a message in package muster.v1.
#ifndef MUSTER_WIRE_VALUES_H_
#define MUSTER_WIRE_VALUES_H_

#include "muster/config.h"
#include "muster/decision.h"
#include "muster/device.h"
#include "muster/disruption_budget.h"
#include "muster/event.h"
#include "muster/gang.h"
#include "muster/gang_class_state.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/placement_policy.h"
#include "muster/plan.h"
#include "muster/preemption_policy.h"
#include "muster/priority_class.h"
#include "muster/queue.h"
#include "muster/reason.h"
#include "muster/resources.h"
#include "muster/selector.h"
#include "muster/state.h"
#include "muster/topology.h"
#include "muster/wire/records.h"

// X(T) for each; the message of T is muster.v1.T.
// clang-format off
#define MUSTER_WIRE_VALUES(X)                                                  \
  X(TaskId) X(Resources) X(Device) X(DeviceRequest) X(DeviceShare)             \
  X(DevicePartition) X(PartitionProfile) X(PartitionScheme)                     \
  X(Label) X(Requirement) X(SelectorTerm) X(NodeSelector) X(Preference)        \
  X(Taint) X(Toleration) X(Topology) X(FabricTopology) X(Slice) X(Spread) X(TopologyConstraint)  \
  X(Node) X(ExternalUsage) X(NodeSet)                                             \
  X(TaskShape) X(Role) X(Group) X(Traffic) X(GangAffinity) X(SpeedEntry)       \
  X(Gang) X(Quota) X(PreemptionPolicy) X(Queue) X(PriorityClass) X(DisruptionBudget)               \
  X(NamedReason) X(PlannedTaskRecord) X(DecisionRecord) X(GangClassState) X(PlanRecord)          \
  X(TypicalTask) X(ModelSupply) X(PlacementOptions)                            \
  X(HostCapabilities) X(SearchLimits) X(PreemptionCosts) X(EvictionBackoff) X(SchedulerConfig) X(TaskState) X(PendingDecision)          \
  X(GangMinimum) X(GangState) X(NodeState) X(SchedulerState)                   \
  X(NodeChanged) X(NodeDown) X(NodeUp) X(NodeRemoved) X(NodeDrained)           \
  X(SpotNotice) X(ExternalUsageChanged) X(NodeSetChanged)                             \
  X(QueueChanged) X(QueueRemoved) X(PriorityClassChanged)                      \
  X(GangSubmitted) X(GangHeld) X(GangReprioritized) X(GangCancelled)           \
  X(GangFinished) X(CheckpointTaken) X(GangChanged) X(GangMoved) X(GangYielded) \
  X(NodeSetRemoved) X(PriorityClassRemoved) X(DisruptionBudgetChanged) X(ConfigChanged)  \
  X(TaskAnswer) X(TasksAnswered) X(DecisionApplied) X(DecisionRefused)         \
  X(RealTask) X(RealGang) X(Reconciled) X(Event)                                           \
  X(JournalHeader) X(JournalRecord)
// clang-format on

namespace muster::wire {

template <class T>
inline constexpr bool kHasMessage = false;
#define MUSTER_WIRE_HAS_MESSAGE(T) \
  template <>                      \
  inline constexpr bool kHasMessage<T> = true;
MUSTER_WIRE_VALUES(MUSTER_WIRE_HAS_MESSAGE)
#undef MUSTER_WIRE_HAS_MESSAGE

// A type with a message.
template <class T>
concept Value = kHasMessage<T>;

}  // namespace muster::wire

#endif  // MUSTER_WIRE_VALUES_H_
