// What is asked of musterd: requests, time and what becomes of tasks, with a
// controller that decides and nothing behind it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "adapters/local/api/api.h"
#include "adapters/local/controller/controller.h"
#include "adapters/local/store/store.h"
#include "fuzz/targets.h"

namespace muster::fuzz {
namespace {

using Json = nlohmann::json;
using local::CommandKind;
using local::TaskKey;

// Nothing is kept in it.
class EmptyStore {
 public:
  EmptyStore() {
    char name[] = "/tmp/fuzz-api-XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    folder_ = name;
    auto store = local::Store::Open(folder_ + "/muster.db");
    if (!store.ok()) std::abort();
    store_ = *std::move(store);
  }
  ~EmptyStore() {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  EmptyStore(const EmptyStore&) = delete;
  EmptyStore& operator=(const EmptyStore&) = delete;

  local::History* history() { return &store_->history(); }

 private:
  std::string folder_;
  std::unique_ptr<local::Store> store_;
};

local::ControllerConfig Box() {
  local::ControllerConfig config;
  config.scheduler.resources = {"cpu", "memory", "gpu"};
  config.scheduler.device_kind = "gpu";
  config.scheduler.host.suspend = true;
  config.scheduler.host.suspended_keeps = {"memory"};
  config.node.key = "box";
  config.node.capacity = {8'000, int64_t{16} << 30};
  config.node.devices.resize(
      2, Device{.model = "H100", .memory_bytes = int64_t{80} << 30});
  config.queues = {{.key = "default"}, {.key = "shut", .closed = true}};
  config.classes = {
      {.key = "low", .value = -1, .on_preempted = OnPreempted::kSuspend},
      {.key = "high", .value = 9}};
  config.state = "/no/such/folder";
  config.limits.jobs = 64;
  return config;
}

// Jobs as rows that are kept: what a store gives after a restart.
struct Kept {
  uint64_t next_job = 1;
  std::map<uint64_t, local::JobRow> jobs{};
  std::vector<local::LifeRow> life{};
  std::map<TaskKey, local::TaskRow> tasks{};
  std::string journal{};

  void Take(const local::TurnSave& save) {
    for (const local::JobRow& row : save.jobs) {
      jobs[row.id] = row;
      next_job = std::max(next_job, row.id + 1);
    }
    life.insert(life.end(), save.life.begin(), save.life.end());
    for (const local::TaskRow& row : save.tasks) tasks[row.key] = row;
    if (save.journal_begins) journal.clear();
    journal += save.journal;
  }
  local::StoredState All() const {
    local::StoredState all{.journal = journal, .next_job = next_job};
    for (const auto& [id, row] : jobs) all.jobs.push_back(row);
    all.life = life;
    std::ranges::stable_sort(all.life, {}, &local::LifeRow::job);
    for (const auto& [key, row] : tasks) all.tasks.push_back(row);
    return all;
  }
};

class Machine {
 public:
  Machine() {
    auto began = local::Controller::Begin(Box(), now_);
    if (!began.ok()) std::abort();
    controller_ = *std::move(began);
    Turn();
  }

  // The next line of the input, and what belongs to it.
  void Do(const std::string& line, const std::string& body) {
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty()) return;
    int64_t number = 0;
    if (words.size() > 1 && !absl::SimpleAtoi(words[1], &number)) number = 0;
    if (words[0] == "pass") {
      now_ += std::clamp<int64_t>(number, 0, 100'000) * kSecond;
    } else if (words[0] == "exit" || words[0] == "lose") {
      if (alive_.empty()) return;
      const TaskKey task = *alive_.begin();
      alive_.erase(task);
      controller_->TaskExited(task, static_cast<int32_t>(number & 255),
                              words[0] == "exit" ? workload::ExitReason::kExited
                                                 : workload::ExitReason::kLost,
                              now_);
    } else if (words[0] == "restart") {
      return Restart();
    } else {
      Ask(words, body);
    }
    Turn();
  }
  // What went wrong.
  const std::string& problem() const { return problem_; }
  void Restart() {
    const uint64_t hash = controller_->scheduler().StateHash();
    auto restored = local::Controller::Restore(Box(), kept_.All(), now_);
    if (!restored.ok()) return Complain(restored.status().ToString());
    controller_ = *std::move(restored);
    if (controller_->scheduler().StateHash() != hash) {
      return Complain("a restart leaves another state");
    }
    Turn();
  }

 private:
  void Complain(std::string what) {
    if (problem_.empty()) problem_ = std::move(what);
  }

  // METHOD TARGET [UID].
  void Ask(const std::vector<std::string>& words, const std::string& body) {
    const std::string target = words.size() > 1 ? words[1] : "/";
    const size_t mark = target.find('?');
    uint32_t uid = 0;
    if (words.size() > 2 && !absl::SimpleAtoi(words[2], &uid)) uid = 7;
    auto answers = std::make_shared<int>(0);
    api_.Handle(
        {.method = words[0],
         .path = target.substr(0, mark),
         .query = mark == std::string::npos ? "" : target.substr(mark + 1),
         .body = body,
         .peer = serve::Credentials{.uid = uid, .gid = uid, .pid = 1}},
        [this, answers](const serve::HttpResponse& response) {
          if (++*answers > 1) Complain("a request has two answers");
          Check(response);
        });
  }

  void Check(const serve::HttpResponse& response) {
    if (response.status < 200 || response.status > 599 ||
        response.status == 500) {
      return Complain("status " + std::to_string(response.status) + ": " +
                      response.body);
    }
    if (!response.content_type.starts_with("application/json")) {
      if (response.status >= 400) Complain("a refusal is no JSON");
      return;
    }
    const Json json = Json::parse(response.body, nullptr, false);
    if (json.is_discarded()) return Complain("no JSON: " + response.body);
    if (response.status >= 400 && !json.contains("error")) {
      Complain("a refusal says nothing: " + response.body);
    }
  }

  void Turn() {
    constexpr int kMost = 50;
    static EmptyStore store;
    api_.Turn(controller_.get(), store.history(), now_);
    for (int i = 0; i < kMost; ++i) {
      const local::Turn turn = controller_->Step(now_);
      kept_.Take(turn.save);
      api_.Kept(controller_.get(), store.history(), now_);
      for (const local::TaskCommand& command : turn.commands) Carry(command);
      if (turn.commands.empty() && turn.wake_at > now_) break;
    }
    if (!controller_->defects().empty()) {
      Complain(controller_->defects().front());
    }
  }

  void Carry(const local::TaskCommand& command) {
    const TaskKey& task = command.task;
    switch (command.kind) {
      case CommandKind::kStart:
        if (alive_.insert(task).second) ++starts_;
        return controller_->TaskReady(task, now_);
      case CommandKind::kAdopt:
        if (alive_.contains(task)) return controller_->TaskReady(task, now_);
        return controller_->TaskLost(task, now_);
      case CommandKind::kStop:
      case CommandKind::kKill:
        if (alive_.erase(task) == 0) return;
        return controller_->TaskExited(task, 143, workload::ExitReason::kExited,
                                       now_);
      case CommandKind::kSuspend:
        return controller_->TaskSuspended(task, now_);
      case CommandKind::kResume:
        return controller_->TaskResumed(task, now_);
      case CommandKind::kCheckpoint:
        return controller_->CheckpointDone(task.job, command.version, now_);
      default:
        return;
    }
  }

  Time now_ = 1'000'000 * kSecond;
  std::unique_ptr<local::Controller> controller_;
  Kept kept_;
  std::set<TaskKey> alive_;
  int starts_ = 0;
  std::string problem_;
  // It goes first: who still waits is told.
  local::Api api_{{.state = Box().state, .owner = 0}, [] {}};
};

}  // namespace

std::string LocalApi(std::string_view input) {
  constexpr size_t kMostSteps = 40;
  constexpr std::string_view kBetween = "\n%%\n";
  Machine machine;
  for (size_t step = 0; step < kMostSteps && !input.empty(); ++step) {
    const std::string_view block = input.substr(0, input.find(kBetween));
    input.remove_prefix(std::min(input.size(), block.size() + kBetween.size()));
    const std::string_view line = block.substr(0, block.find('\n'));
    const size_t body = std::min(block.size(), line.size() + 1);
    machine.Do(std::string(line), std::string(block.substr(body)));
    if (!machine.problem().empty()) return machine.problem();
  }
  machine.Restart();
  return machine.problem();
}

}  // namespace muster::fuzz
