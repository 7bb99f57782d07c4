// ControllerConfig: what a Controller is set up with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "adapters/local/controller/cpu_pool.h"
#include "adapters/local/controller/fault_book.h"
#include "adapters/local/controller/image_rules.h"
#include "muster/config.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"
#include "muster/workload/to_gang.h"

namespace muster::local {

struct ControllerLimits {
  // Jobs that have not ended, at a time: a further one is RESOURCE_EXHAUSTED.
  size_t jobs = 100'000;
  // Of them, those of one user who may not do everything (IsBounded): the rest
  // is for others.
  size_t jobs_of_user = 50'000;
  // Of one submission.
  size_t manifest_bytes = size_t{1} << 20;
  size_t environment_bytes = size_t{256} << 10;
  // Passes of the scheduler in one turn; what is left is for the next one.
  uint32_t passes = 64;
};

// A value.
struct ControllerConfig {
  // The user whose daemon it is.
  uint32_t owner = 0;
  // host.suspend says whether tasks can be suspended with their memory.
  SchedulerConfig scheduler{};
  // The one node: its key, capacity and devices.
  Node node{};
  // Names of resources that are devices; key, queue, user and submitted are set
  // for each job.
  workload::GangOptions gangs{};
  // Empty: one queue, called default_queue.
  std::vector<Queue> queues{};
  // Classes that jobs can name. One that is called default_class is that of
  // jobs that name none; it need not be there.
  std::vector<PriorityClass> classes{};
  std::string default_queue = "default";
  std::string default_class{};
  // What a task that asks for no "cpu" counts for, in thousandths; less where
  // all tasks of its job would then have more than the node. It limits no task,
  // only how many jobs run at a time. 0: nothing.
  int64_t default_cpu_milli = 1000;
  // Between the request to stop and the force, of jobs that set none and where
  // nothing shorter is asked.
  Duration grace = 30 * kSecond;
  // The folder of what is kept of jobs; it makes the paths that tasks are told:
  // see task_folder.h. Absolute.
  std::string state{};
  // Working directory of jobs that were submitted without one. Absolute.
  std::string home = "/";
  // Where tasks of a job listen, on 127.0.0.1: first and last port.
  uint16_t first_port = 20'000;
  uint16_t last_port = 29'999;
  // Whether nobody listens there now; null: all are free. Called from within
  // Step.
  std::function<bool(uint16_t)> port_is_free{};
  // The program that mpirun starts processes with; empty: mpirun starts them
  // itself, in the place of the launcher.
  std::string remote_shell{};
  // Where the daemon is asked: what tasks are told; empty: nothing.
  std::string socket{};
  QuarantineRules quarantine{};
  // Why tasks have no mounts here, and so no volumes where their manifests have
  // them; empty: they have.
  std::string no_mounts{};
  ImageRules images{};
  // What tasks are bound to. If there is any, the node has no more of "cpu"
  // than these are.
  CpuPool cpus{};
  ControllerLimits limits{};

  // Whether what users may have at most holds for this one: it does not for
  // root and the owner.
  bool IsBounded(uint32_t uid) const { return uid != 0 && uid != owner; }
};

}  // namespace muster::local
