#include "adapters/local/controller/job_maker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/controller/device_names.h"
#include "adapters/local/edit/job_edits.h"
#include "adapters/local/grid/parameter_point.h"
#include "muster/partition.h"

namespace muster::local {
namespace {

// Keys of equal length compare as their numbers do.
constexpr size_t kKeyDigits = 12;

bool IsRay(const workload::Job& job) {
  return job.kind == workload::Kind::kRayCluster ||
         job.kind == workload::Kind::kRayJob;
}

// floor(whole x part / all), which may not fit before it is divided.
int64_t PartOf(int64_t whole, int64_t part, int64_t all) {
  return whole / all * part + whole % all * part / all;
}

// What the share's partition is of the device.
void SetPartition(const SchedulerConfig& config, const Device& device,
                  DeviceShare* share) {
  for (const PartitionScheme& scheme : config.partition_schemes) {
    if (scheme.key != device.partition_scheme) continue;
    const PartitionProfile* profile = FindProfile(scheme, share->partition);
    if (profile == nullptr) return;
    share->milli = profile->milli;
    share->memory_bytes = PartOf(device.memory_bytes, profile->memory_slices,
                                 scheme.memory_slices);
  }
}

// The values of its point, where the job names them.
void SetParameters(const ParameterPoint& point, workload::Job* job) {
  const auto set = [&](std::string* text) {
    *text = WithParameters(*text, point);
  };
  for (workload::Role& role : job->roles) {
    workload::TaskTemplate& t = role.task;
    std::ranges::for_each(t.command, [&](std::string& word) { set(&word); });
    std::ranges::for_each(t.args, [&](std::string& word) { set(&word); });
    for (workload::EnvVar& variable : t.env) {
      if (variable.from == workload::EnvSource::kValue) set(&variable.value);
    }
    set(&t.working_dir);
    set(&t.output);
    set(&t.error);
  }
}

void AddDefaultCpu(const ControllerConfig& config, const workload::Job& job,
                   Gang* gang) {
  const ResourceKind cpu = config.scheduler.KindOf("cpu");
  if (cpu >= config.scheduler.resources.size()) return;
  int64_t tasks = 0;
  for (const workload::Role& role : job.roles) tasks += role.max_replicas;
  const int64_t each =
      std::min(config.default_cpu_milli,
               config.node.capacity[cpu] / std::max<int64_t>(1, tasks));
  for (Role& role : gang->roles) {
    ForEachShape(&role, [&](TaskShape& shape) {
      if (each > 0 && shape.resources[cpu] == 0) shape.resources.Set(cpu, each);
    });
  }
}

}  // namespace

std::string ElementName(std::string_view name, const workload::Job& job,
                        uint32_t index) {
  const bool script = job.kind == workload::Kind::kBatchScript;
  return absl::StrCat(std::string(name), script ? "_" : "-", index);
}

std::string GangKey(uint64_t job) {
  const std::string digits = absl::StrCat(job);
  const size_t zeros = kKeyDigits - std::min(kKeyDigits, digits.size());
  return std::string(zeros, '0') + digits;
}

std::optional<uint64_t> JobOfGang(std::string_view key) {
  uint64_t job = 0;
  if (!absl::SimpleAtoi(std::string(key), &job)) return std::nullopt;
  return job;
}

std::optional<PriorityClass> NumberedClass(std::string_view priority) {
  int32_t value = 0;
  if (!absl::SimpleAtoi(std::string(priority), &value)) return std::nullopt;
  return PriorityClass{.key = absl::StrCat("priority-", value), .value = value};
}

absl::StatusOr<workload::Job> MakeJob(const ControllerConfig& config,
                                      const JobRow& row,
                                      const workload::Job& parsed) {
  workload::Job job = parsed;
  const absl::StatusOr<JobEdits> edits = JobEditsFromJson(row.edits);
  if (!edits.ok()) return edits.status();
  EditRoles(*edits, &job);
  if (row.array_index) {
    auto& indexes = job.array.indexes;
    if (!std::ranges::binary_search(indexes, *row.array_index)) {
      indexes = {*row.array_index};  // The submission's own.
    }
    absl::StatusOr<workload::Job> element =
        workload::ArrayElement(job, *row.array_index);
    if (!element.ok()) return element.status();
    job = *std::move(element);
  }
  const absl::StatusOr<ParameterPoint> point =
      ParameterPointFromJson(row.parameters);
  if (!point.ok()) return point.status();
  if (!point->empty()) SetParameters(*point, &job);
  job.name = row.name;
  job.scheduling.queue = row.queue;
  job.scheduling.priority_class = row.priority_class;
  job.scheduling.priority.reset();
  job.ttl = -1;  // The history of jobs is the store's: JobRow::ttl.
  for (workload::Role& role : job.roles) {
    if (role.task.grace == workload::TaskTemplate{}.grace) {
      role.task.grace = config.grace;
    }
  }
  return job;
}

absl::StatusOr<workload::GangForm> MakeGang(const ControllerConfig& config,
                                            const JobRecord& record) {
  workload::GangOptions options = config.gangs;
  options.key = GangKey(record.row.id);
  options.queue = record.row.queue;
  options.user = absl::StrCat(record.row.uid);
  options.submitted = PlaceOf(record.row);
  absl::StatusOr<workload::GangForm> form;
  if (std::ranges::all_of(record.sizes, [](uint32_t n) { return n == 0; })) {
    form = ToGang(record.job(), config.scheduler, options);
  } else {
    workload::Job job = record.job();
    for (size_t r = 0; r < record.sizes.size(); ++r) {
      if (record.sizes[r] == 0) continue;
      job.roles[r].replicas = record.sizes[r];
      if (job.kind == workload::Kind::kPyTorchJob) {
        job.roles[r].max_replicas = record.sizes[r];
      }
    }
    form = ToGang(job, config.scheduler, options);
  }
  if (!form.ok()) return form;
  ChooseDevices(record.job(), &*form);
  AddDefaultCpu(config, record.job(), &form->gang);
  form->gang.queue = record.row.queue;
  form->gang.priority_class = record.row.priority_class;
  form->gang.held = IsHeld(record);
  form->gang.held_why = HeldWhy(record);
  return form;
}

void KeepShapes(const Gang& before, Gang* gang) {
  for (Role& role : gang->roles) {
    const auto same = std::ranges::find(before.roles, role.name, &Role::name);
    if (same == before.roles.end()) continue;
    role.shape = same->shape;
    role.alternatives = same->alternatives;
  }
}

std::vector<DeviceShare> SharesOf(const ControllerConfig& config,
                                  const JobRecord& record, TaskId place) {
  std::vector<DeviceShare> shares;
  const auto held = record.places.find(place);
  if (held == record.places.end()) return shares;
  const DeviceRequest& ask =
      record.requests[ToGangTask(record.form, place).role]
                     [held->second.alternative];
  const std::vector<Device>& devices = config.node.devices;
  for (const uint32_t d : held->second.devices) {
    const Device device = d < devices.size() ? devices[d] : Device();
    DeviceShare share{.device = d, .milli = ask.milli};
    if (!ask.partition.empty()) {
      share.partition = ask.partition;
      share.first_slice = held->second.first_slice;
      SetPartition(config.scheduler, device, &share);
    } else if (ask.memory_bytes > 0) {
      share.memory_bytes = ask.memory_bytes;
      if (ask.milli == 0 && device.memory_bytes > 0) {
        share.milli = static_cast<int32_t>(kWholeDevice * ask.memory_bytes /
                                           device.memory_bytes);
      }
    } else {
      share.memory_bytes = PartOf(device.memory_bytes, ask.milli, kWholeDevice);
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

absl::Status CheckTasks(const ControllerConfig& config,
                        const workload::Job& job) {
  const bool images = config.images.Use(job);
  for (const workload::Role& role : job.roles) {
    const workload::TaskTemplate& t = role.task;
    const bool in_image = images && !t.image.empty();
    if (in_image && config.images.check) {
      const absl::Status s = config.images.check(t.image);
      if (!s.ok()) {
        return absl::Status(
            s.code(),
            absl::StrCat(role.path, ": image '", t.image, "': ", s.message()));
      }
    }
    const bool runs_ray =
        IsRay(job) && role.name != "submitter" && t.args.empty();
    if (role.passive || runs_ray || !t.command.empty() || !t.script.empty()) {
      continue;
    }
    if (in_image) {
      if (config.images.own_command) continue;
      return absl::InvalidArgumentError(absl::StrCat(
          role.path, ": command: is missing, and ", config.images.by,
          " does not know that of image '", t.image, "'"));
    }
    if (!t.args.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(role.path, ": has no command",
                     t.image.empty() ? ", and no image whose own it could be"
                                     : ", and images are not used here"));
  }
  return absl::OkStatus();
}

}  // namespace muster::local
