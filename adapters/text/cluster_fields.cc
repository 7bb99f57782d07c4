#include "adapters/text/cluster_fields.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "muster/device_set.h"

namespace muster::inprocess {
namespace {

constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();

// cpu and devices are counted in thousandths, all else as it is.
int64_t ScaleOf(const std::string& resource, const SchedulerConfig& config) {
  return resource == "cpu" || resource == config.device_kind ? 1000 : 1;
}

Device ReadDevice(Fields* f) {
  Device device;
  f->Text("model", &device.model);
  f->Optional("memory",
              [&](const Value& v) { device.memory_bytes = v.Quantity(1); });
  f->Integer("island", &device.island, -1, kMax32);
  f->Integer("numa", &device.numa, -1, kMax32);
  f->Integer("rail", &device.rail, -1, 63);
  f->Bool("healthy", &device.healthy);
  f->Text("partition_scheme", &device.partition_scheme);
  f->Optional("partitions", [&](const Value& list) {
    list.Each([&](const Value& v) {
      DevicePartition& piece = device.partitions.emplace_back();
      Fields p(v, "host-cut partition");
      p.Required("profile", [&](const Value& x) { piece.profile = x.Text(); });
      p.Integer("start", &piece.start, 0, PartitionScheme::kMaxSlices - 1);
    });
  });
  return device;
}

}  // namespace

int64_t ReadAmount(const std::string& resource, const Value& v,
                   const SchedulerConfig& config, int64_t most) {
  if (config.KindOf(resource) == config.resources.size()) {
    std::string known;
    for (const std::string& r : config.resources) {
      known += (known.empty() ? "" : ", ") + r;
    }
    v.Wrong("unknown resource '" + resource + "' (known: " + known + ")");
    return 0;
  }
  const int64_t amount = v.Quantity(ScaleOf(resource, config));
  if (amount > most) v.Wrong("is too large");
  return amount;
}

void ReadDevices(const Value& value, std::vector<Device>* devices) {
  if (value.IsSequence()) {
    return value.Each([&](const Value& v) { ReadDevices(v, devices); });
  }
  int64_t count = 1;
  Device device;
  if (value.IsMap()) {
    Fields f(value, "device");
    f.Integer("count", &count, 0, DeviceSet::kCapacity);
    device = ReadDevice(&f);
  } else {
    count = value.Integer(0, DeviceSet::kCapacity);
  }
  if (devices->size() + static_cast<size_t>(count) > DeviceSet::kCapacity) {
    value.Wrong("a node has at most " + std::to_string(DeviceSet::kCapacity) +
                " devices");
    return;
  }
  devices->insert(devices->end(), static_cast<size_t>(count), device);
}

PartitionScheme ReadPartitionScheme(const Value& value) {
  if (!value.IsMap()) {
    std::string known;
    for (PartitionScheme& common : CommonPartitionSchemes()) {
      if (common.key == value.Text()) return std::move(common);
      known += (known.empty() ? "" : ", ") + common.key;
    }
    value.Wrong("unknown scheme '" + value.Text() + "' (known: " + known + ")");
    return {};
  }
  PartitionScheme scheme;
  Fields f(value, "partition scheme");
  f.Required("key", [&](const Value& v) { scheme.key = v.Text(); });
  f.Integer("slices", &scheme.memory_slices, 1, PartitionScheme::kMaxSlices);
  f.Required("profiles", [&](const Value& list) {
    list.Each([&](const Value& v) {
      PartitionProfile& profile = scheme.profiles.emplace_back();
      Fields p(v, "profile");
      p.Required("name", [&](const Value& x) { profile.name = x.Text(); });
      p.Integer("slices", &profile.memory_slices, 1,
                PartitionScheme::kMaxSlices);
      p.Optional("share", [&](const Value& x) {
        profile.milli = static_cast<int32_t>(
            std::min<int64_t>(x.Quantity(kWholeDevice), kMax32));
      });
      p.Required("starts", [&](const Value& starts) {
        starts.Each([&](const Value& x) {
          profile.starts.push_back(static_cast<uint32_t>(
              x.Integer(0, PartitionScheme::kMaxSlices - 1)));
        });
      });
    });
  });
  return scheme;
}

PreemptionPolicy ReadPreemptionPolicy(const Value& value) {
  PreemptionPolicy policy;
  Fields f(value, "preemption policy");
  f.Enum("within", &policy.within);
  f.Enum("across", &policy.across);
  f.Enum("borrowing", &policy.borrowing);
  f.Integer("borrowing_threshold", &policy.borrowing_threshold,
            std::numeric_limits<int32_t>::min(), kMax32);
  return policy;
}

Queue ReadQueue(const Value& value, const SchedulerConfig& config) {
  Queue queue;
  Fields f(value, "queue");
  f.Required("key", [&](const Value& v) { queue.key = v.Text(); });
  f.Text("parent", &queue.parent);
  f.Integer("weight", &queue.weight, 1, kMax32);
  f.Integer("band", &queue.band, std::numeric_limits<int32_t>::min(), kMax32);
  f.Enum("ordering", &queue.ordering);
  f.Bool("closed", &queue.closed);
  f.Bool("held", &queue.held);
  f.Optional("quotas", [&](const Value& list) {
    list.Each([&](const Value& v) {
      Quota quota;
      Fields q(v, "quota");
      q.Required("resource",
                 [&](const Value& r) { quota.resource = r.Text(); });
      q.Text("flavor", &quota.flavor);
      auto amount = [&](const char* key, std::optional<int64_t>* to) {
        q.Optional(key, [&](const Value& a) {
          *to = ReadAmount(quota.resource, a, config, kMaxQuota);
        });
      };
      amount("guarantee", &quota.guarantee);
      amount("limit", &quota.limit);
      amount("borrow_limit", &quota.borrow_limit);
      amount("lend_limit", &quota.lend_limit);
      queue.quotas.push_back(quota);
    });
  });
  f.Optional("preemption", [&](const Value& v) {
    queue.preemption = ReadPreemptionPolicy(v);
  });
  return queue;
}

EvictionBackoff ReadEvictionBackoff(const Value& value) {
  EvictionBackoff backoff;
  Fields f(value, "eviction_backoff");
  f.Span("wait_base", &backoff.wait_base);
  f.Span("wait_max", &backoff.wait_max);
  f.Span("protection_base", &backoff.protection_base);
  f.Span("protection_max", &backoff.protection_max);
  return backoff;
}

std::vector<QueueOrderKey> ReadQueueOrder(const Value& value) {
  std::vector<QueueOrderKey> keys;
  value.Each(
      [&](const Value& key) { keys.push_back(key.Enum<QueueOrderKey>()); });
  return keys;
}

PriorityClass ReadPriorityClass(const Value& value) {
  PriorityClass c;
  Fields f(value, "priority class");
  f.Required("key", [&](const Value& v) { c.key = v.Text(); });
  f.Integer("value", &c.value, std::numeric_limits<int32_t>::min(), kMax32);
  f.Bool("may_preempt", &c.may_preempt);
  f.Enum("on_preempted", &c.on_preempted);
  f.Span("min_runtime", &c.min_runtime);
  f.Span("grace", &c.grace);
  return c;
}

}  // namespace muster::inprocess
