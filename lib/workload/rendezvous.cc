#include "muster/workload/rendezvous.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lib/workload/cat.h"
#include "lib/workload/rendezvous_kinds.h"

namespace muster::workload {
namespace {

// How a cluster's services name a task.
std::string HostOf(const Job& job, TaskId task, std::string_view domain) {
  const std::string name = TaskName(job, task);
  const std::string end = domain.empty() ? "" : Cat(".", domain);
  switch (job.kind) {
    case Kind::kTFJob:
    case Kind::kMarsJob:
      return Cat(name, ".", job.space, ".svc", end);
    case Kind::kMPIJob:
      return job.dialect == Dialect::kMpiV2
                 ? Cat(name, ".", job.name, ".", job.space, ".svc", end)
                 : name;
    case Kind::kJobSet:
    case Kind::kTrainJob:
      return Cat(name, ".", job.subdomain);
    case Kind::kRayCluster:
    case Kind::kRayJob:
      return job.roles[task.role].name == "head"
                 ? Cat(job.name, "-head-svc.", job.space, ".svc.",
                       domain.empty() ? "cluster.local" : domain)
                 : name;
    default:
      return name;
  }
}

void SetEnv(const Party& p, Env* env) {
  switch (p.job.kind) {
    case Kind::kTFJob:
      return TFEnv(p, env);
    case Kind::kPyTorchJob:
      return PyTorchEnv(p, env);
    case Kind::kXGBoostJob:
      return XGBoostEnv(p, env);
    case Kind::kMPIJob:
      return MpiEnv(p, env);
    case Kind::kMarsJob:
      return MarsEnv(p, env);
    case Kind::kJAXJob:
      return JaxEnv(p, env);
    case Kind::kTrainJob:
      return TrainEnv(p, env);
    case Kind::kJob:
    case Kind::kJobSet:
      return IndexEnv(p, env);
    case Kind::kRayCluster:
    case Kind::kRayJob:
      return RayEnv(p, env);
    case Kind::kBatchScript:
      return SlurmEnv(p, env);
  }
}

// The labels that operators give pods, as far as tasks ask for them.
std::string LabelOf(const Party& p, std::string_view label) {
  const Job& job = p.job;
  const uint32_t group = std::max(1u, p.role().group_size);
  const std::pair<std::string_view, std::string> kLabels[] = {
      {"jobset.sigs.k8s.io/jobset-name", job.name},
      {"jobset.sigs.k8s.io/replicatedjob-name", p.role().name},
      {"jobset.sigs.k8s.io/job-index", Cat(p.task.index / group)},
      {"batch.kubernetes.io/job-name", job.name},
      {"batch.kubernetes.io/job-completion-index", Cat(p.task.index % group)},
      {"training.kubeflow.org/job-name", job.name},
      {"training.kubeflow.org/replica-type", p.role().name},
      {"training.kubeflow.org/replica-index", Cat(p.task.index)}};
  for (const auto& [name, value] : kLabels) {
    if (name == label) return value;
  }
  for (const Label& l : job.labels) {
    if (l.key == label) return l.value;
  }
  return "";
}

// What is known of a field of the pod; false: only the host knows.
bool FieldOf(const Party& p, const std::string& path, std::string* value) {
  if (path == "metadata.name") {
    *value = TaskName(p.job, p.task);
  } else if (path == "metadata.namespace") {
    *value = p.job.space;
  } else if ((path.starts_with("metadata.labels['") ||
              path.starts_with("metadata.annotations['")) &&
             path.ends_with("']")) {
    const size_t begin = path.find('\'') + 1;
    *value = LabelOf(p, path.substr(begin, path.size() - 2 - begin));
  } else {
    return false;
  }
  return true;
}

// The manifest's own variables; they win.
void AddManifestEnv(const Party& p, TaskLaunch* launch) {
  Env& env = launch->env;
  const auto generated = static_cast<std::ptrdiff_t>(env.size());
  for (const EnvVar& var : p.role().task.env) {
    std::string value;
    if (var.from == EnvSource::kValue) {
      value = Expand(var.value, env);
    } else if (var.from != EnvSource::kField ||
               !FieldOf(p, var.source, &value)) {
      launch->from_host.push_back(var);
      continue;
    }
    const auto there =
        std::ranges::find(env, var.name, &Env::value_type::first);
    if (there - env.begin() < generated) launch->user_set.push_back(var.name);
    if (there != env.end()) {
      there->second = std::move(value);
    } else {
      env.emplace_back(var.name, std::move(value));
    }
  }
}

}  // namespace

std::string TaskName(const Job& job, TaskId task) {
  const Role& role = job.roles[task.role];
  switch (job.kind) {
    case Kind::kJob:
      return Cat(job.name, "-", task.index);
    case Kind::kTrainJob:
      return Cat(job.name, "-", role.name, "-0-", task.index);
    case Kind::kJobSet:
      return Cat(job.name, "-", role.name, "-", task.index / role.group_size,
                 "-", task.index % role.group_size);
    case Kind::kMPIJob:
      if (role.name == "launcher" && job.dialect != Dialect::kKubeDL) {
        return Cat(job.name, "-launcher");
      }
      break;
    case Kind::kRayCluster:
    case Kind::kRayJob:
      if (role.name == "head") return Cat(job.name, "-head");
      break;
    default:
      break;
  }
  return Cat(job.name, "-", role.name, "-", task.index);
}

Endpoints ClusterEndpoints(const Job& job, const std::vector<uint32_t>& sizes,
                           std::string_view domain) {
  Endpoints endpoints(job.roles.size());
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    const uint32_t n =
        std::max(1u, r < sizes.size() ? sizes[r] : job.roles[r].replicas);
    for (uint32_t i = 0; i < n; ++i) {
      endpoints[r].push_back({HostOf(job, {r, i}, domain), job.port});
    }
  }
  return endpoints;
}

