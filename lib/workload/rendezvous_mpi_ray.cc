// MPI's hostfile and Ray's command lines.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "lib/workload/cat.h"
#include "lib/workload/rendezvous_kinds.h"

namespace muster::workload {
namespace {

constexpr uint32_t kDashboardPort = 8265;

std::shared_ptr<const std::string> Shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

bool HasGpu(const TaskTemplate& task) {
  return std::ranges::any_of(task.requests, [](const Amount& a) {
    return a.resource.ends_with("/gpu") && a.amount > 0;
  });
}

// Whether mpirun may use the launcher's own place, too.
bool LauncherIsHost(const Job& job, uint32_t launcher) {
  if (job.dialect == Dialect::kMpiV2) return job.launcher_runs_workloads;
  return HasGpu(job.roles[launcher].task);
}

std::string Hostfile(const Job& job, const Endpoints& endpoints) {
  const bool colon =
      job.mpi != MpiImplementation::kOpenMpi &&
      (job.dialect == Dialect::kKubeDL || job.dialect == Dialect::kMpiV2);
  // A host that is there twice has the slots of both: mpirun takes it once.
  std::vector<std::pair<std::string, uint64_t>> slots;
  std::map<std::string, size_t> known;
  const auto add = [&](const std::string& host) {
    const auto [at, is_new] = known.try_emplace(host, slots.size());
    if (is_new) slots.emplace_back(host, 0);
    slots[at->second].second += job.slots_per_worker;
  };
  const uint32_t launcher = FindRole(job, "launcher");
  if (LauncherIsHost(job, launcher)) add(endpoints[launcher].front().host);
  const uint32_t worker = FindRole(job, "worker");
  for (uint32_t i = 0;
       worker < job.roles.size() && i < endpoints[worker].size(); ++i) {
    add(endpoints[worker][i].host);
  }
  std::string text;
  for (const auto& [host, count] : slots) {
    text += Cat(host, colon ? ":" : " slots=", count, "\n");
  }
  return text;
}

std::string DiscoverHosts(const Job& job, const Endpoints& endpoints,
                          std::vector<uint32_t> running) {
  std::string text = "#!/bin/sh\n";
  const uint32_t worker = FindRole(job, "worker");
  if (worker == job.roles.size()) return text;
  if (running.empty()) {
    for (uint32_t i = 0; i < endpoints[worker].size(); ++i)
      running.push_back(i);
  }
  std::vector<std::string> hosts;
  for (const uint32_t i : running) {
    if (i < endpoints[worker].size())
      hosts.push_back(endpoints[worker][i].host);
  }
  std::ranges::sort(hosts);
  for (const std::string& host : hosts) {
    text += Cat("echo ", host, ":", job.slots_per_worker, "\n");
  }
  return text;
}

std::string Kubexec(const Job& job) {
  return Cat(
      "#!/bin/sh\nset -x\nPOD_NAME=$1\nshift\n"
      "/opt/kube/kubectl exec ${POD_NAME}",
      job.main_container.empty() ? ""
                                 : Cat(" --container ", job.main_container),
      " -- /bin/sh -c \"$*\"");
}

void MpiV2Env(const Party& p, const std::string& hostfile, Env* env) {
  switch (p.job.mpi) {
    case MpiImplementation::kOpenMpi:
      env->emplace_back("OMPI_MCA_orte_keep_fqdn_hostnames", "true");
      env->emplace_back("OMPI_MCA_orte_default_hostfile", hostfile);
      env->emplace_back("OMPI_MCA_plm_rsh_args", "-o ConnectionAttempts=10");
      break;
    case MpiImplementation::kIntel:
      env->emplace_back("I_MPI_HYDRA_HOST_FILE", hostfile);
      env->emplace_back("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
                        "-o ConnectionAttempts=10");
      break;
    case MpiImplementation::kMpich:
      env->emplace_back("HYDRA_HOST_FILE", hostfile);
      env->emplace_back("HYDRA_LAUNCH_EXTRA_ARGS", "-o ConnectionAttempts=10");
      break;
  }
}

}  // namespace

std::vector<TaskFile> MpiFiles(const Job& job, const Endpoints& endpoints,
                               const RendezvousOptions& options) {
  const std::string dir = options.config_dir + "/";
  std::vector<TaskFile> files;
  files.push_back({dir + "hostfile", Shared(Hostfile(job, endpoints)), false});
  if (options.remote_shell.empty() && job.dialect != Dialect::kMpiV2) {
    files.push_back({dir + "kubexec.sh", Shared(Kubexec(job)), true});
  }
  if (job.dialect != Dialect::kKubeDL) {
    files.push_back(
        {dir + "discover_hosts.sh",
         Shared(DiscoverHosts(job, endpoints, options.running_workers)), true});
  }
  return files;
}

void MpiEnv(const Party& p, Env* env) {
  if (p.role().name != "launcher") return;
  const std::string hostfile = p.options.config_dir + "/hostfile";
  std::string agent = p.options.remote_shell;
  if (agent.empty() && p.job.dialect != Dialect::kMpiV2) {
    agent = p.options.config_dir + "/kubexec.sh";
  }
  static constexpr std::string_view kAgents[] = {"OMPI_MCA_plm_rsh_agent",
                                                 "I_MPI_HYDRA_BOOTSTRAP_EXEC",
                                                 "HYDRA_LAUNCHER_EXEC"};
  static constexpr std::string_view kFiles[] = {
      "OMPI_MCA_orte_default_hostfile", "I_MPI_HYDRA_HOST_FILE",
      "HYDRA_HOST_FILE"};
  const auto mpi = static_cast<size_t>(p.job.mpi);
  if (!agent.empty()) env->emplace_back(kAgents[mpi], agent);
  if (!p.options.remote_shell.empty() &&
      p.job.mpi == MpiImplementation::kOpenMpi) {
    // Else another launcher may be chosen, as by a variable of the machine.
    env->emplace_back("OMPI_MCA_plm", "rsh");
  }
  if (p.job.dialect == Dialect::kMpiV2) {
    MpiV2Env(p, hostfile, env);
  } else {
    env->emplace_back(kFiles[mpi], hostfile);
  }
  if (p.job.dialect != Dialect::kKubeDL && !HasGpu(p.role().task)) {
    env->emplace_back("NVIDIA_VISIBLE_DEVICES", "");
    if (p.job.dialect == Dialect::kMpiV2) {
      env->emplace_back("NVIDIA_DRIVER_CAPABILITIES", "");
    }
  }
}

std::string RayStart(const Party& p) {
  const bool head = p.role().name == "head";
  const Endpoint& at = p.endpoints[0].front();
  std::map<std::string, std::string> flags(p.role().ray_start_params.begin(),
                                           p.role().ray_start_params.end());
  const auto add = [&](const char* name, std::string value) {
    flags.emplace(name, std::move(value));  // What is there stays.
  };
  if (head) {
    add("dashboard-host", "0.0.0.0");
    if (at.port != kGcsPort) add("port", Cat(at.port));
  } else {
    add("address", Cat(at.host, ":", at.port));
  }
  add("block", "true");
  add("dashboard-agent-listen-port", "52365");
  add("metrics-export-port", "8080");
  for (const Amount& a : p.role().task.limits) {
    if (a.resource == "cpu") add("num-cpus", Cat(Cores(a.amount)));
    if (a.resource == "memory") add("memory", Cat(a.amount));
    if (a.resource == kGpu) add("num-gpus", Cat(a.amount));
  }
  std::string text = head ? "ray start --head " : "ray start ";
  for (const auto& [name, value] : flags) {
    text += value == "true" ? Cat(" --", name, " ")
                            : Cat(" --", name, "=", value, " ");
  }
  return text;
}

void RayEnv(const Party& p, Env* env) {
  const Endpoint& head = p.endpoints[0].front();
  if (p.role().name == "submitter") {
    env->emplace_back("RAY_DASHBOARD", Cat(head.host, ":", kDashboardPort));
    return;
  }
  env->emplace_back("FQ_RAY_IP", head.host);
  // The service's name in its own namespace; an address as it is.
  env->emplace_back("RAY_IP",
                    head.host.empty() || absl::ascii_isdigit(head.host[0])
                        ? head.host
                        : head.host.substr(0, head.host.find('.')));
  env->emplace_back("RAY_PORT", Cat(head.port));
  env->emplace_back("RAY_CLUSTER_NAME", p.job.name);
  env->emplace_back("RAY_CLUSTER_NAMESPACE", p.job.space);
  env->emplace_back("RAY_CLOUD_INSTANCE_ID", TaskName(p.job, p.task));
  env->emplace_back("RAY_NODE_TYPE_NAME",
                    p.role().name == "head" ? "headgroup" : p.role().name);
  env->emplace_back("KUBERAY_GEN_RAY_START_CMD", RayStart(p));
}

}  // namespace muster::workload
