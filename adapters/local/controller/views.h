// What can be read of a Controller. Plain values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/local/controller/cpu_pool.h"
#include "adapters/local/model/cron_row.h"
#include "adapters/local/model/drain_row.h"
#include "adapters/local/model/job_row.h"
#include "adapters/local/model/task_row.h"
#include "muster/device.h"
#include "muster/ids.h"
#include "muster/node.h"
#include "muster/queue.h"
#include "muster/queue_standing.h"
#include "muster/reason.h"
#include "muster/resources.h"
#include "muster/state.h"
#include "muster/workload/life.h"

namespace muster::local {

struct TaskView {
  TaskRow row{};
  std::string name{};
  // That it has of its own; none: it shares, or is bound to none.
  std::vector<uint32_t> cpus{};
};

// A role of an elastic job: the tasks that it is to have, and how many it may.
struct ElasticRole {
  std::string name{};
  uint32_t size = 0;
  uint32_t min = 0;
  uint32_t max = 0;
};

// One job that has not finished.
struct JobDetails {
  JobRow row{};  // All of it.
  workload::LifePhase phase = workload::LifePhase::kNew;
  std::vector<workload::Condition> conditions{};
  std::vector<TaskView> tasks{};       // That are alive, by key.
  std::vector<ElasticRole> elastic{};  // That can be resized.
  Time checkpoint_at = 0;              // 0: none.
  // When what it waits for by the clock happens; kForever: nothing.
  Time wake_at = kForever;
};

// Why a job is where it is.
struct JobExplanation {
  workload::LifePhase phase = workload::LifePhase::kNew;
  GangPhase gang = GangPhase::kWaiting;
  NamedReason reason{};  // Why it waits; kNone if it does not.
  std::string text{};    // For people; never empty.
  uint32_t ahead = 0;    // Jobs that wait before it in its queue.
};

// A calendar. Its times are those of the wall clock.
struct CronView {
  CronRow row{};
  std::string schedule{};
  std::string zone{};  // Empty: the machine's.
  std::string concurrency{};
  Time next = kForever;          // Its next start; kForever: none.
  std::vector<uint64_t> jobs{};  // That have not finished, by id.
};

// A part of a device, or of the node, that a task holds.
struct HeldDevice {
  uint64_t job = 0;
  uint32_t role = 0;
  uint32_t index = 0;  // Of the place, in the role.
  std::string task{};  // "ROLE-INDEX", of the place.
  DeviceShare share{};
};

// CPUs that a task has of its own.
struct HeldCpuSet {
  uint64_t job = 0;
  std::string task{};  // "ROLE-INDEX", of the place.
  std::vector<uint32_t> cpus{};
};

struct NodeView {
  Node node{};
  std::string no_mounts{};  // ControllerConfig::no_mounts
  std::string images{};     // ImageRules::by
  Resources used{};         // By jobs.
  ExternalUsage external{};
  std::vector<DrainRow> drains{};  // What is out of service, by device.
  // By device, then job, role and index.
  std::vector<HeldDevice> devices{};
  CpuUnit cpu_unit = CpuUnit::kCore;
  std::vector<uint32_t> cpus{};  // That tasks are bound to; none: they are not.
  std::vector<uint32_t> free_cpus{};  // Of these: all but those that are held.
  std::vector<HeldCpuSet> held_cpus{};  // By job, role and index.
};

struct QueueView {
  Queue queue{};
  QueueStanding standing{};  // With all below it.
  uint32_t waiting = 0;      // Jobs of it alone.
  uint32_t running = 0;
};

// Since this Controller began, and now.
struct Numbers {
  uint64_t submitted = 0;
  uint64_t task_starts = 0;
  uint64_t succeeded = 0;
  uint64_t failed = 0;
  uint64_t cancelled = 0;
  uint64_t preemptions = 0;
  uint64_t passes = 0;
  uint64_t turns = 0;
  uint32_t jobs = 0;     // Now: that have not finished.
  uint32_t waiting = 0;  // Of these: queued or suspended.
  uint32_t tasks = 0;    // Now: alive.
  uint32_t ports = 0;    // Now: given to jobs.
  uint64_t journal_bytes = 0;
};

}  // namespace muster::local
