#include "test/adapters/local_controller/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "muster/enum_names.h"

namespace muster::local {

std::string Manifest(const JobSpec& spec) {
  const auto limit = [](const std::string& resource, const std::string& much) {
    return much.empty()
               ? ""
               : absl::StrCat(R"(,")", resource, R"(":")", much, R"(")");
  };
  const std::string gpus = limit(spec.resource, spec.gpus) +
                           limit("muster.dev/gpu-memory", spec.gpu_memory);
  return absl::StrCat(
      R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")",
      spec.name, R"(","annotations":{)", spec.annotations, R"(}},"spec":{)",
      spec.spec, R"("parallelism":)", spec.tasks, R"(,"completions":)",
      spec.tasks, R"(,"backoffLimit":)", spec.backoff_limit,
      R"(,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":)"
      R"("main","command":["train"],"resources":{"requests":{"cpu":")",
      spec.cpu, R"("},"limits":{"cpu":")", spec.cpu, R"(")", gpus, "}}}]}}}}");
}

std::string PyTorchManifest(const std::string& name, int workers, int min,
                            int max) {
  const std::string pod =
      R"("restartPolicy":"OnFailure","template":{"spec":{"containers":[{)"
      R"("name":"pytorch","command":["train"],"resources":{"limits":)"
      R"({"nvidia.com/gpu":1}}}]}})";
  const std::string elastic =
      max == 0 ? ""
               : absl::StrCat(R"("elasticPolicy":{"minReplicas":)", min,
                              R"(,"maxReplicas":)", max, "},");
  const std::string master =
      max > 0 ? "" : absl::StrCat(R"("Master":{"replicas":1,)", pod, "},");
  return absl::StrCat(
      R"({"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{)",
      R"("name":")", name, R"("},"spec":{)", elastic,
      R"("pytorchReplicaSpecs":{)", master, R"("Worker":{"replicas":)", workers,
      ",", pod, "}}}}");
}

