// The kinds with replica types: rows of kinds.cc.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "lib/workload/cat.h"
#include "lib/workload/readers.h"

namespace muster::workload {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  absl::AsciiStrToLower(&lower);
  return lower;
}

void ReadRunPolicy(Object* o, Job* job) {
  (*o)["cleanPodPolicy"].ReadEnum(&job->clean);
  (*o)["ttlSecondsAfterFinished"].ReadSeconds(&job->ttl, 0);
  (*o)["activeDeadlineSeconds"].ReadSeconds(&job->active_deadline, 1);
  (*o)["backoffLimit"].ReadInteger(&job->failure.backoff_limit, 0, 1 << 30);
  (*o)["suspend"].Read(&job->suspend);
  ReadSchedulingPolicy((*o)["schedulingPolicy"], job);
  if (job->dialect == Dialect::kKubeDL)
    ReadCronPolicy((*o)["cronPolicy"], &job->cron);
}

RestartPolicy ReadRestartPolicy(const Value& v, RestartPolicy otherwise) {
  if (!v.there()) return otherwise;
  RestartPolicy policy = otherwise;
  v.ReadEnum(&policy);
  if (policy == RestartPolicy::kReplace) {
    v.Wrong("'Replace' is none of: Never, OnFailure, Always, ExitCode");
  }
  return policy;
}

void ReadSpot(const Value& v, Role* role) {
  if (!v.there()) return;
  Object o(v);
  o["spotReplicaNumber"].ReadInteger(&role->spot_replicas, 0, Job::kMaxTasks);
  o["priorityClassName"].Read(&role->spot_priority_class);
}

void ReadReplicaSpec(const Value& v, const KindRow& row, const RoleRow& type,
                     Job* job) {
  Object o(v);
  Role role;
  role.name = Lower(type.type);
  role.path = v.path();
  role.decisive = type.decisive;
  role.replicas = 1;
  o["replicas"].ReadInteger(&role.replicas, type.required ? 1 : 0, type.most);
  role.min_replicas = role.max_replicas = role.replicas;
  role.restart = ReadRestartPolicy(o["restartPolicy"], type.restart);
  if (job->dialect == Dialect::kKubeDL) ReadSpot(o["spotReplicaSpec"], &role);
  PodExtras extras;
  ReadPodTemplate(o.Required("template"), row.container, &role.task, &extras);
  if (job->scheduling.priority_class.empty()) {
    job->scheduling.priority_class = extras.priority_class;
  }
  for (const Port& p : role.task.ports) {
    if (p.name == row.port_name) job->port = p.number;
  }
  // Without a command a worker of mpirun waits to be used.
  role.passive = row.kind == Kind::kMPIJob && type.type == "Worker" &&
                 role.task.command.empty() && role.task.args.empty();
  if (role.replicas > 0) job->roles.push_back(std::move(role));
}

// Roles in the row's order, whatever the document's; a type in any case.
void ReadReplicaSpecs(const Value& v, const KindRow& row, Job* job) {
  std::map<std::string, Value> specs;
  v.EachEntry([&](const std::string& type, const Value& spec) {
    const auto known = std::ranges::find_if(row.roles, [&](const RoleRow& r) {
      return Lower(r.type) == Lower(type);
    });
    if (known == row.roles.end()) {
      std::string all;
      for (const RoleRow& r : row.roles) {
        all += Cat(all.empty() ? "" : ", ", r.type);
      }
      return spec.Wrong("'" + type + "' is none of: " + all);
    }
    if (!specs.emplace(std::string(known->type), spec).second) {
      spec.Wrong("is there twice");
    }
  });
  for (const RoleRow& type : row.roles) {
    const auto spec = specs.find(std::string(type.type));
    if (spec != specs.end()) {
      ReadReplicaSpec(spec->second, row, type, job);
    } else if (type.required && v.IsMap()) {
      v.Wrong(Cat("lacks '", type.type, "'"));
    }
  }
}