absl::StatusOr<Rendezvous> Rendezvous::Make(Job job, Endpoints endpoints,
                                            RendezvousOptions options) {
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    if (r >= endpoints.size() || endpoints[r].empty()) {
      return absl::InvalidArgumentError(
          Cat("no endpoint of role '", job.roles[r].name, "'"));
    }
  }
  Rendezvous rendezvous;
  if (job.kind == Kind::kTFJob || job.kind == Kind::kMarsJob) {
    rendezvous.cluster_ = ClusterJson(job, endpoints);
  }
  if (job.kind == Kind::kMPIJob) {
    rendezvous.files_ = MpiFiles(job, endpoints, options);
  }
  rendezvous.job_ = std::move(job);
  rendezvous.endpoints_ = std::move(endpoints);
  rendezvous.options_ = std::move(options);
  return rendezvous;
}

TaskLaunch Rendezvous::ForTask(TaskId task) const {
  const Party p{job_, endpoints_, options_, cluster_, task};
  TaskLaunch launch;
  SetEnv(p, &launch.env);
  AddManifestEnv(p, &launch);
  const TaskTemplate& t = p.role().task;
  if (job_.kind == Kind::kMPIJob && p.role().name == "launcher") {
    launch.files = files_;
  }
  const bool ray =
      (job_.kind == Kind::kRayCluster || job_.kind == Kind::kRayJob) &&
      p.role().name != "submitter";
  if (ray && t.command.empty() && t.args.empty()) {
    launch.argv = {
        "/bin/bash", "-lc", "--",
        Cat("ulimit -n ${RAY_START_ULIMIT_OPEN_FILES:-65536}; ", RayStart(p))};
  }
  for (const auto* words : {&t.command, &t.args}) {
    for (const std::string& word : *words) {
      launch.argv.push_back(Expand(word, launch.env));
    }
  }
  return launch;
}

}  // namespace muster::workload
