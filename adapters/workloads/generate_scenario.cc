// Generated workloads as scenario files.
#include <type_traits>

#include "adapters/workloads/generate.h"
#include "adapters/workloads/units.h"
#include "muster/device.h"

namespace muster::inprocess {
namespace {

void Write(const Queue& q, std::ostream& out) {
  out << "  - {key: " << q.key;
  if (!q.parent.empty()) out << ", parent: " << q.parent;
  if (!q.quotas.empty()) {  // Of GPUs, then, and guaranteed.
    const Quota& quota = q.quotas[0];
    out << ", quotas: [{resource: " << quota.resource
        << ", guarantee: " << *quota.guarantee / kWholeDevice;
    if (quota.limit) out << ", limit: " << *quota.limit / kWholeDevice;
    out << "}]";
  }
  out << "}\n";
}

void Write(const PriorityClass& c, std::ostream& out) {
  out << "  - {key: " << c.key << ", value: " << c.value
      << ", grace: " << c.grace / kSecond << "s";
  if (c.min_runtime > 0) {
    out << ", min_runtime: " << c.min_runtime / kSecond << "s";
  }
  out << "}\n";
}

void Write(const Node& n, std::ostream& out) {
  out << "  - {key: " << n.key << ", capacity: {cpu: " << n.capacity[0] / 1000
      << ", memory: " << n.capacity[1] / kMebi
      << "Mi}, devices: {count: " << n.devices.size()
      << ", model: " << n.devices[0].model << "}, labels: {";
  for (const Label& l : n.labels) {
    out << (&l == n.labels.data() ? "" : ", ") << l.key << ": " << l.value;
  }
  out << "}";
  for (const Taint& t : n.taints) out << ", taints: [{key: " << t.key << "}]";
  out << "}\n";
}

void Write(const Role& r, std::ostream& out) {
  if (r.min_tasks == r.desired_tasks) {
    out << ", tasks: " << r.min_tasks;
  } else {
    out << ", min: " << r.min_tasks << ", desired: " << r.desired_tasks;
  }
  out << ", per_task: {cpu: " << r.shape.resources[0]
      << "m, memory: " << r.shape.resources[1] / kMebi << "Mi";
  const DeviceRequest& d = r.shape.devices;
  if (d.count > 0 && d.milli == kWholeDevice) out << ", gpu: " << d.count;
  if (d.count > 0 && d.milli < kWholeDevice) out << ", gpu: " << d.milli << "m";
  out << "}";
  for (const std::string& model : d.models) {
    out << ", devices: {models: [" << model << "]}";
  }
  for (const Toleration& t : r.tolerations) {
    out << ", tolerations: [{key: " << t.key << ", op: Exists}]";
  }
}

void Write(const Job& j, std::ostream& out) {
  const Gang& g = j.gang;
  out << "  - {key: " << g.key << ", queue: " << g.queue
      << ", priority_class: " << g.priority_class
      << ", submit: " << g.submitted / kSecond << "s, run: " << j.work / kSecond
      << "s";
  if (j.checkpoint_every > 0) {
    out << ", checkpoint_every: " << j.checkpoint_every / kSecond
        << "s, restart_cost: " << g.restart_cost / kSecond << "s";
  }
  Write(g.roles[0], out);
  if (!g.groups.empty()) {
    const TopologyConstraint& t = g.groups[0].topology;
    out << ", topology: {";
    if (!t.required.empty()) out << "required: " << t.required;
    if (!t.required.empty() && !t.preferred.empty()) out << ", ";
    if (!t.preferred.empty()) out << "preferred: " << t.preferred;
    out << "}";
  }
  out << "}\n";
}

void Write(const WorldEvent& e, std::ostream& out) {
  out << "  - {at: " << e.at / kSecond << "s, ";
  std::visit(
      [&](const auto& body) {
        using B = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<B, NodeDown>) {
          out << "node_down: " << body.node;
        } else if constexpr (std::is_same_v<B, NodeUp>) {
          out << "node_up: " << body.node;
        } else if constexpr (std::is_same_v<B, SpotNotice>) {
          out << "spot_notice: {node: " << body.node
              << ", at: " << body.at / kSecond << "s}";
        }
      },
      std::get<EventBody>(e.what));
  out << "}\n";
}

}  // namespace

void WriteScenario(const Generated& workload, std::ostream& out) {
  const Setup& setup = workload.setup;
  const Topology& topology = setup.config.topologies[0];
  out << "title: '" << ToText(workload.options) << "'\n"
      << "topologies:\n  - {key: " << topology.key << ", levels: [";
  for (const std::string& level : topology.levels) {
    out << (&level == topology.levels.data() ? "" : ", ") << level;
  }
  out << "]}\n";
  if (setup.config.work_budget > 0) {
    out << "scheduler:\n  work_budget: " << setup.config.work_budget << "\n";
  }
  out << "queues:\n";
  for (const Queue& q : setup.queues) Write(q, out);
  out << "priority_classes:\n";
  for (const PriorityClass& c : setup.priority_classes) Write(c, out);
  out << "nodes:\n";
  for (const Node& n : setup.nodes) Write(n, out);
  out << "gangs:\n";
  for (size_t i = 0; i < workload.jobs.size(); ++i) {
    Write(workload.MakeJob(i), out);
  }
  if (workload.events.empty()) return;
  out << "events:\n";
  for (const WorldEvent& e : workload.events) Write(e, out);
}

}  // namespace muster::inprocess
