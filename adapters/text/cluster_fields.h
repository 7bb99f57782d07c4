// Parts of a cluster as YAML files have them, for every program that reads
// some: docs/scenario-format.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/text/yaml_reader.h"
#include "muster/config.h"
#include "muster/device.h"
#include "muster/partition.h"
#include "muster/priority_class.h"
#include "muster/queue.h"

namespace muster::inprocess {

// Mistakes are reported to the value's Problems, and what is read is then any
// value. O(what is read).

// Of a resource of the configuration; "cpu" and devices in thousandths.
int64_t ReadAmount(const std::string& resource, const Value& value,
                   const SchedulerConfig& config, int64_t most);
// `8`, {count: 8, model: H100, memory: 80Gi}, or a list of the latter; they are
// appended.
void ReadDevices(const Value& value, std::vector<Device>* devices);
// The name of a common scheme, or all of one.
PartitionScheme ReadPartitionScheme(const Value& value);
Queue ReadQueue(const Value& value, const SchedulerConfig& config);
PriorityClass ReadPriorityClass(const Value& value);
EvictionBackoff ReadEvictionBackoff(const Value& value);
std::vector<QueueOrderKey> ReadQueueOrder(const Value& value);

}  // namespace muster::inprocess
