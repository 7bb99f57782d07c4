// Public traces as workloads.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/inprocess/workload.h"
#include "muster/enum_names.h"

namespace muster::inprocess {

struct Trace {
  Setup setup{};
  std::unique_ptr<JobSource> jobs{};
  std::vector<WorldEvent> events{};
};

enum class TracePolicy : uint8_t {
  kFifo,      // One class, no gang is stopped for another.
  kPriority,  // Classes after the trace, with preemption.
};
MUSTER_ENUM_NAMES(TracePolicy, "fifo", "priority");

// The Alibaba trace cluster-trace-gpu-v2023 ("openb"): nodes.csv with sn,
// cpu_milli, memory_mib, gpu, model; pods.csv with name, cpu_milli, memory_mib,
// num_gpu, gpu_milli, gpu_spec, qos, creation_time, deletion_time,
// scheduled_time. A pod is a gang of one task, submitted when it was created,
// that runs for deletion - scheduled (deletion - creation where it never was).
// With kPriority, qos decides: LS and Guaranteed over Burstable over BE (made
// up: the trace knows no preemption).
struct OpenbOptions {
  std::string nodes{};
  std::string pods{};
  uint32_t copies = 1;     // Copy i is submitted
  Duration shift = kHour;  // i x this later.
  TracePolicy policy = TracePolicy::kFifo;
  Duration checkpoint_every = 0;
};
absl::StatusOr<Trace> LoadOpenb(const OpenbOptions& options);

// The traces published with Muri (SIGCOMM'22), four virtual clusters of
// Philly: jobs.csv with job_id, num_gpu, submit_time (ms), iterations,
// model_name, iteration_time (ms), priority; nodes.csv with one line,
// num_node_p_switch, num_gpu_p_node and others. A job is a gang of num_gpu
// tasks with one GPU each that runs for iterations x iteration_time x 1.015.
// The cost of a restart is the overhead of (GPUs, model) in overhead.csv,
// columns num_gpu, model, overhead_s; 10 s for a model that is not in it, or
// without the file.
struct MuriOptions {
  std::string nodes{};
  std::string jobs{};
  std::string overhead{};  // May be empty.
  TracePolicy policy = TracePolicy::kFifo;
  Duration checkpoint_every = kHour;
};
absl::StatusOr<Trace> LoadMuri(const MuriOptions& options);

}  // namespace muster::inprocess
