#include "lib/workload/rendezvous_kinds.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "lib/workload/cat.h"

namespace muster::workload {
namespace {

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string HostPort(const Endpoint& e) { return Cat(e.host, ":", e.port); }

int64_t CoresOf(const TaskTemplate& task) {
  return Cores(task.Requested("cpu"));
}

// The number of processes that a task's nprocPerNode counts for.
uint32_t Processes(const std::string& nproc) {
  uint32_t n = 1;
  return absl::SimpleAtoi(nproc, &n) && n > 0 ? n : 1;
}

// Position among all tasks of the roles before, and of its own.
uint32_t RankOf(const Party& p) {
  uint32_t rank = p.task.index;
  for (uint32_t r = 0; r < p.task.role; ++r) {
    if (p.job.roles[r].name != "aimaster") rank += p.size(r);
  }
  return rank;
}

std::string TypeOf(const Party& p) { return p.role().name; }

// TF_CONFIG of a worker that may come and go: workers are a sparse map with the
// worker itself, parameter servers know no other.
std::string SparseConfig(const Party& p) {
  const std::string self = Quoted(HostPort(p.self()));
  std::string cluster;
  if (TypeOf(p) == "ps") {
    cluster = Cat("\"ps\":[", self, "]");
  } else {
    const uint32_t ps = FindRole(p.job, "ps");
    std::string all;
    for (uint32_t i = 0; ps < p.job.roles.size() && i < p.size(ps); ++i) {
      all += Cat(i == 0 ? "" : ",", Quoted(HostPort(p.endpoints[ps][i])));
    }
    cluster = Cat("\"", TypeOf(p), "\":{\"", p.task.index, "\":", self, "}");
    if (!all.empty()) cluster += Cat(",\"ps\":[", all, "]");
  }
  return Cat("{\"cluster\":{", cluster, "},\"task\":{\"type\":\"", TypeOf(p),
             "\",\"index\":", p.task.index, "}}");
}

// Whether the kind tells its tasks of this role.
bool InCluster(const Job& job, const Role& role) {
  if (job.kind == Kind::kMarsJob) return role.name != "worker";
  if (role.name == "aimaster") return false;
  return role.name != "evaluator" || job.dialect == Dialect::kKubeflow;
}

void ElasticEnv(const Party& p, Env* env) {
  const ElasticPolicy& e = p.job.elastic;
  const uint32_t worker = FindRole(p.job, "worker");
  const Role& role = p.job.roles[worker];
  const Endpoint& first = p.endpoints[worker].front();
  env->emplace_back("PET_RDZV_ENDPOINT",
                    Cat(e.host.empty() ? first.host : e.host, ":",
                        e.port == 0 ? first.port : e.port));
  env->emplace_back("PET_RDZV_BACKEND", e.backend.empty() ? "c10d" : e.backend);
  env->emplace_back("PET_NNODES",
                    Cat(role.min_replicas, ":", role.max_replicas));
  if (e.max_restarts) {
    env->emplace_back("PET_MAX_RESTARTS", Cat(*e.max_restarts));
  }
  if (!e.nproc_per_node.empty()) {
    env->emplace_back("PET_NPROC_PER_NODE", e.nproc_per_node);
  }
  if (!e.id.empty()) env->emplace_back("PET_RDZV_ID", e.id);
  std::string conf;
  for (const auto& [key, value] : e.conf) {
    conf += Cat(conf.empty() ? "" : ",", key, "=", value);
  }
  if (!conf.empty()) env->emplace_back("PET_RDZV_CONF", conf);
  if (e.standalone) env->emplace_back("PET_STANDALONE", "");
}

void KubeflowTorchEnv(const Party& p, Env* env) {
  env->emplace_back("PYTHONUNBUFFERED", "1");
  if (const Endpoint* master = p.First("master")) {
    const std::string rank = Cat(RankOf(p));
    env->emplace_back("MASTER_PORT", Cat(master->port));
    env->emplace_back("PET_MASTER_PORT", Cat(master->port));
    env->emplace_back("MASTER_ADDR", master->host);
    env->emplace_back("PET_MASTER_ADDR", master->host);
    env->emplace_back("WORLD_SIZE",
                      Cat(p.world() * Processes(p.job.nproc_per_node)));
    env->emplace_back("RANK", rank);
    env->emplace_back("PET_NODE_RANK", rank);
  }
  if (!p.job.nproc_per_node.empty()) {
    env->emplace_back("PET_NPROC_PER_NODE", p.job.nproc_per_node);
  }
  if (p.job.resize == ResizeMode::kInPlace) {
    ElasticEnv(p, env);
  } else {
    env->emplace_back("PET_NNODES", Cat(p.world()));
  }
}

void KubeDLTorchEnv(const Party& p, Env* env) {
  const Endpoint* master = p.First("master");
  env->emplace_back("MASTER_PORT", Cat(master->port));
  env->emplace_back("MASTER_ADDR",
                    TypeOf(p) == "master" ? "localhost" : master->host);
  if (TypeOf(p) != "aimaster") {
    env->emplace_back("RANK", Cat(RankOf(p)));
    env->emplace_back("WORLD_SIZE", Cat(p.world()));
  }
  env->emplace_back("PYTHONUNBUFFERED", "0");
}

void AddMissing(Env* env, std::string name, std::string value) {
  const bool there = std::ranges::any_of(
      *env, [&](const auto& entry) { return entry.first == name; });
  if (!there) env->emplace_back(std::move(name), std::move(value));
}

}  // namespace

uint32_t Party::world() const {
  uint32_t n = 0;
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    if (job.roles[r].name != "aimaster") n += size(r);
  }
  return n;
}

