// Scenario files: configuration, host, nodes and tenants.
#include <algorithm>
#include <limits>
#include <utility>

#include "adapters/scenario/footprint.h"
#include "adapters/scenario/scenario.h"

namespace muster::inprocess {
namespace {

Taint ReadTaint(const Value& value) {
  Taint taint;
  Fields f(value, "taint");
  f.Required("key", [&](const Value& v) { taint.key = v.Text(); });
  f.Text("value", &taint.value);
  f.Enum("effect", &taint.effect);
  return taint;
}

Topology ReadTopology(const Value& value) {
  Topology topology;
  Fields f(value, "topology");
  f.Required("key", [&](const Value& v) { topology.key = v.Text(); });
  f.Required("levels", [&](const Value& v) { topology.levels = v.Texts(); });
  return topology;
}

FabricTopology ReadFabric(const Value& value) {
  FabricTopology fabric;
  Fields f(value, "fabric");
  f.Required("key", [&](const Value& v) { fabric.key = v.Text(); });
  f.Required("text", [&](const Value& v) { fabric.text = v.Text(); });
  return fabric;
}

void ReadPlacement(const Value& value, const SchedulerConfig& config,
                   PlacementOptions* options) {
  Fields f(value, "placement");
  f.Enum("policy", &options->policy);
  f.Integer("seed", &options->seed, 0, std::numeric_limits<int64_t>::max());
  f.Optional("typical_tasks", [&](const Value& list) {
    list.Each([&](const Value& v) {
      TypicalTask& task = options->typical_tasks.emplace_back();
      Fields t(v, "typical task");
      t.Integer("weight", &task.weight, 1, TypicalTask::kMaxWeight);
      ReadShape(&t, config, &task.shape);
    });
  });
  f.Optional("supply", [&](const Value& v) {
    v.EachEntry([&](const std::string& model, const Value& devices) {
      options->supply.push_back(
          {model, devices.Integer(0, ModelSupply::kMaxDevices)});
    });
  });
  f.Optional("yardstick", [&](const Value& v) {
    int64_t milli = 0;
    options->yardstick = ReadResources(v, config, &milli);
    if (milli > 0) {
      options->yardstick.Set(config.KindOf(config.device_kind), milli);
    }
  });
}

Lapse ReadLapse(const Value& value) {
  Lapse lapse;
  Fields f(value, "lapse");
  f.Required("gang", [&](const Value& v) { lapse.gang = v.Text(); });
  f.Required("what", [&](const Value& v) { lapse.kind = v.Enum<LapseKind>(); });
  f.Optional("on", [&](const Value& v) {
    const std::string on = v.Text();
    if (on != "start" && on != "stop") v.Wrong("is neither start nor stop");
    lapse.on_stop = on == "stop";
  });
  f.Text("node", &lapse.node);
  f.Span("delay", &lapse.delay);
  f.Integer("times", &lapse.times, 1, 1'000'000);
  if (lapse.kind == LapseKind::kElsewhere && lapse.node.empty()) {
    value.Wrong("'elsewhere' needs a node");
  }
  return lapse;
}

void ReadHost(const Value& value, SchedulerConfig* config, HostModel* host) {
  Fields f(value, "host");
  f.Optional("capabilities", [&](const Value& v) {
    Fields c(v, "capabilities");
    c.Bool("suspend", &config->host.suspend);
    c.Bool("shrink", &config->host.shrink);
    c.Bool("migrate", &config->host.migrate);
    c.Bool("choose_devices", &config->host.choose_devices);
    c.Bool("nominate", &config->host.nominate);
    c.Bool("grace", &config->host.grace);
    c.Texts("suspended_keeps", &config->host.suspended_keeps);
    c.Bool("keeps_running", &config->host.keeps_running);
  });
  f.Span("start_time", &host->start_time);
  f.Span("stop_time", &host->stop_time);
  f.Span("answer_delay", &host->answer_delay);
  f.Span("answer_gap", &host->answer_gap);
  f.Integer("answers", &host->answers, 1, 100);
  f.Optional("lapses", [&](const Value& list) {
    list.Each([&](const Value& v) { host->lapses.push_back(ReadLapse(v)); });
  });
}

}  // namespace

Resources ReadResources(const Value& value, const SchedulerConfig& config,
                        int64_t* device_milli) {
  Resources resources;
  value.EachEntry([&](const std::string& name, const Value& v) {
    const int64_t amount = ReadAmount(name, v, config, Resources::kMaxQuantity);
    if (name == config.device_kind) {
      if (device_milli == nullptr) {
        v.Wrong("devices are named under 'devices'");
      } else {
        *device_milli = amount;
      }
      return;
    }
    const ResourceKind kind = config.KindOf(name);
    if (kind < config.resources.size()) resources.Set(kind, amount);
  });
  return resources;
}

void ReadConfig(Fields* top, SchedulerConfig* config) {
  top->Texts("resources", &config->resources);
  top->Text("device_kind", &config->device_kind);
  top->Text("node_kind", &config->node_kind);
  top->Optional("topologies", [&](const Value& list) {
    list.Each(
        [&](const Value& v) { config->topologies.push_back(ReadTopology(v)); });
  });
  top->Optional("fabrics", [&](const Value& list) {
    list.Each(
        [&](const Value& v) { config->fabrics.push_back(ReadFabric(v)); });
  });
  top->Optional("partition_schemes", [&](const Value& list) {
    list.Each([&](const Value& v) {
      config->partition_schemes.push_back(ReadPartitionScheme(v));
    });
  });
}

PreemptionCosts ReadPreemptionCosts(const Value& value) {
  PreemptionCosts costs;
  if (!value.IsMap()) {
    if (value.Text() != "fewest-gangs") {
      value.Wrong("is neither a mapping nor 'fewest-gangs'");
    }
    return PreemptionCosts::FewestGangs();
  }
  Fields f(value, "preemption_costs");
  f.Optional("restart", [&](const Value& v) {
    costs.restart = static_cast<uint32_t>(
        std::clamp<int64_t>(v.Quantity(1000), 0, PreemptionCosts::kMaxRestart));
  });
  f.Optional("gang", [&](const Value& v) {
    costs.gang = std::min(v.Span() / kMillisecond, PreemptionCosts::kMaxGang);
  });
  f.Bool("surplus_first", &costs.surplus_first);
  return costs;
}

void ReadSettings(Fields* top, SchedulerConfig* config, HostModel* host) {
  top->Optional("scheduler", [&](const Value& v) {
    Fields f(v, "scheduler");
    f.Integer("work_budget", &config->work_budget, 0,
              std::numeric_limits<int64_t>::max());
    for (const auto& [key, steps] :
         {std::pair("placement_steps", &config->search.placement_steps),
          std::pair("victim_steps", &config->search.victim_steps)}) {
      f.Integer(key, steps, 0, int64_t{1} << 40);
    }
    f.Integer("most_effort", &config->search.most_effort, 0,
              GangClassState::kMostEffort);
    f.Span("backoff_base", &config->backoff_base);
    f.Span("backoff_max", &config->backoff_max);
    f.Bool("preemption", &config->preemption);
    f.Optional("preemption_costs", [&](const Value& costs) {
      config->preemption_costs = ReadPreemptionCosts(costs);
    });
    f.Optional("eviction_backoff", [&](const Value& backoff) {
      config->eviction_backoff = ReadEvictionBackoff(backoff);
    });
    f.Optional("queue_order", [&](const Value& keys) {
      config->queue_order = ReadQueueOrder(keys);
    });
  });
  top->Optional("placement", [&](const Value& v) {
    ReadPlacement(v, *config, &config->placement);
  });
  top->Optional("host", [&](const Value& v) { ReadHost(v, config, host); });
}

Labels ReadLabels(const Value& value) {
  Labels labels;
  value.EachEntry([&](const std::string& key, const Value& v) {
    labels.push_back({.key = key, .value = v.Text()});
  });
  std::ranges::sort(labels);
  return labels;
}

void ReadNodes(const Value& value, const SchedulerConfig& config,
               std::vector<Node>* nodes, std::vector<Mark>* marks) {
  Node node;
  int64_t count = 0;
  Fields f(value, "node");
  f.Required("key", [&](const Value& v) { node.key = v.Text(); });
  f.Integer("count", &count, 1, 1'000'000);
  f.Optional("capacity", [&](const Value& v) {
    node.capacity = ReadResources(v, config, nullptr);
  });
  f.Optional("devices", [&](const Value& v) { ReadDevices(v, &node.devices); });
  if (node.devices.size() > DeviceSet::kCapacity) {
    value.Wrong("has more than " + std::to_string(DeviceSet::kCapacity) +
                " devices");
  }
  f.Optional("labels", [&](const Value& v) { node.labels = ReadLabels(v); });
  f.Optional("taints", [&](const Value& list) {
    list.Each([&](const Value& v) { node.taints.push_back(ReadTaint(v)); });
  });
  f.Bool("schedulable", &node.schedulable);
  const std::string key = node.key;
  if (!value.Affords(std::max<int64_t>(1, count), Footprint(node))) return;
  for (int64_t i = 0; i < std::max<int64_t>(1, count); ++i) {
    if (count > 0) node.key = key + "-" + std::to_string(i);
    nodes->push_back(node);
    marks->push_back(value.mark());
  }
}

NodeSet ReadNodeSet(const Value& value) {
  NodeSet set;
  Fields f(value, "node set");
  f.Required("key", [&](const Value& v) { set.key = v.Text(); });
  f.Texts("nodes", &set.nodes);
  return set;
}

ExternalUsage ReadExternalUsage(const Value& value,
                                const SchedulerConfig& config) {
  ExternalUsage external;
  Fields f(value, "others");
  f.Required("node", [&](const Value& v) { external.node = v.Text(); });
  f.Optional("amount", [&](const Value& v) {
    external.amount = ReadResources(v, config, nullptr);
  });
  f.Optional("devices", [&](const Value& list) {
    list.Each([&](const Value& v) {
      DeviceShare share;
      Fields d(v, "device share");
      d.Integer("device", &share.device, 0, 63);
      d.Optional("share", [&](const Value& s) {
        share.milli = static_cast<int32_t>(
            std::min<int64_t>(s.Quantity(1000), kWholeDevice));
      });
      d.Optional("memory",
                 [&](const Value& m) { share.memory_bytes = m.Quantity(1); });
      d.Text("partition", &share.partition);
      d.Integer("slot", &share.first_slice, 0, PartitionScheme::kMaxSlices - 1);
      external.devices.push_back(share);
    });
  });
  return external;
}

}  // namespace muster::inprocess
