// What must hold of every job, whatever it was read from.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "lib/workload/alternatives.h"
#include "lib/workload/cat.h"
#include "lib/workload/index_ranges.h"
#include "lib/workload/readers.h"
#include "lib/workload/start_order.h"
#include "muster/device_set.h"
#include "muster/quantity.h"

namespace muster::workload {
namespace {

absl::Status Bad(const Role& role, std::string_view what) {
  return absl::InvalidArgumentError(Cat(role.path, ": ", what));
}

// Names of tasks are made from it, and names of files from these.
bool IsDnsName(std::string_view name, bool dots) {
  const auto ok = [&](char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' ||
           (dots && c == '.');
  };
  return !name.empty() && name.size() <= (dots ? 253 : 63) &&
         std::ranges::all_of(name, ok) && absl::ascii_isalnum(name.front()) &&
         absl::ascii_isalnum(name.back()) &&
         name.find("..") == std::string_view::npos;
}

bool IsSlurmName(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name != "." && name != ".." &&
         std::ranges::all_of(
             name, [](char c) { return absl::ascii_isprint(c) && c != '/'; });
}

absl::Status CheckNames(const Job& job) {
  const bool slurm = job.dialect == Dialect::kSlurm;
  if (slurm ? !IsSlurmName(job.name) : !IsDnsName(job.name, true)) {
    return absl::InvalidArgumentError(
        Cat("metadata.name: '", job.name,
            slurm ? "' has a '/', or more than 200 bytes, or what is no text"
                  : "' is not lower case letters, digits, '-' and '.'"));
  }
  if (!IsDnsName(job.space, false)) {
    return absl::InvalidArgumentError(
        Cat("metadata.namespace: '", job.space,
            "' is not lower case letters, digits and '-'"));
  }
  for (const Role& role : job.roles) {
    if (!IsDnsName(role.name, false)) {
      return Bad(role, Cat("'", role.name,
                           "' is not lower case letters, digits and '-'"));
    }
    if (job.roles[FindRole(job, role.name)].path != role.path) {
      return Bad(role, Cat("'", role.name, "' is there twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(const Job& job) {
  if (job.roles.empty() || job.roles.size() > Job::kMaxRoles) {
    return absl::InvalidArgumentError(Cat("spec: has ", job.roles.size(),
                                          " kinds of tasks, not 1 to ",
                                          Job::kMaxRoles));
  }
  uint64_t tasks = 0, available = 0;
  for (const Role& role : job.roles) {
    if (role.min_replicas > role.replicas ||
        role.replicas > role.max_replicas || role.max_replicas == 0) {
      return Bad(role, "not: minimum <= replicas <= maximum, 1 or more");
    }
    if (role.spot_replicas > role.replicas) {
      return Bad(role, "has more spot replicas than replicas");
    }
    tasks += role.tasks();
    available += role.replicas;
  }
  if (tasks > Job::kMaxTasks) {
    return absl::InvalidArgumentError(
        Cat("spec: ", tasks, " tasks, more than ", Job::kMaxTasks));
  }
  if (job.scheduling.min_available > available) {
    return absl::InvalidArgumentError(
        Cat("minAvailable: ", job.scheduling.min_available, " of ", available,
            " tasks"));
  }
  return absl::OkStatus();
}

absl::Status CheckSuccess(const Job& job) {
  for (const SuccessRule& rule : job.success) {
    if (rule.roles.empty()) {
      return absl::InvalidArgumentError("spec: no task decides its success");
    }
    for (const uint32_t r : rule.roles) {
      if (r >= job.roles.size() || job.roles[r].passive) {
        return absl::InvalidArgumentError(
            "spec: its success is that of tasks that do not end");
      }
    }
  }
  return job.success.empty()
             ? absl::InvalidArgumentError("spec: nothing is its success")
             : absl::OkStatus();
}

// So that a time plus a span is a time.
absl::Status CheckSpans(const Job& job) {
  const std::pair<const char*, Duration> spans[] = {
      {"activeDeadlineSeconds", job.active_deadline},
      {"checkpoint.timeout", job.checkpoint.timeout},
      {"failure.backoff_base", job.failure.backoff_base},
      {"failure.backoff_max", job.failure.backoff_max},
      {"ttlSecondsAfterFinished", std::max<Duration>(0, job.ttl)}};
  for (const auto& [name, span] : spans) {
    if (span < 0 || span > kMaxDuration) {
      return absl::InvalidArgumentError(
          Cat(name, ": is not between 0 and ", kMaxDuration / kSecond, "s"));
    }
  }
  return absl::OkStatus();
}

void ReadCheckpoint(const Value& v, Job* job) {
  std::string text;
  v.Read(&text);
  if (text == "true" || text == "false") {
    job->checkpoint.enabled = text == "true";
    return;
  }
  const auto timeout = ParseDuration(text);
  if (!timeout.ok() || *timeout > kMaxDuration) {
    return v.Wrong(Cat("'", text,
                       "' is none of: true, false, a time like 90s, ",
                       "at most ", kMaxDuration / kSecond, "s"));
  }
  job->checkpoint.enabled = true;
  job->checkpoint.timeout = *timeout;
}

// Of all tasks.
void ReadFile(const Value& v, std::string TaskTemplate::* file, Job* job) {
  std::string name;
  v.Read(&name);
  if (name.find('\0') != std::string::npos) return v.Wrong("has a byte 0");
  for (Role& role : job->roles) role.task.*file = name;
}

// Of all tasks.
void ReadDeviceIds(const Value& v, Job* job) {
  std::string text;
  v.Read(&text);
  IndexRanges ranges;
  if (!ReadIndexRanges(text, DeviceSet::kCapacity, &ranges)) {
    return v.Wrong(Cat("'", text, "' is no ascending list such as 0,2-3, from ",
                       "0 to ", DeviceSet::kCapacity - 1));
  }
  std::vector<uint32_t> ids;
  for (const auto& [first, last] : ranges) {
    for (uint32_t id = first; id <= last; ++id) ids.push_back(id);
  }
  for (Role& role : job->roles) role.task.device_ids = ids;
}

// Of all tasks.
void ReadOthers(const Value& v, Job* job) {
  std::string text;
  v.Read(&text);
  std::vector<std::vector<Amount>> alternatives;
  const absl::Status read = ReadAlternatives(text, &alternatives);
  if (!read.ok()) return v.Wrong(std::string(read.message()));
  for (Role& role : job->roles) role.task.alternatives = alternatives;
}

// One that means something; false: it does not.
bool ReadAnnotation(const std::string& key, const Value& v, Job* job) {
  SchedulingPolicy& s = job->scheduling;
  if (key == "muster.dev/queue" || key == "kueue.x-k8s.io/queue-name") {
    v.Read(&s.queue);
  } else if (key == "muster.dev/min-pods") {
    v.ReadInteger(&s.min_available, 1, Job::kMaxTasks);
  } else if (key == "muster.dev/topology-required") {
    v.Read(&s.topology_required);
  } else if (key == "muster.dev/topology-preferred") {
    v.Read(&s.topology_preferred);
  } else if (key == "muster.dev/checkpoint") {
    ReadCheckpoint(v, job);
  } else if (key == "muster.dev/output" || key == "muster.dev/error") {
    ReadFile(v,
             key == "muster.dev/output" ? &TaskTemplate::output
                                        : &TaskTemplate::error,
             job);
  } else if (key == "muster.dev/or") {
    ReadOthers(v, job);
  } else if (key == "muster.dev/gpu-ids") {
    ReadDeviceIds(v, job);
  } else if (key == "muster.dev/dag") {
    std::string text;
    v.Read(&text);
    const absl::Status status = ReadStartOrder(text, job);
    if (!status.ok()) v.Wrong(std::string(status.message()));
  } else if (key == "muster.dev/code") {
    std::string about;  // For people alone.
    v.Read(&about);
  } else if (key == "kubedl.io/enable-elastic-training" &&
             job->dialect == Dialect::kKubeDL &&
             job->kind == Kind::kPyTorchJob) {
    bool on = false;
    v.Read(&on);
    if (on) {
      job->resize = ResizeMode::kRestart;
      job->checkpoint.enabled = true;
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

void ReadSchedulingPolicy(const Value& v, Job* job) {
  if (!v.there()) return;
  Object o(v);
  SchedulingPolicy& s = job->scheduling;
  o["queue"].Read(&s.queue);
  o["priorityClass"].Read(&s.priority_class);
  o["priorityClassName"].Read(&s.priority_class);
  o["minAvailable"].ReadInteger(&s.min_available, 0, Job::kMaxTasks);
  o["scheduleTimeoutSeconds"].ReadSeconds(&s.timeout, 0);
  if (const Value p = o["priority"]; p.there()) {
    int32_t priority = 0;
    p.ReadInteger(&priority, -2'147'483'648, 2'147'483'647);
    s.priority = priority;
  }
  o.Ignore("minResources", "what the tasks ask for is what is reserved");
}

void FinishJob(const Value& metadata, Job* job) {
  if (!metadata.there()) return;
  for (const char* field : {"labels", "annotations"}) {
    metadata.EachEntry([&](const std::string& key, const Value& map) {
      if (key != field || !map.there()) return;
      map.EachEntry([&](const std::string& name, const Value& v) {
        if (!ReadAnnotation(name, v, job) && key == "annotations") {
          v.Ignore("it means nothing here");
        }
      });
    });
  }
}

absl::Status Check(const Job& job) {
  for (const auto check :
       {CheckSizes, CheckNames, CheckStartOrder, CheckSuccess, CheckSpans}) {
    absl::Status s = check(job);
    if (!s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace muster::workload