void OrderStarts(const KindRow& row, Job* job) {
  for (const RoleRow& type : row.roles) {
    const uint32_t role = FindRole(*job, Lower(type.type));
    if (role == job->roles.size()) continue;
    for (const std::string& before : std::vector<std::string>(
             absl::StrSplit(std::string(type.after), ',', absl::SkipEmpty()))) {
      const uint32_t b = FindRole(*job, Lower(before));
      if (b < job->roles.size()) {
        job->roles[role].start_after.push_back(
            {b, StartCondition::kRunning, 0});
      }
    }
  }
}

SuccessRule AllOf(std::vector<uint32_t> roles) {
  return SuccessRule{.roles = std::move(roles)};
}

std::vector<uint32_t> AllBut(const Job& job, std::string_view name) {
  std::vector<uint32_t> roles;
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    if (job.roles[r].name != name) roles.push_back(r);
  }
  return roles;
}

void SetSuccess(const KindRow& row, bool all_workers, Job* job) {
  const auto none = static_cast<uint32_t>(job->roles.size());
  const uint32_t worker = FindRole(*job, "worker");
  const uint32_t master = FindRole(*job, "master");
  switch (row.success) {
    case SuccessForm::kChiefOrWorkerZero: {
      const uint32_t chief = std::min(FindRole(*job, "chief"), master);
      if (chief != none) {
        std::vector<uint32_t> roles{chief};
        if (all_workers && worker != none) roles.push_back(worker);
        job->success.push_back(AllOf(std::move(roles)));
      } else if (worker != none && all_workers) {
        job->success.push_back(AllOf({worker}));
      } else if (worker != none) {
        job->success.push_back({.roles = {worker}, .indexes = {{0, 0}}});
        job->success.push_back(AllOf({worker}));
      } else {
        job->success.push_back(AllOf(AllBut(*job, "")));
      }
      break;
    }
    case SuccessForm::kMaster:
      job->success.push_back(master != none ? AllOf({master})
                                            : AllOf({worker}));
      break;
    case SuccessForm::kMasterAndWorkers:
      job->success.push_back(AllOf(AllBut(*job, "aimaster")));
      break;
    case SuccessForm::kFirstRole:
      job->success.push_back(AllOf({0}));
      break;
    case SuccessForm::kLauncher:
      job->success.push_back(AllOf({FindRole(*job, "launcher")}));
      break;
  }
}

void ReadRdzvConf(const Value& v, ElasticPolicy* elastic) {
  v.Each([&](const Value& element) {
    Object o(element);
    std::pair<std::string, std::string> entry;
    o.Required("key").Read(&entry.first);
    o.Required("value").Read(&entry.second);
    elastic->conf.push_back(std::move(entry));
  });
}

void ReadElasticPolicy(const Value& v, Job* job) {
  if (!v.there()) return;
  Object o(v);
  ElasticPolicy& e = job->elastic;
  job->resize = ResizeMode::kInPlace;
  const uint32_t worker = FindRole(*job, "worker");
  if (worker == job->roles.size()) return v.Wrong("there is no Worker");
  Role& role = job->roles[worker];
  const Value low = o["minReplicas"], high = o["maxReplicas"];
  uint32_t least = 0, most = 0;
  low.ReadInteger(&least, 1, Job::kMaxTasks);
  high.ReadInteger(&most, 1, Job::kMaxTasks);
  if (most == 0) most = least == 0 ? role.replicas : least;
  if (least == 0) least = most;
  if (least > most) return low.Wrong("is more than maxReplicas");
  role.min_replicas = least;
  role.max_replicas = most;
  role.replicas = std::clamp(role.replicas, least, most);
  uint32_t restarts = 0;
  if (const Value m = o["maxRestarts"]; m.there()) {
    m.ReadInteger(&restarts, 0, 1 << 30);
    e.max_restarts = restarts;
  }
  o["rdzvBackend"].Read(&e.backend);
  o["rdzvHost"].Read(&e.host);
  o["rdzvPort"].ReadInteger(&e.port, 1, 65535);
  o["rdzvId"].Read(&e.id);
  ReadRdzvConf(o["rdzvConf"], &e);
  o["standalone"].Read(&e.standalone);
  o["nProcPerNode"].Read(&e.nproc_per_node);
  o.Ignore("metrics", "no autoscaler is made");
  // Any worker's success is the job's: the others ended with the same work.
  if (FindRole(*job, "master") == job->roles.size()) {
    job->success = {{.roles = {worker}, .count = 1}};
  }
}

