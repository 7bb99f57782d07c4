// Readers of one kind of manifest each, and what they have in common.
#ifndef MUSTER_LIB_WORKLOAD_READERS_H_
#define MUSTER_LIB_WORKLOAD_READERS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "lib/workload/kinds.h"
#include "lib/workload/manifest.h"
#include "lib/workload/pod.h"
#include "muster/workload/job.h"
#include "muster/workload/parse.h"

namespace muster::workload {

// A TrainingRuntime or ClusterTrainingRuntime that stands beside TrainJobs.
struct Runtime {
  std::string name{};
  Value spec{};  // With findings of its own document.
};

// Each reads spec into a job whose kind, dialect and metadata are there.
// Mistakes are told to spec's findings.
void ReadReplicaJob(const Value& spec, const KindRow& row, Job* job);
void ReadBatchJob(const Value& spec, Job* job);
void ReadJobSet(const Value& spec, Job* job);
void ReadTrainJob(const Value& spec, const std::vector<Runtime>& runtimes,
                  Job* job);
void ReadRayCluster(const Value& spec, Job* job);
void ReadRayJob(const Value& spec, Job* job);

// KubeDL's cronPolicy.
void ReadCronPolicy(const Value& v, CronPolicy* cron);
// The spec of a CronJob; what stands in its jobTemplate's metadata, or none.
Value ReadCronJob(const Value& spec, Job* job);

// --- What several have ------------------------------------------------------

// {queue, priorityClass, priority, minAvailable, ...}.
void ReadSchedulingPolicy(const Value& v, Job* job);
// The fields of a podFailurePolicy.
void ReadPodFailurePolicy(const Value& v, std::string_view container,
                          FailurePolicy* failure);
// Annotations and labels that mean something here, and start orders of
// "muster.dev/dag"; then what must hold of any job. Called last.
void FinishJob(const Value& metadata, Job* job);

// Why a job cannot be, or OK: names, sizes, start orders without cycles.
// O(job).
absl::Status Check(const Job& job);

// A batch script.
absl::StatusOr<ParsedJob> ParseBatchScript(std::string_view bytes);

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_READERS_H_