ControllerConfig OneBox(uint32_t devices) {
  ControllerConfig config;
  config.owner = 1000;  // Whose jobs most are: World::Submit.
  config.state = "/var/lib/muster";
  config.home = "/home";
  config.node.key = "local";
  config.node.capacity = {16'000, int64_t{64} << 30};
  config.node.devices.assign(
      devices, Device{.model = "H100", .memory_bytes = int64_t{80} << 30});
  config.classes = {{.key = "low", .value = -10, .grace = 10 * kSecond},
                    {.key = "high", .value = 10, .grace = 10 * kSecond}};
  return config;
}

World::World(ControllerConfig of) : config(std::move(of)) {
  auto made = Controller::Begin(config, now);
  EXPECT_TRUE(made.ok()) << made.status();
  if (made.ok()) controller = *std::move(made);
  Turn();
}

std::vector<uint64_t> World::Submit(Submission submission) {
  const auto result = controller->Submit(submission, now);
  std::vector<uint64_t> ids;
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return ids;
  for (const SubmittedJob& job : result->jobs) ids.push_back(job.id);
  return ids;
}

uint64_t World::Submit(const std::string& manifest,
                       const std::string& priority) {
  Submission submission{.uid = 1000,
                        .gid = 100,
                        .manifest = manifest,
                        .directory = "/data/ann",
                        .environment = {"HOME=/data/ann", "LANG=C"}};
  if (!priority.empty()) submission.priority = priority;
  const auto ids = Submit(std::move(submission));
  Settle();
  return ids.empty() ? 0 : ids.front();
}

void World::Keep(const TurnSave& save) {
  for (const JobRow& row : save.jobs) jobs[row.id] = row;
  life.insert(life.end(), save.life.begin(), save.life.end());
  for (const TaskRow& row : save.tasks) tasks[row.key] = row;
  if (save.drains) drains = *save.drains;
  for (const CronRow& row : save.crons) {
    next_cron = std::max(next_cron, row.id + 1);
    crons[row.id] = row;
    if (row.removed) crons.erase(row.id);
  }
  if (save.journal_begins) journal.clear();
  journal += save.journal;
}

bool World::Turn() {
  if (wall) controller->WallClock(*wall);
  muster::local::Turn turn = controller->Step(now);
  Keep(turn.save);
  wake_at = turn.wake_at;
  if (turn.wake_at_wall <= wall.value_or(now)) wake_at = now;
  news.insert(news.end(), turn.news.begin(), turn.news.end());
  for (const TaskCommand& command : turn.commands) {
    commands.push_back(command);
    Do(command);
  }
  const std::vector<int64_t> use = DeviceUse();
  for (const int64_t milli : use) EXPECT_LE(milli, kWholeDevice);
  std::set<uint32_t> held;
  for (const HeldCpuSet& one : controller->ViewNode().held_cpus) {
    for (const uint32_t cpu : one.cpus) {
      EXPECT_TRUE(held.insert(cpu).second) << "two have CPU " << cpu;
    }
    for (const auto& [key, process] : processes) {
      if (process.suspended) continue;  // It runs nowhere.
      std::vector<uint32_t> both;
      std::ranges::set_intersection(one.cpus, process.start.cpus,
                                    std::back_inserter(both));
      EXPECT_TRUE(key.job == one.job || both.empty())
          << "job " << key.job << " runs where job " << one.job << " does";
    }
  }
  EXPECT_TRUE(controller->defects().empty()) << controller->defects().front();
  return !turn.commands.empty();
}

void World::Crash(bool kept, size_t done) {
  muster::local::Turn turn = controller->Step(now);
  if (kept) {
    Keep(turn.save);
    for (size_t i = 0; i < turn.commands.size() && i < done; ++i) {
      Do(turn.commands[i]);
    }
  }
  Restart();
}

void World::Settle() {
  for (int i = 0; i < 1000; ++i) {
    if (!Turn() && wake_at > now) return;
  }
  ADD_FAILURE() << "it does not come to rest";
}

void World::Adopt(const TaskKey& key) {
  if (const auto end = exits.find(key); end != exits.end()) {
    controller->TaskExited(key, end->second, workload::ExitReason::kExited,
                           now);
  } else if (!processes.contains(key)) {
    controller->TaskLost(key, now);
  } else {
    controller->TaskReady(key, now);
  }
}

void World::Do(const TaskCommand& command) {
  const TaskKey& key = command.task;
  if (command.kind == CommandKind::kCleanUp) return;
  EXPECT_TRUE(tasks.contains(key)) << "a command for what is not kept";
  if (command.kind == CommandKind::kAdopt) return Adopt(key);
  if (command.kind == CommandKind::kStart) {
    // Its folder shows whether it was started before.
    if (processes.contains(key) || exits.contains(key)) return Adopt(key);
    for (const auto& [other, process] : processes) {
      const bool same = other.job == key.job && other.role == key.role &&
                        other.index == key.index;
      EXPECT_FALSE(same) << "two attempts of a task at a time";
    }
    processes[key] = {command.start};
    if (ready_at_once) controller->TaskReady(key, now);
    return;
  }
  const auto it = processes.find(key);
  if (it == processes.end()) return;
  switch (command.kind) {
    case CommandKind::kStop:
    case CommandKind::kKill:
      it->second.stopping = true;
      if (stops_at_once) Exit(key.job, 143, key.role, key.index);
      return;
    case CommandKind::kSuspend:
      it->second.suspended = true;
      return controller->TaskSuspended(key, now);
    case CommandKind::kResume:
      it->second.suspended = false;
      return controller->TaskResumed(key, now);
    case CommandKind::kBind:
      it->second.start.cpus = command.start.cpus;
      return;
    case CommandKind::kResize:
      sizes[key.job] = command.start.size;
      return;
    default:
      return;
  }
}

void World::Exit(uint64_t job, int32_t code, uint32_t role, uint32_t index) {
  for (const auto& [key, process] : processes) {
    if (key.job != job || key.role != role || key.index != index) continue;
    const TaskKey ended = key;
    processes.erase(ended);
    exits[ended] = code;
    controller->TaskExited(ended, code, workload::ExitReason::kExited, now);
    return;
  }
  ADD_FAILURE() << "there is no such process";
}

StoredState World::Saved() const {
  StoredState saved{.journal = journal, .next_cron = next_cron};
  for (const auto& [id, row] : crons) saved.crons.push_back(row);
  saved.drains = drains;
  for (const auto& [id, row] : jobs) {
    saved.next_job = id + 1;
    if (row.finished == kForever) saved.jobs.push_back(row);
  }
  for (const LifeRow& row : life) {
    if (jobs.at(row.job).finished == kForever) saved.life.push_back(row);
  }
  std::ranges::stable_sort(saved.life, {}, &LifeRow::job);
  for (const auto& [key, row] : tasks) {
    if (jobs.at(key.job).finished == kForever) saved.tasks.push_back(row);
  }
  return saved;
}

void World::Restart() {
  auto restored = Controller::Restore(config, Saved(), now);
  ASSERT_TRUE(restored.ok()) << restored.status();
  controller = *std::move(restored);
}

std::vector<std::string> World::Running(uint64_t job) const {
  std::vector<std::string> names;
  for (const auto& [key, process] : processes) {
    if (key.job != job) continue;
    names.push_back(absl::StrCat(key.role, "-", key.index, "/", key.attempt));
  }
  return names;
}

const Process* World::Of(uint64_t job, uint32_t role, uint32_t index) const {
  for (const auto& [key, process] : processes) {
    if (key.job == job && key.role == role && key.index == index) {
      return &process;
    }
  }
  return nullptr;
}

std::string World::Env(uint64_t job, const std::string& name, uint32_t role,
                       uint32_t index) const {
  const Process* process = Of(job, role, index);
  if (process == nullptr) return "no process";
  for (const auto& [key, value] : process->start.launch.env) {
    if (key == name) return value;
  }
  return "unset";
}

std::vector<int64_t> World::DeviceUse() const {
  std::vector<int64_t> use(config.node.devices.size(), 0);
  for (const auto& [key, process] : processes) {
    if (process.suspended) continue;
    for (const DeviceShare& share : process.start.devices) {
      use[share.device] += share.milli;
    }
  }
  return use;
}

std::vector<std::string> World::Log() const {
  std::vector<std::string> lines;
  for (const TaskCommand& c : commands) {
    lines.push_back(absl::StrCat(std::string(Name(c.kind)), " ", c.task.job));
  }
  return lines;
}

}  // namespace muster::local
