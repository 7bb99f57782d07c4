#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "adapters/text/csv.h"
#include "adapters/workloads/trace.h"
#include "muster/device_set.h"

namespace muster::inprocess {
namespace {

constexpr Duration kDefaultOverhead = 10 * kSecond;
constexpr int64_t kMaxGpus = 1'000'000;

using Overheads = std::map<std::pair<int64_t, std::string>, Duration>;

absl::StatusOr<Overheads> LoadOverheads(const std::string& file) {
  Overheads overheads;
  if (file.empty()) return overheads;
  absl::StatusOr<CsvTable> table = CsvTable::Load(file);
  if (!table.ok()) return table.status();
  for (size_t r = 0; r < table->rows(); ++r) {
    const std::pair key(table->Integer(r, "num_gpu", 1, 1'000'000),
                        std::string(table->Text(r, "model")));
    overheads[key] = table->Scaled(r, "overhead_s", kSecond);
    if (!table->status().ok()) return table->status();
  }
  return overheads;
}

// One line: switches, nodes on each, GPUs in each node.
absl::StatusOr<std::vector<Node>> LoadNodes(const std::string& file) {
  absl::StatusOr<CsvTable> table = CsvTable::Load(file);
  if (!table.ok()) return table.status();
  std::vector<Node> nodes;
  if (table->rows() != 1) {
    return absl::InvalidArgumentError(file + ": should have two lines");
  }
  const int64_t switches = table->Integer(0, "num_switch", 1, 10'000);
  const int64_t per_switch = table->Integer(0, "num_node_p_switch", 1, 10'000);
  const int64_t gpus =
      table->Integer(0, "num_gpu_p_node", 1, DeviceSet::kCapacity);
  if (!table->status().ok()) return table->status();
  if (switches * per_switch * gpus > kMaxGpus) {
    return table->Wrong(
        0, "num_switch",
        "more than " + std::to_string(kMaxGpus) + " GPUs in all");
  }
  for (int64_t s = 0; s < switches; ++s) {
    for (int64_t n = 0; n < per_switch; ++n) {
      Node node{.key = "node-" + std::to_string(s) + "-" + std::to_string(n)};
      node.devices.assign(static_cast<size_t>(gpus), Device{});
      node.labels = {{.key = "switch", .value = std::to_string(s)}};
      nodes.push_back(std::move(node));
    }
  }
  return nodes;
}

Job ReadJob(CsvTable* table, size_t r, const MuriOptions& options,
            const Overheads& overheads) {
  Job job;
  Gang& gang = job.gang;
  gang.key = "job-" + std::string(table->Text(r, "job_id"));
  gang.queue = "default";
  const int64_t gpus = table->Integer(r, "num_gpu", 1, 100'000);
  gang.submitted =
      table->Integer(r, "submit_time", 0, int64_t{1} << 42) * kMillisecond;
  const int64_t iterations =
      table->Integer(r, "iterations", 0, int64_t{1} << 40);
  // Microseconds, so that fractions of a millisecond are kept.
  const int64_t micros = table->Scaled(r, "iteration_time", 1000);
  const __int128 work =
      static_cast<__int128>(iterations) * micros * 1015;  // Nanoseconds.
  job.work = static_cast<Duration>(std::min<__int128>(work, int64_t{1} << 56));
  job.checkpoint_every = options.checkpoint_every;
  const auto overhead =
      overheads.find({gpus, std::string(table->Text(r, "model_name"))});
  gang.restart_cost =
      overhead == overheads.end() ? kDefaultOverhead : overhead->second;
  gang.expected_runtime = job.work;
  const int64_t priority = table->Integer(r, "priority", 0, 1'000'000);
  if (options.policy == TracePolicy::kPriority) {
    gang.priority_class = "priority-" + std::to_string(priority);
  }
  Role& role = gang.roles.emplace_back();
  role.min_tasks = role.desired_tasks = static_cast<uint32_t>(gpus);
  role.shape.devices.count = 1;
  return job;
}

}  // namespace

absl::StatusOr<Trace> LoadMuri(const MuriOptions& options) {
  absl::StatusOr<Overheads> overheads = LoadOverheads(options.overhead);
  if (!overheads.ok()) return overheads.status();
  absl::StatusOr<std::vector<Node>> nodes = LoadNodes(options.nodes);
  if (!nodes.ok()) return nodes.status();
  absl::StatusOr<CsvTable> table = CsvTable::Load(options.jobs);
  if (!table.ok()) return table.status();
  std::vector<Job> jobs;
  std::map<std::string, int64_t> classes;
  std::set<std::string> keys;
  for (size_t r = 0; r < table->rows(); ++r) {
    jobs.push_back(ReadJob(&*table, r, options, *overheads));
    if (!table->status().ok()) return table->status();
    const Gang& gang = jobs.back().gang;
    if (!keys.insert(gang.key).second) {
      return table->Wrong(r, "job_id", "'" + gang.key + "' appears twice");
    }
    if (!gang.priority_class.empty()) {
      classes[gang.priority_class] =
          table->Integer(r, "priority", 0, 1'000'000);
    }
  }
  std::ranges::stable_sort(jobs, {},
                           [](const Job& j) { return j.gang.submitted; });
  Trace trace;
  trace.setup.nodes = *std::move(nodes);
  trace.setup.queues = {{.key = "default"}};
  trace.setup.config.topologies = {{.key = "network", .levels = {"switch"}}};
  trace.setup.config.preemption = options.policy == TracePolicy::kPriority;
  for (const auto& [key, value] : classes) {
    trace.setup.priority_classes.push_back(
        {.key = key, .value = static_cast<int32_t>(value)});
  }
  trace.jobs = std::make_unique<VectorSource>(std::move(jobs));
  return trace;
}

}  // namespace muster::inprocess
