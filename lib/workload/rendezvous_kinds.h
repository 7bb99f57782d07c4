// What each kind of job gives its tasks, by kind and dialect.
#ifndef MUSTER_LIB_WORKLOAD_RENDEZVOUS_KINDS_H_
#define MUSTER_LIB_WORKLOAD_RENDEZVOUS_KINDS_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/workload/kinds.h"
#include "muster/workload/rendezvous.h"

namespace muster::workload {

// What the functions below look at.
struct Party {
  const Job& job;
  const Endpoints& endpoints;
  const RendezvousOptions& options;
  const std::string& cluster;
  TaskId task{};

  uint32_t size(uint32_t role) const {
    return static_cast<uint32_t>(endpoints[role].size());
  }
  // Of all roles but "aimaster".
  uint32_t world() const;
  const Role& role() const { return job.roles[task.role]; }
  const Endpoint& self() const;
  // The first task of the role of that name, or null.
  const Endpoint* First(std::string_view role) const;
};

using Env = std::vector<std::pair<std::string, std::string>>;

void TFEnv(const Party& p, Env* env);
void PyTorchEnv(const Party& p, Env* env);
void XGBoostEnv(const Party& p, Env* env);
void MpiEnv(const Party& p, Env* env);
void MarsEnv(const Party& p, Env* env);
void JaxEnv(const Party& p, Env* env);
void TrainEnv(const Party& p, Env* env);
void IndexEnv(const Party& p, Env* env);
void RayEnv(const Party& p, Env* env);
void SlurmEnv(const Party& p, Env* env);

// Whole cores, rounded up, of an amount of "cpu".
inline int64_t Cores(int64_t milli) { return (milli + 999) / 1000; }

// {"role":["host:port",...],...}, names sorted; of the roles that the kind
// tells its tasks.
std::string ClusterJson(const Job& job, const Endpoints& endpoints);
// hostfile and what mpirun needs beside it.
std::vector<TaskFile> MpiFiles(const Job& job, const Endpoints& endpoints,
                               const RendezvousOptions& options);
// `ray start ...`.
std::string RayStart(const Party& p);

// $(NAME) replaced by values of `env`; $$(NAME) stands for $(NAME). O(text).
std::string Expand(const std::string& text, const Env& env);

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_RENDEZVOUS_KINDS_H_
