#include "lib/scheduler/unnamed_devices.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace muster {
namespace {

const TaskRecord& TaskOf(const SchedulerTables& tables, const NodeTask& ref) {
  return *FindTask(tables.gangs.at(ref.gang), ref.task);
}

// What tasks have of the node's devices, or are nominated for.
DeviceSet DevicesOfTasks(const SchedulerTables& tables, NodeIndex n) {
  DeviceSet devices;
  for (const NodeTask& ref : tables.nodes.tasks(n)) {
    const TaskRecord& task = TaskOf(tables, ref);
    if (task.phase <= TaskPhase::kReleasing) devices |= task.at.devices;
  }
  return devices;
}

// Up to `count` of `from`, the last first: solvers begin with the first.
void TakeLast(DeviceSet from, uint32_t* count, DeviceSet* to) {
  std::vector<uint32_t> rising;
  for (const uint32_t d : from) rising.push_back(d);
  for (; *count > 0 && !rising.empty(); --*count, rising.pop_back()) {
    to->Insert(rising.back());
  }
}

// How tasks have a device that others have, too: who has it most firmly, and of
// those that are alike the first in queue order.
struct DeviceClaim {
  enum Kind : uint8_t { kNominated, kLeaves, kPreemptible, kFirm };
  Kind kind = kNominated;
  // Others were not taken to have it so far. Of those that are alike they keep
  // what they were taken to have: what else is given up may be given away.
  bool is_new = false;
  QueuePosition position{};
  uint32_t device = 0;

  // The one that gives way first is first.
  friend bool operator<(const DeviceClaim& a, const DeviceClaim& b) {
    return std::tie(a.kind, a.is_new, b.position, b.device) <
           std::tie(b.kind, b.is_new, a.position, a.device);
  }
};

DeviceClaim ClaimOf(const SchedulerTables& tables, const NodeTask& ref,
                    const TaskRecord& task) {
  DeviceClaim claim{.position = tables.lists.PositionOf(ref.gang)};
  if (task.phase == TaskPhase::kReleasing) {
    claim.kind = DeviceClaim::kLeaves;
  } else if (task.phase != TaskPhase::kNominated) {
    claim.kind = tables.SpecOf(ref.gang).gang().preemptible
                     ? DeviceClaim::kPreemptible
                     : DeviceClaim::kFirm;
  }
  return claim;
}

// One for each device that tasks have, the first that gives way first;
// `before`: those that others were taken to have.
std::vector<DeviceClaim> ClaimsOn(const SchedulerTables& tables, NodeIndex n,
                                  const DeviceSet& before) {
  std::map<uint32_t, DeviceClaim> strongest;
  for (const NodeTask& ref : tables.nodes.tasks(n)) {
    const TaskRecord& task = TaskOf(tables, ref);
    if (task.phase > TaskPhase::kReleasing) continue;
    DeviceClaim claim = ClaimOf(tables, ref, task);
    for (const uint32_t d : task.at.devices) {
      claim.device = d;
      claim.is_new = !before.Contains(d);
      const auto [known, is_new] = strongest.try_emplace(d, claim);
      if (!is_new) known->second = std::max(known->second, claim);
    }
  }
  std::vector<DeviceClaim> claims;
  for (const auto& [device, claim] : strongest) claims.push_back(claim);
  std::ranges::sort(claims, std::less());
  return claims;
}

// Of the gangs on the node, when the first may be asked again to stop.
Time NextAsked(const SchedulerTables& tables, NodeIndex n) {
  Time at = kForever;
  if (tables.config.host.keeps_running) return at;
  for (const GangIndex g : tables.nodes.GangsOn(n)) {
    const Time spared = SparedUntil(tables.gangs.at(g));
    if (spared > tables.now) at = std::min(at, spared);
  }
  return at;
}

// Whether others lack devices on the node and would have one of these instead.
bool WouldHave(const SchedulerTables& tables, NodeIndex n,
               const DeviceSet& left) {
  const std::vector<DeviceClaim> claims =
      ClaimsOn(tables, n, tables.nodes.facts(n).unnamed);
  const bool lack = std::ranges::any_of(claims, [](const DeviceClaim& claim) {
    return !claim.is_new && claim.kind != DeviceClaim::kLeaves;
  });
  return lack && std::ranges::any_of(claims, [&](const DeviceClaim& claim) {
           return claim.is_new && claim.kind == DeviceClaim::kPreemptible &&
                  left.Contains(claim.device);
         });
}

}  // namespace

DeviceSet DevicesLeft(const Node& node, const ExternalUsage& external) {
  auto left = DeviceSet::FirstOf(static_cast<uint32_t>(node.devices.size()));
  for (const DeviceShare& share : external.devices) left.Erase(share.device);
  return left;
}

DeviceSet UnnamedDevices(const SchedulerTables& tables, NodeIndex n,
                         const NodeRecords::Facts& facts) {
  uint32_t wanted = facts.external.unnamed_devices;
  if (wanted == 0) return {};
  const Node& node = tables.cluster.node(n);
  const DeviceSet all = DevicesLeft(node, facts.external);
  const DeviceSet ours = DevicesOfTasks(tables, n);
  DeviceSet sick;
  for (const uint32_t d : all) {
    if (!node.devices[d].healthy) sick.Insert(d);
  }
  const DeviceSet before = facts.unnamed & all;
  DeviceSet unnamed;
  // The best first: those they had, then those that no task could have.
  for (const DeviceSet next : {before - ours, all - ours - sick, all - ours}) {
    TakeLast(next - unnamed, &wanted, &unnamed);
  }
  if (wanted == 0) return unnamed;
  for (const DeviceClaim& claim : ClaimsOn(tables, n, before)) {
    if (wanted == 0) break;
    if (!all.Contains(claim.device)) continue;
    unnamed.Insert(claim.device);
    --wanted;
  }
  return unnamed;
}

Time LeavesToOthersUntil(const SchedulerTables& tables, const GangRecord& r) {
  const std::set<NodeIndex>& overcommitted =
      tables.nodes.overcommit_candidates();
  if (overcommitted.empty()) return 0;
  Time until = 0;
  for (const TaskRecord& task : r.tasks) {
    if (task.phase > TaskPhase::kReleasing) continue;
    const NodeIndex n = task.at.node;
    if (!overcommitted.contains(n)) continue;
    if (tables.nodes.facts(n).external.unnamed_devices > 0 &&
        WouldHave(tables, n, task.at.devices)) {
      until = std::max(until, NextAsked(tables, n));
    }
  }
  return until;
}

}  // namespace muster