const Endpoint& Party::self() const {
  const std::vector<Endpoint>& of = endpoints[task.role];
  return of[std::min<size_t>(task.index, of.size() - 1)];
}

const Endpoint* Party::First(std::string_view name) const {
  const uint32_t r = FindRole(job, name);
  return r < job.roles.size() ? &endpoints[r].front() : nullptr;
}

std::string ClusterJson(const Job& job, const Endpoints& endpoints) {
  std::map<std::string, std::string> roles;
  for (uint32_t r = 0; r < job.roles.size(); ++r) {
    if (!InCluster(job, job.roles[r])) continue;
    std::string list;
    for (const Endpoint& e : endpoints[r]) {
      list += Cat(list.empty() ? "" : ",", Quoted(HostPort(e)));
    }
    roles[job.roles[r].name] = std::move(list);
  }
  std::string json = "{";
  for (const auto& [name, list] : roles) {
    json += Cat(json.size() == 1 ? "\"" : ",\"", name, "\":[", list, "]");
  }
  return json + "}";
}

void TFEnv(const Party& p, Env* env) {
  uint32_t tasks = 0;
  for (uint32_t r = 0; r < p.job.roles.size(); ++r) tasks += p.size(r);
  if (tasks == 1) return;
  if (p.job.dynamic_workers) {
    env->emplace_back("TF_CONFIG", SparseConfig(p));
    return;
  }
  env->emplace_back(
      "TF_CONFIG",
      Cat("{\"cluster\":", p.cluster, ",\"task\":{\"type\":\"", TypeOf(p),
          "\",\"index\":", p.task.index, "},\"environment\":\"cloud\"}"));
}

void PyTorchEnv(const Party& p, Env* env) {
  if (p.job.dialect == Dialect::kKubeDL) {
    KubeDLTorchEnv(p, env);
  } else {
    KubeflowTorchEnv(p, env);
  }
  if (!p.options.torch_extras || TypeOf(p) == "aimaster") return;
  const Endpoint* first = p.First("master");
  if (first == nullptr) first = p.First("worker");
  AddMissing(env, "MASTER_ADDR", first->host);
  AddMissing(env, "MASTER_PORT", Cat(first->port));
  AddMissing(env, "RANK", Cat(RankOf(p)));
  AddMissing(env, "WORLD_SIZE", Cat(p.world()));
  AddMissing(env, "LOCAL_RANK", "0");
  AddMissing(env, "LOCAL_WORLD_SIZE", "1");
  AddMissing(env, "PET_NNODES", Cat(p.world()));
  AddMissing(env, "PET_NODE_RANK", Cat(RankOf(p)));
  AddMissing(env, "PET_MASTER_ADDR", first->host);
  AddMissing(env, "PET_MASTER_PORT", Cat(first->port));
}

void XGBoostEnv(const Party& p, Env* env) {
  const Endpoint* master = p.First("master");
  const bool kubedl = p.job.dialect == Dialect::kKubeDL;
  env->emplace_back("MASTER_PORT", Cat(master->port));
  env->emplace_back("MASTER_ADDR", master->host);
  env->emplace_back("WORLD_SIZE", Cat(p.world()));
  env->emplace_back("RANK", Cat(RankOf(p)));
  env->emplace_back("PYTHONUNBUFFERED", kubedl ? "0" : "1");
  const uint32_t worker = FindRole(p.job, "worker");
  if (kubedl || worker == p.job.roles.size()) return;
  std::string all;
  for (const Endpoint& e : p.endpoints[worker]) {
    all += Cat(all.empty() ? "" : ",", e.host);
  }
  env->emplace_back("WORKER_PORT", Cat(p.endpoints[worker].front().port));
  env->emplace_back("WORKER_ADDRS", all);
}

