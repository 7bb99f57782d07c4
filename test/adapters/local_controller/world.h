// A world for a Controller: a store and processes, as entries of tables.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/controller/controller.h"

namespace muster::local {

// A manifest of a batch/v1 Job in JSON.
struct JobSpec {
  std::string name = "job";
  std::string gpus{};  // "1"; empty: none.
  std::string resource = "nvidia.com/gpu";
  std::string gpu_memory{};  // Of one; empty: nothing is said.
  std::string cpu = "1";
  int tasks = 1;  // parallelism and completions
  int backoff_limit = 6;
  std::string annotations{};  // Members of a JSON object.
  std::string spec{};         // Further members of the spec, each with a comma.
};
std::string Manifest(const JobSpec& spec);
// A PyTorchJob with a master and workers of one GPU each; elastic with max > 0.
std::string PyTorchManifest(const std::string& name, int workers, int min = 0,
                            int max = 0);

ControllerConfig OneBox(uint32_t devices);

struct Process {
  TaskStart start{};
  bool stopping = false;
  bool suspended = false;
};

class World {
 public:
  explicit World(ControllerConfig config);

  // Errors fail the test.
  std::vector<uint64_t> Submit(Submission submission);
  uint64_t Submit(const std::string& manifest,
                  const std::string& priority = "");
  // One turn: kept, then carried out. Whether there was anything to carry out.
  bool Turn();
  // The program is killed in the middle of a turn: before it is kept, or behind
  // that and the first `done` commands; and begins again.
  void Crash(bool kept, size_t done);
  // Turns until nothing is left to be done.
  void Settle();
  void Pass(Duration span) {
    now += span;
    Settle();
  }
  // The job's task ends; the only one if no index is given.
  void Exit(uint64_t job, int32_t code, uint32_t role = 0, uint32_t index = 0);
  // The program is killed and begins again with what was kept.
  void Restart();
  StoredState Saved() const;

  // Of the store.
  const JobRow& Row(uint64_t job) const { return jobs.at(job); }
  std::string Phase(uint64_t job) const { return jobs.at(job).phase; }
  // Its processes: "role-index/attempt", sorted.
  std::vector<std::string> Running(uint64_t job) const;
  std::string Env(uint64_t job, const std::string& name, uint32_t role = 0,
                  uint32_t index = 0) const;
  const Process* Of(uint64_t job, uint32_t role = 0, uint32_t index = 0) const;
  // Thousandths of each device that processes hold.
  std::vector<int64_t> DeviceUse() const;
  // Of all commands so far: "stop 3", "start 3", ...
  std::vector<std::string> Log() const;

  ControllerConfig config;
  Time now = kSecond;
  bool stops_at_once = true;  // Processes that are asked to stop do.
  bool ready_at_once = true;
  std::unique_ptr<Controller> controller{};
  std::vector<TaskCommand> commands{};
  std::map<uint64_t, uint32_t> sizes{};  // Told last, by job.
  std::vector<JobNews> news{};
  Time wake_at = kForever;
  // What the wall clock tells; none: nobody tells it.
  std::optional<Time> wall{};

  // The store.
  std::map<uint64_t, JobRow> jobs{};
  std::vector<LifeRow> life{};
  std::map<TaskKey, TaskRow> tasks{};
  std::map<uint64_t, CronRow> crons{};
  uint64_t next_cron = 1;
  std::vector<DrainRow> drains{};
  std::string journal{};
  // The machine.
  std::map<TaskKey, Process> processes{};
  std::map<TaskKey, int32_t> exits{};  // Of those that have ended: their codes.

 private:
  void Keep(const TurnSave& save);
  void Do(const TaskCommand& command);
  void Adopt(const TaskKey& key);
};

}  // namespace muster::local
