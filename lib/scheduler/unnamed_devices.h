// Which devices others have of whom a host tells only how many they use
// (ExternalUsage::unnamed_devices).
#pragma once

#include "lib/scheduler/gang_table.h"
#include "lib/scheduler/node_records.h"
#include "lib/scheduler/scheduler_tables.h"
#include "muster/device.h"
#include "muster/ids.h"
#include "muster/node.h"

namespace muster {

// Devices of the node that external usage does not name.
DeviceSet DevicesLeft(const Node& node, const ExternalUsage& external);

// What the unnamed ones are booked as: those they were taken to be, and in
// place of one that a task has, another; where there is none, those of the
// tasks that give way first. O(tasks on the node, times the logarithm where it
// is as full as that).
DeviceSet UnnamedDevices(const SchedulerTables& tables, NodeIndex n,
                         const NodeRecords::Facts& facts);

// Until when stopping the gang makes no room: on one of its nodes others lack
// devices, because a gang there does not stop, and would have what this one
// leaves. At that time the other one is asked again; kForever if nobody is. 0:
// it makes room. O(1) if no node is overcommitted, else O(tasks of the gang +
// tasks on such nodes).
Time LeavesToOthersUntil(const SchedulerTables& tables, const GangRecord& r);

}  // namespace muster
