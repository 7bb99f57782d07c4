// RayCluster and RayJob.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lib/workload/cat.h"
#include "lib/workload/readers.h"

namespace muster::workload {
namespace {

void ReadStartParams(const Value& v, Role* role) {
  Labels params;
  v.Read(&params);
  for (Label& p : params) {
    role->ray_start_params.push_back({std::move(p.key), std::move(p.value)});
  }
}

void ReadHead(const Value& v, Job* job) {
  if (!v.there()) return;
  Object o(v);
  Role role;
  role.name = "head";
  role.path = v.path();
  role.restart = RestartPolicy::kOnFailure;
  ReadStartParams(o["rayStartParams"], &role);
  PodExtras extras;
  ReadPodTemplate(o.Required("template"), "ray-head", &role.task, &extras);
  job->scheduling.priority_class = extras.priority_class;
  for (const Port& p : role.task.ports) {
    if (p.name == "gcs-server" || p.name == "gcs") job->port = p.number;
  }
  job->roles.push_back(std::move(role));
}

void ReadWorkers(const Value& v, bool autoscaling, Job* job) {
  Object o(v);
  Role role;
  role.path = v.path();
  role.restart = RestartPolicy::kOnFailure;
  role.decisive = false;
  const Value name = o.Required("groupName");
  name.Read(&role.name);
  if (FindRole(*job, role.name) < job->roles.size()) {
    name.Wrong("'" + role.name + "' is there twice");
  }
  uint32_t hosts = 1, replicas = 1, least = 0, most = 0;
  o["numOfHosts"].ReadInteger(&hosts, 1, Job::kMaxTasks);
  const Value given = o["replicas"], low = o["minReplicas"];
  low.ReadInteger(&least, 0, Job::kMaxTasks);
  given.ReadInteger(&replicas, 0, Job::kMaxTasks);
  o["maxReplicas"].ReadInteger(&most, 0, 0x7fffffff);
  if (!given.there()) replicas = std::max(1u, least);
  most = std::max(std::min(most, Job::kMaxTasks), replicas);
  if (!autoscaling) most = replicas;
  least = std::min(least, replicas);
  if (uint64_t{most} * hosts > Job::kMaxTasks) {
    return v.Wrong(Cat("more than ", Job::kMaxTasks, " tasks"));
  }
  role.replicas = replicas * hosts;
  role.min_replicas = least * hosts;
  role.max_replicas = most * hosts;
  role.group_size = hosts;
  role.start_after.push_back({0, StartCondition::kRunning, 0});
  ReadStartParams(o["rayStartParams"], &role);
  bool suspended = false;
  const Value suspend = o["suspend"];
  suspend.Read(&suspended);
  if (suspended) suspend.Unsupported("a worker group that is suspended alone");
  PodExtras extras;
  ReadPodTemplate(o.Required("template"), "ray-worker", &role.task, &extras);
  if (role.max_replicas > 0) job->roles.push_back(std::move(role));
}

void ReadCluster(Object* o, Job* job) {
  job->port = kGcsPort;
  job->failure.unit = RestartUnit::kTask;
  job->resize = ResizeMode::kInPlace;
  std::string version;
  (*o)["rayVersion"].Read(&version);
  bool autoscaling = false;
  (*o)["enableInTreeAutoscaling"].Read(&autoscaling);
  ReadHead(o->Required("headGroupSpec"), job);
  if (job->roles.empty()) return;
  (*o)["workerGroupSpecs"].Each(
      [&](const Value& v) { ReadWorkers(v, autoscaling, job); });
}

}  // namespace

void ReadRayCluster(const Value& spec, Job* job) {
  Object o(spec);
  ReadCluster(&o, job);
  o["suspend"].Read(&job->suspend);
  // A cluster runs until somebody ends it; a head that ends well ends it.
  job->success.push_back({.roles = {0}});
}

void ReadRayJob(const Value& spec, Job* job) {
  Object o(spec);
  std::string mode = "K8sJobMode";
  const Value given = o["submissionMode"];
  given.Read(&mode);
  if (mode != "K8sJobMode") {
    given.Unsupported("'" + mode + "' is none of: K8sJobMode");
  }
  if (const Value s = o["clusterSelector"]; s.there()) {
    s.Unsupported("a job on a cluster that is there already");
  }
  const Value cluster_value = o.Required("rayClusterSpec");
  if (!cluster_value.there()) return;
  {
    Object cluster(cluster_value);
    ReadCluster(&cluster, job);
  }
  if (job->roles.empty()) return;
  Role submitter;
  submitter.name = "submitter";
  submitter.path = o["entrypoint"].path();
  submitter.task.container = "ray-job-submitter";
  submitter.task.image = job->roles[0].task.image;
  std::string entrypoint;
  o.Required("entrypoint").Read(&entrypoint);
  submitter.task.command = {"/bin/sh", "-c"};
  submitter.task.args = {
      "ray job submit --address \"http://$RAY_DASHBOARD\" -- " + entrypoint};
  submitter.start_after.push_back({0, StartCondition::kReady, 0});
  if (const Value v = o["submitterPodTemplate"]; v.there()) {
    PodExtras extras;
    ReadPodTemplate(v, "ray-job-submitter", &submitter.task, &extras);
  }
  submitter.restart = RestartPolicy::kReplace;
  job->failure.backoff_limit = 0;
  o["backoffLimit"].ReadInteger(&job->failure.backoff_limit, 0, 1 << 30);
  o["activeDeadlineSeconds"].ReadSeconds(&job->active_deadline, 1);
  o["ttlSecondsAfterFinished"].ReadSeconds(&job->ttl, 0);
  o["suspend"].Read(&job->suspend);
  bool shutdown = false;
  o["shutdownAfterJobFinishes"].Read(&shutdown);
  job->clean = shutdown ? CleanPolicy::kRunning : CleanPolicy::kNone;
  job->roles.push_back(std::move(submitter));
  job->success.push_back(
      {.roles = {static_cast<uint32_t>(job->roles.size() - 1)}});
}

}  // namespace muster::workload
