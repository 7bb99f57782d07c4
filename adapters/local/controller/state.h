// What the rooms of a Controller share.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/local/controller/array_book.h"
#include "adapters/local/controller/core_allocator.h"
#include "adapters/local/controller/cron_book.h"
#include "adapters/local/controller/fault_book.h"
#include "adapters/local/controller/job_book.h"
#include "adapters/local/controller/options.h"
#include "adapters/local/controller/port_pool.h"
#include "adapters/local/controller/scheduler_link.h"
#include "adapters/local/controller/turn.h"
#include "adapters/local/controller/views.h"
#include "adapters/local/model/drain_row.h"
#include "adapters/local/model/task_key.h"
#include "adapters/local/model/task_row.h"
#include "muster/node.h"

namespace muster::local {

// Not synchronised. Where it is, it stays.
struct ControllerState {
  explicit ControllerState(ControllerConfig of)
      : config(std::move(of)),
        node(config.node),
        ports(config.first_port, config.last_port, config.port_is_free),
        cores(config.cpus),
        jobs(&config) {
    external.node = config.node.key;
  }
  ControllerState(const ControllerState&) = delete;
  ControllerState& operator=(const ControllerState&) = delete;

  Time now() const { return link->now(); }
  // The wall clock's time: it may jump. now() where nobody tells it.
  Time wall() const { return wall_told != kForever ? wall_told : now(); }
  void Command(TaskCommand command) { commands.push_back(std::move(command)); }
  void Tell(uint64_t job, std::string_view what, std::string text = "") {
    news.push_back({job, what, std::move(text)});
  }
  // The row is to be kept.
  void Change(const TaskRow& row) { tasks[row.key] = row; }

  // Its node is what of the node is in service.
  ControllerConfig config;
  Node node;                             // As its host tells of it.
  std::map<int64_t, DrainRow> drains{};  // What is not, by device.
  bool drains_changed = false;
  FaultBook faults{};
  std::unique_ptr<SchedulerLink> link{};
  PortPool ports;
  CoreAllocator cores;
  JobBook jobs;
  ArrayBook arrays{};
  CronBook crons{};
  Time wall_told = kForever;
  uint64_t next_job = 1;
  Numbers numbers{};
  ExternalUsage external{};  // Of the node.
  // Of the turn under way.
  std::vector<TaskCommand> commands{};
  std::vector<JobNews> news{};
  std::map<TaskKey, TaskRow> tasks{};
  bool sync = false;
};

}  // namespace muster::local
