// TrainJob: a trainer on a runtime, which is one of the built-in ones or stands
// in the same file.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lib/workload/cat.h"
#include "lib/workload/readers.h"

namespace muster::workload {
namespace {

struct BuiltIn {
  std::string_view name{};
  std::string_view framework{};
};
constexpr std::array<BuiltIn, 3> kBuiltIn = {{
    {"torch-distributed", "torch"},
    {"jax-distributed", "jax"},
    {"xgboost-distributed", "xgboost"},
}};

// mlPolicy: how many nodes, and which framework.
void ReadMlPolicy(const Value& v, Role* role, Job* job) {
  if (!v.there()) return;
  Object o(v);
  o["numNodes"].ReadInteger(&role->replicas, 1, Job::kMaxTasks);
  if (const Value t = o["torch"]; t.there()) {
    Object torch(t);
    job->framework = "torch";
    torch["numProcPerNode"].Read(&job->nproc_per_node);
  } else if (const Value j = o["jax"]; j.there()) {
    const Object jax(j);
    job->framework = "jax";
  } else if (const Value x = o["xgboost"]; x.there()) {
    const Object xgboost(x);
    job->framework = "xgboost";
  } else if (const Value m = o["mpi"]; m.there()) {
    m.Unsupported("an MPI runtime of TrainJobs");
  }
}

// The template of the trainer: the replicated job that is labelled so, else the
// one named "node".
void ReadRuntime(const Value& spec, Role* role, Job* job) {
  Object o(spec);
  ReadMlPolicy(o["mlPolicy"], role, job);
  const Value js_spec = SpecOfTemplate(o.Required("template"));
  if (!js_spec.there()) return;
  Object set(js_spec);
  bool found = false;
  set.Required("replicatedJobs").Each([&](const Value& v) {
    Object job_object(v);
    std::string name;
    job_object["name"].Read(&name);
    if (name != "node") {
      job_object.Done();
      return v.Ignore("only the replicated job 'node' is run");
    }
    found = true;
    const Value pj_spec = SpecOfTemplate(job_object.Required("template"));
    if (!pj_spec.there()) return;
    Object inner(pj_spec);
    PodExtras extras;
    ReadPodTemplate(inner.Required("template"), "node", &role->task, &extras);
    job->scheduling.priority_class = extras.priority_class;
  });
  if (!found) js_spec.Wrong("has no replicated job 'node'");
}

void FindRuntime(const Value& ref, const std::vector<Runtime>& runtimes,
                 Role* role, Job* job) {
  if (!ref.there()) return;
  Object o(ref);
  std::string name, kind;
  const Value given = o.Required("name");
  given.Read(&name);
  o["apiGroup"];
  o["kind"].Read(&kind);
  for (const Runtime& r : runtimes) {
    if (r.name != name) continue;
    return ReadRuntime(r.spec, role, job);
  }
  for (const BuiltIn& b : kBuiltIn) {
    if (b.name == name) {
      job->framework = b.framework;
      return;
    }
  }
  given.Unsupported("runtime '" + name +
                    "' is neither in this file nor built in "
                    "(torch-distributed, jax-distributed, "
                    "xgboost-distributed)");
}

void ReadTrainer(const Value& v, Role* role, Job* job) {
  if (!v.there()) return;
  Object o(v);
  o["image"].Read(&role->task.image);
  o["command"].Read(&role->task.command);
  o["args"].Read(&role->task.args);
  const Value env = o["env"];
  ReadEnv(env, &role->task.env);
  static constexpr std::string_view kReserved[] = {
      "PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR",
      "PET_MASTER_PORT"};
  for (const EnvVar& var : role->task.env) {
    for (const std::string_view reserved : kReserved) {
      if (job->framework == "torch" && var.name == reserved) {
        env.Wrong("'" + var.name + "' is set by the runtime");
      }
    }
  }
  o["numNodes"].ReadInteger(&role->replicas, 1, Job::kMaxTasks);
  o["numProcPerNode"].Read(&job->nproc_per_node);
  ReadResources(o["resourcesPerNode"], &role->task);
}

}  // namespace

void ReadTrainJob(const Value& spec, const std::vector<Runtime>& runtimes,
                  Job* job) {
  Object o(spec);
  Role role;
  role.name = "node";
  role.path = spec.path();
  role.restart = RestartPolicy::kReplace;
  job->indexed = true;
  job->subdomain = job->name;
  job->port = 29500;
  job->failure.unit = RestartUnit::kGang;
  FindRuntime(o.Required("runtimeRef"), runtimes, &role, job);
  ReadTrainer(o["trainer"], &role, job);
  if (job->nproc_per_node.empty()) job->nproc_per_node = "auto";
  o["suspend"].Read(&job->suspend);
  o["activeDeadlineSeconds"].ReadSeconds(&job->active_deadline, 1);
  o["ttlSecondsAfterFinished"].ReadSeconds(&job->ttl, 0);
  role.min_replicas = role.max_replicas = role.replicas;
  job->roles.push_back(std::move(role));
  job->success.push_back({.roles = {0}});
}

}  // namespace muster::workload
