#include "muster/workload/to_gang.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lib/workload/cat.h"
#include "muster/fabric/rank_order.h"

namespace muster::workload {
namespace {

constexpr std::string_view kMig = "nvidia.com/mig-";
// Thousandths of one device, and bytes of one.
constexpr std::string_view kGpuMilli = "muster.dev/gpu-milli";
constexpr std::string_view kGpuMemory = "muster.dev/gpu-memory";

// The shape of one task.
class ShapeMaker {
 public:
  ShapeMaker(const SchedulerConfig& config, const GangOptions& options)
      : config_(config), options_(options) {}

  // RequestsOf(alternative).
  absl::Status Make(const Role& role, uint32_t alternative,
                    TaskShape* shape) const {
    for (const Amount& a : role.task.RequestsOf(alternative)) {
      absl::Status s = Add(role, a, shape);
      if (!s.ok()) return s;
    }
    SelectorTerm term;
    for (const Label& l : role.task.node_labels) {
      term.all_of.push_back({l.key, SelectorOp::kIn, {l.value}});
    }
    if (!term.all_of.empty()) shape->selector.any_of.push_back(std::move(term));
    shape->whole_node = role.task.whole_node;
    return absl::OkStatus();
  }

 private:
  static absl::Status Bad(const Role& role, const Amount& a,
                          std::string_view what) {
    return absl::InvalidArgumentError(
        Cat(role.path, ": resource '", a.resource, "': ", what));
  }

  bool IsDevice(const std::string& resource) const {
    return resource == config_.device_kind ||
           std::ranges::find(options_.device_resources, resource) !=
               options_.device_resources.end();
  }

  // A part of one device: of its time, of its memory, or of both.
  static absl::Status AddShare(const Role& role, const Amount& a,
                               DeviceRequest* devices) {
    const bool by_time = a.resource == kGpuMilli;
    const bool has_other =
        by_time ? devices->memory_bytes > 0
                : devices->milli < kWholeDevice && devices->memory_bytes == 0;
    if (devices->count > 0 && !has_other)
      return Bad(role, a, "beside other devices");
    if (by_time && a.amount >= kWholeDevice)
      return Bad(role, a, "is not between 1 and 999");
    devices->count = 1;
    if (by_time) {
      devices->milli = static_cast<int32_t>(a.amount);
    } else {
      if (!has_other) devices->milli = 0;
      devices->memory_bytes = a.amount;
    }
    return absl::OkStatus();
  }

  absl::Status AddDevices(const Role& role, const Amount& a,
                          DeviceRequest* devices) const {
    if (config_.device_kind.empty()) {
      return Bad(role, a, "there are no devices here");
    }
    if (a.resource == kGpuMilli || a.resource == kGpuMemory) {
      return AddShare(role, a, devices);
    }
    if (devices->count > 0) return Bad(role, a, "beside other devices");
    devices->count = 1;
    if (a.resource.starts_with(kMig)) {
      if (a.amount != 1) return Bad(role, a, "is not 1");
      devices->partition = a.resource.substr(kMig.size());
    } else {
      if (a.amount > DeviceSet::kCapacity) {
        return Bad(role, a, Cat("is more than ", DeviceSet::kCapacity));
      }
      devices->count = static_cast<uint32_t>(a.amount);
    }
    return absl::OkStatus();
  }

  absl::Status Add(const Role& role, const Amount& a, TaskShape* shape) const {
    if (a.amount == 0) return absl::OkStatus();
    if (IsDevice(a.resource) || a.resource == kGpuMilli ||
        a.resource == kGpuMemory || a.resource.starts_with(kMig)) {
      return AddDevices(role, a, &shape->devices);
    }
    const ResourceKind kind = config_.KindOf(a.resource);
    if (kind < config_.resources.size()) {
      shape->resources.Set(kind, a.amount);
      return absl::OkStatus();
    }
    if (a.resource == "ephemeral-storage" || a.resource == "pods") {
      return absl::OkStatus();
    }
    return Bad(role, a, "is not known here");
  }