void MarsEnv(const Party& p, Env* env) {
  const TaskTemplate& task = p.role().task;
  std::string resources;
  if (TypeOf(p) == "worker") {
    resources = Cat(",\"resources\":{\"cpu_procs\":", CoresOf(task),
                    ",\"phy_mem\":", task.Requested("memory"), "}");
  }
  env->emplace_back(
      "MARS_CLUSTER_DETAIL",
      Cat("{\"cluster\":", p.cluster, ",\"task\":{\"type\":\"", TypeOf(p),
          "\",\"index\":", p.task.index, resources, "}}"));
  env->emplace_back("MARS_CPU_TOTAL", Cat(CoresOf(task)));
  env->emplace_back("MARS_MEMORY_TOTAL", Cat(task.Requested("memory")));
  env->emplace_back("MARS_CPU_USE_PROCESS_STAT", "1");
  env->emplace_back("MARS_MEM_USE_CGROUP_STAT", "1");
  env->emplace_back("MARS_BIND_PORT", Cat(p.self().port));
  env->emplace_back("MARS_K8S_GROUP_LABELS", "job-name");
  env->emplace_back("MARS_CONTAINER_IP", p.self().host);
  env->emplace_back("MARS_K8S_POD_NAME", TaskName(p.job, p.task));
  env->emplace_back("MARS_K8S_POD_NAMESPACE", p.job.space);
}

void JaxEnv(const Party& p, Env* env) {
  const Endpoint* first = p.First("worker");
  env->emplace_back("PYTHONUNBUFFERED", "1");
  env->emplace_back("COORDINATOR_PORT", Cat(first->port));
  env->emplace_back("COORDINATOR_ADDRESS", first->host);
  env->emplace_back("NUM_PROCESSES", Cat(p.world()));
  env->emplace_back("PROCESS_ID", Cat(RankOf(p)));
}

void IndexEnv(const Party& p, Env* env) {
  if (!p.job.indexed) return;
  const uint32_t group = p.role().group_size;
  env->emplace_back("JOB_COMPLETION_INDEX",
                    Cat(group > 0 ? p.task.index % group : p.task.index));
}

void TrainEnv(const Party& p, Env* env) {
  const Endpoint& first = p.endpoints[0].front();
  const TaskTemplate& task = p.role().task;
  const int64_t gpus = task.Requested(kGpu);
  const std::string rank = Cat(p.task.index), nodes = Cat(p.size(0));
  if (p.job.framework == "torch") {
    std::string nproc = p.job.nproc_per_node;
    if (nproc == "auto" && gpus == 0) {
      nproc = Cat(std::max<int64_t>(1, CoresOf(task)));
    }
    env->emplace_back("PET_NNODES", nodes);
    env->emplace_back("PET_NPROC_PER_NODE", nproc);
    env->emplace_back("PET_NODE_RANK", rank);
    env->emplace_back("PET_MASTER_ADDR", first.host);
    env->emplace_back("PET_MASTER_PORT", Cat(first.port));
  } else if (p.job.framework == "jax") {
    env->emplace_back("JAX_NUM_PROCESSES", nodes);
    env->emplace_back("JAX_PROCESS_ID", rank);
    env->emplace_back("JAX_COORDINATOR_ADDRESS", HostPort(first));
  } else if (p.job.framework == "xgboost") {
    env->emplace_back("DMLC_TRACKER_URI", first.host);
    env->emplace_back("DMLC_TRACKER_PORT", Cat(first.port));
    env->emplace_back("DMLC_TASK_ID", rank);
    env->emplace_back("DMLC_NUM_WORKER",
                      Cat(p.size(0) * std::max<int64_t>(1, gpus)));
  }
  IndexEnv(p, env);
}

void SlurmEnv(const Party& p, Env* env) {
  env->emplace_back("SLURM_JOB_NAME", p.job.name);
  env->emplace_back("SLURM_NTASKS", Cat(p.world()));
  env->emplace_back("SLURM_NPROCS", Cat(p.world()));
  env->emplace_back("SLURM_CPUS_PER_TASK", Cat(CoresOf(p.role().task)));
  env->emplace_back("SLURM_PROCID", Cat(RankOf(p)));
  if (!p.job.scheduling.queue.empty()) {
    env->emplace_back("SLURM_JOB_PARTITION", p.job.scheduling.queue);
  }
}

std::string Expand(const std::string& text, const Env& env) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t dollar = text.find('$', at);
    out.append(text, at, dollar - at);
    if (dollar == std::string::npos) break;
    at = dollar;
    const size_t end =
        text.compare(at, 2, "$(") == 0 ? text.find(')', at) : std::string::npos;
    if (text.compare(at, 2, "$$") == 0) {  // One dollar, as it stands.
      out += '$';
      at += 2;
    } else if (end == std::string::npos) {
      out += '$';
      ++at;
    } else {
      const std::string name = text.substr(at + 2, end - at - 2);
      const auto found = std::ranges::find(env, name, &Env::value_type::first);
      out += found != env.end() ? found->second : text.substr(at, end - at + 1);
      at = end + 1;
    }
  }
  return out;
}

}  // namespace muster::workload