void CheckNproc(const Value& v, std::string* to) {
  v.Read(to);
  int32_t number = 0;
  if (!v.there() || *to == "auto" || *to == "cpu" || *to == "gpu") return;
  if (!absl::SimpleAtoi(*to, &number) || number < 1) {
    v.Wrong("'" + *to + "' is none of: auto, cpu, gpu, a number of 1 or more");
  }
}

// processingUnits and gpus of old MPIJobs: a total, over workers of so many.
void ReadLegacyMpi(Object* o, Job* job) {
  const Value legacy = (*o)["legacySpec"];
  if (!legacy.there()) return;
  Object l(legacy);
  int64_t units = 0, per_node = 0;
  const char* total_key = l.Has("gpus") ? "gpus" : "processingUnits";
  const Value total = l[total_key];
  total.ReadInteger(&units, 1, 1 << 30);
  l[l.Has("gpusPerNode") ? "gpusPerNode" : "processingUnitsPerNode"]
      .ReadInteger(&per_node, 1, 1 << 20);
  const uint32_t worker = FindRole(*job, "worker");
  if (units == 0 || per_node == 0 || worker == job->roles.size()) return;
  if (units % per_node != 0 && units > per_node) {
    return total.Wrong(Cat(units, " is no multiple of ", per_node));
  }
  Role& role = job->roles[worker];
  role.replicas = static_cast<uint32_t>(std::max<int64_t>(1, units / per_node));
  role.min_replicas = role.max_replicas = role.replicas;
  job->slots_per_worker =
      static_cast<uint32_t>(units < per_node ? units : per_node);
}

void ReadMpi(Object* o, Job* job) {
  (*o)["slotsPerWorker"].ReadInteger(&job->slots_per_worker, 1, 1 << 20);
  (*o)["mpiImplementation"].ReadEnum(&job->mpi);
  (*o)["runLauncherAsWorker"].Read(&job->launcher_runs_workloads);
  (*o)["mainContainer"].Read(&job->main_container);
  ReadLegacyMpi(o, job);
}

}  // namespace

void ReadReplicaJob(const Value& spec, const KindRow& row, Job* job) {
  job->port = row.port;
  job->clean = row.clean;
  job->ttl = row.ttl < 0 ? -1 : row.ttl * kSecond;
  job->failure.unit = row.unit;
  job->failure.codes = job->dialect == Dialect::kKubeDL
                           ? RetryableCodes::kFourSignals
                           : RetryableCodes::kSignals;
  Object o(spec);
  if (row.run_policy_inline) {
    ReadRunPolicy(&o, job);
  } else if (const Value policy = o["runPolicy"]; policy.there()) {
    Object run_policy(policy);
    ReadRunPolicy(&run_policy, job);
  }
  ReadReplicaSpecs(o.Required(row.replica_specs), row, job);
  if (job->roles.empty()) return;
  if (job->kind == Kind::kMPIJob) ReadMpi(&o, job);
  bool all_workers = false;
  if (job->kind == Kind::kTFJob) {
    std::string policy;
    const Value v = o["successPolicy"];
    v.Read(&policy);
    all_workers = policy == "AllWorkers";
    if (!policy.empty() && !all_workers && policy != "Default") {
      v.Wrong("'" + policy + "' is none of: '', AllWorkers");
    }
    o["enableDynamicWorker"].Read(&job->dynamic_workers);
  }
  OrderStarts(row, job);
  SetSuccess(row, all_workers, job);
  if (job->kind == Kind::kPyTorchJob && job->dialect == Dialect::kKubeflow) {
    CheckNproc(o["nprocPerNode"], &job->nproc_per_node);
    ReadElasticPolicy(o["elasticPolicy"], job);
    if (job->nproc_per_node.empty() && job->elastic.nproc_per_node.empty()) {
      job->nproc_per_node = "auto";
    }
  }
}

}  // namespace muster::workload