  const SchedulerConfig& config_;
  const GangOptions& options_;
};

// Tasks that hold places at the same time: at most, and at least.
struct Size {
  uint32_t least = 0;
  uint32_t most = 0;
};

Size SizeOf(const Job& job, const Role& role) {
  if (job.resize == ResizeMode::kFixed) return {role.replicas, role.replicas};
  // What Ray asks for is Ray's own decision; torchrun takes what there is.
  const bool takes_all = job.kind == Kind::kPyTorchJob;
  return {role.min_replicas, takes_all ? role.max_replicas : role.replicas};
}

// Raises the least sizes, first roles first, to so many tasks in all.
void RaiseTo(uint32_t available, std::vector<Size>* sizes) {
  uint64_t sum = 0;
  for (const Size& s : *sizes) sum += s.least;
  for (Size& s : *sizes) {
    if (sum >= available) return;
    const uint32_t more = static_cast<uint32_t>(
        std::min<uint64_t>(available - sum, s.most - s.least));
    s.least += more;
    sum += more;
  }
}

absl::Status MakeRole(const ShapeMaker& shapes, const Role& role, Size size,
                      muster::Role* gang_role) {
  gang_role->name = role.name;
  gang_role->min_tasks = size.least;
  gang_role->desired_tasks = size.most;
  gang_role->tolerations = role.task.tolerations;
  gang_role->alternatives.resize(role.task.alternatives.size());
  absl::Status s = shapes.Make(role, 0, &gang_role->shape);
  for (uint32_t i = 0; s.ok() && i < role.task.alternatives.size(); ++i) {
    s = shapes.Make(role, i + 1, &gang_role->alternatives[i]);
  }
  return s;
}

// The last replicas of a role, which may be on nodes that are taken back.
void AddSpotRole(const Role& role, uint32_t index, const GangOptions& options,
                 GangForm* form) {
  muster::Role& base = form->gang.roles.back();
  muster::Role spot = base;
  spot.name += "-spot";
  spot.desired_tasks = std::min(role.spot_replicas, base.desired_tasks);
  base.desired_tasks -= spot.desired_tasks;
  const uint32_t least = base.min_tasks;
  base.min_tasks = std::min(least, base.desired_tasks);
  spot.min_tasks = std::min(least - base.min_tasks, spot.desired_tasks);
  spot.tolerations.insert(spot.tolerations.end(),
                          options.spot_tolerations.begin(),
                          options.spot_tolerations.end());
  if (!options.spot_nodes.all_of.empty()) {
    spot.preferences.push_back({100, options.spot_nodes});
  }
  const uint32_t first = base.desired_tasks;
  if (first == 0) {  // All of them.
    form->gang.roles.back() = std::move(spot);
    return;
  }
  form->gang.roles.push_back(std::move(spot));
  form->ranges.push_back({index, first});
}

void SetPriority(const Job& job, GangForm* form) {
  const SchedulingPolicy& s = job.scheduling;
  form->gang.priority_class = s.priority_class;
  if (!s.priority_class.empty() || !s.priority.has_value()) return;
  PriorityClass c;
  c.key = Cat("priority-", *s.priority);
  c.value = *s.priority;
  form->gang.priority_class = c.key;
  form->priority_class = std::move(c);
}

void SetTopology(const Job& job, Gang* gang) {
  const SchedulingPolicy& s = job.scheduling;
  if (s.topology_required.empty() && s.topology_preferred.empty()) return;
  Group root;
  root.topology.required = s.topology_required;
  root.topology.preferred = s.topology_preferred;
  gang->groups.push_back(std::move(root));
}

}  // namespace

absl::StatusOr<GangForm> ToGang(const Job& job, const SchedulerConfig& config,
                                const GangOptions& options) {
  GangForm form;
  Gang& gang = form.gang;
  gang.key = options.key.empty() ? Cat(job.space, "/", job.name) : options.key;
  gang.display = job.name;
  gang.queue =
      job.scheduling.queue.empty() ? options.queue : job.scheduling.queue;
  gang.user = options.user;
  gang.submitted = options.submitted;
  gang.labels = job.labels;
  if (!job.requeue) gang.on_preempted = OnPreempted::kCancel;
  SetPriority(job, &form);
  SetTopology(job, &gang);
  std::vector<Size> sizes;
  for (const Role& role : job.roles) sizes.push_back(SizeOf(job, role));
  if (job.resize != ResizeMode::kFixed) {
    RaiseTo(job.scheduling.min_available, &sizes);
  }
  const ShapeMaker shapes(config, options);
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    const Role& role = job.roles[r];
    muster::Role gang_role;
    absl::Status s = MakeRole(shapes, role, sizes[r], &gang_role);
    if (!s.ok()) return s;
    if (sizes[r].most == 0) continue;
    gang.roles.push_back(std::move(gang_role));
    form.ranges.push_back({r, 0});
    if (role.spot_replicas > 0) AddSpotRole(role, r, options, &form);
  }
  return form;
}

TaskId ToJobTask(const GangForm& form, TaskId gang_task) {
  const RoleRange& range = form.ranges[gang_task.role];
  return {range.role, range.first + gang_task.index};
}

TaskId ToGangTask(const GangForm& form, TaskId job_task) {
  TaskId found;
  for (uint32_t g = 0; g < form.ranges.size(); ++g) {
    const RoleRange& range = form.ranges[g];
    if (range.role == job_task.role && range.first <= job_task.index) {
      found = {g, job_task.index - range.first};
    }
  }
  return found;
}

std::vector<std::vector<uint32_t>> TopologyNumbers(
    const Job& job, const Topology& topology,
    std::span<const TaskPlace> places) {
  std::vector<std::vector<uint32_t>> numbers(job.roles.size());
  std::vector<std::vector<uint32_t>> free(job.roles.size());  // Ascending.
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    for (uint32_t i = 0; i < job.roles[r].tasks(); ++i) numbers[r].push_back(i);
  }
  uint32_t leader = 0;
  while (leader < job.roles.size() &&
         (job.roles[leader].passive || job.roles[leader].max_replicas != 1)) {
    ++leader;
  }
  std::vector<RankedTask> tasks;
  for (const TaskPlace& p : places) {
    tasks.push_back({p.node, p.devices, p.first_slice});
    free[p.task.role].push_back(p.task.index);
  }
  for (auto& f : free) std::ranges::sort(f);
  std::vector<uint32_t> order = RankOrder(topology, tasks);
  // The ring begins on the leader's node.
  const auto first = std::ranges::find_if(
      order, [&](uint32_t t) { return places[t].task.role == leader; });
  if (first != order.end()) {
    const Node* node = places[*first].node;
    const auto begin = std::ranges::find_if(
        order, [&](uint32_t t) { return places[t].node->key == node->key; });
    std::ranges::rotate(order, begin);
  }
  std::vector<size_t> next(job.roles.size(), 0);
  for (const uint32_t t : order) {
    const TaskId id = places[t].task;
    if (job.roles[id.role].completions > 0) continue;
    numbers[id.role][id.index] = free[id.role][next[id.role]++];
  }
  return numbers;
}

}  // namespace muster::workload
