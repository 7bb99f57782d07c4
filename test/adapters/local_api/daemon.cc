#include "test/adapters/local_api/daemon.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/controller/task_folder.h"
#include "gtest/gtest.h"

namespace muster::local {

using Json = nlohmann::json;

std::string ManifestOf(const std::string& name, int gpus,
                       const std::string& command) {
  Json container{{"name", "main"}, {"command", {command}}};
  container["resources"]["requests"]["nvidia.com/gpu"] = gpus;
  Json manifest{{"apiVersion", "batch/v1"}, {"kind", "Job"}};
  manifest["metadata"]["name"] = name;
  Json& spec = manifest["spec"];
  spec["backoffLimit"] = 0;
  spec["template"]["spec"]["restartPolicy"] = "Never";
  spec["template"]["spec"]["containers"] = Json::array({container});
  return manifest.dump();
}

std::string SubmissionOf(const std::string& manifest) {
  return Json{{"manifest", manifest},
              {"directory", "/data/alice"},
              {"environment", {"SECRET=x"}}}
      .dump();
}

namespace {

// As WebUsers; there is nothing to be kept here.
absl::StatusOr<std::string> TokenOf(uint32_t uid, uint32_t gid) {
  return absl::StrCat("token of ", uid, " in ", gid);
}
absl::Status Forget(uint32_t uid) {
  return uid == Daemon::kBob ? absl::UnavailableError("disk")
                             : absl::OkStatus();
}

}  // namespace

Daemon::Daemon(CpuPool cpus) {
  config_.cpus = std::move(cpus);
  char name[] = "/tmp/muster-api-XXXXXX";
  state = mkdtemp(name);
  auto opened = Store::Open(state + "/muster.db");
  EXPECT_TRUE(opened.ok()) << opened.status();
  store = *std::move(opened);
  config_.scheduler.resources = {"cpu", "memory", "gpu"};
  config_.scheduler.device_kind = "gpu";
  config_.node.key = "local";
  config_.node.capacity = Resources{8'000, int64_t{16} << 30};
  config_.node.devices.resize(2);
  config_.classes = {{.key = "low", .value = 1}, {.key = "high", .value = 9}};
  config_.state = state;
  auto began = Controller::Begin(config_, now);
  EXPECT_TRUE(began.ok()) << began.status();
  controller = *std::move(began);
  api = std::make_unique<Api>(
      ApiOptions{.state = state,
                 .owner = kOwner,
                 .others = [this] { return others; },
                 .send = [this](const TaskKey& task, std::string_view bytes,
                                bool end) { return Send(task, bytes, end); },
                 .web_address = [this] { return web; },
                 .web_token = TokenOf,
                 .forget_web_token = Forget},
      [this] { ++woken; });
  Turn();
}

absl::StatusOr<size_t> Daemon::Send(const TaskKey& task, std::string_view bytes,
                                    bool end) {
  if (task.job != 1) return absl::FailedPreconditionError("has no input");
  const std::string_view taken = bytes.substr(0, kRoom);
  sent.push_back(absl::StrCat(task.role, "-", task.index, " ",
                              std::string(taken), end ? " end" : ""));
  return taken.size();
}

Daemon::~Daemon() {
  api.reset();
  store.reset();
  std::filesystem::remove_all(state);
}

std::shared_ptr<Answered> Daemon::Begin(const std::string& method,
                                        const std::string& target,
                                        const std::string& body, uint32_t uid) {
  auto answered = std::make_shared<Answered>();
  const size_t mark = target.find('?');
  api->Handle(
      {.method = method,
       .path = target.substr(0, mark),
       .query = mark == std::string::npos ? "" : target.substr(mark + 1),
       .body = body,
       .peer = serve::Credentials{.uid = uid, .gid = 100, .pid = 1}},
      [answered](serve::HttpResponse response) {
        answered->status = response.status;
        answered->body = std::move(response.body);
        answered->more = std::move(response.more);
      });
  return answered;
}

void Daemon::Turn() {
  api->Turn(controller.get(), &store->history(), now);
  for (;;) {
    const struct Turn turn = controller->Step(now);
    const absl::Status kept = store->Commit(turn.save);
    EXPECT_TRUE(kept.ok()) << kept;
    api->Kept(controller.get(), &store->history(), now);
    api->Tell(turn.news, now);
    if (turn.commands.empty()) return;
    for (const TaskCommand& command : turn.commands) {
      switch (command.kind) {
        case CommandKind::kStart:
        case CommandKind::kAdopt:
          controller->TaskReady(command.task, now);
          break;
        case CommandKind::kStop:
        case CommandKind::kKill:
          controller->TaskExited(command.task, 143,
                                 workload::ExitReason::kExited, now);
          break;
        default:
          break;
      }
    }
  }
}

void Daemon::LoseTurn() {
  api->Turn(controller.get(), &store->history(), now);
  controller->Step(now);
  api->Refuse(absl::ResourceExhaustedError("the disk is full"));
  auto kept = store->Load();
  ASSERT_TRUE(kept.ok()) << kept.status();
  auto restored = Controller::Restore(config_, *std::move(kept), now);
  ASSERT_TRUE(restored.ok()) << restored.status();
  controller = *std::move(restored);
  api->Kept(controller.get(), &store->history(), now);
}

Answered Daemon::Ask(const std::string& method, const std::string& target,
                     const std::string& body, uint32_t uid) {
  const auto answered = Begin(method, target, body, uid);
  Turn();
  return *answered;
}

uint64_t Daemon::Submit(const std::string& manifest, uint32_t uid) {
  const Answered answered =
      Ask("POST", "/v1/jobs", SubmissionOf(manifest), uid);
  EXPECT_EQ(answered.status, 201) << answered.body;
  return answered.status == 201
             ? answered.json()["jobs"][0]["id"].get<uint64_t>()
             : 0;
}

void Daemon::Exit(uint64_t job, int32_t code) {
  const auto details = controller->Details(job);
  ASSERT_TRUE(details.ok()) << details.status();
  ASSERT_EQ(details->tasks.size(), 1u);
  controller->TaskExited(details->tasks[0].row.key, code,
                         workload::ExitReason::kExited, now);
}

std::string Daemon::FolderOf(uint64_t job, uint32_t attempt) const {
  return TaskFolder(state, {.job = job, .attempt = attempt});
}

}  // namespace muster::local
