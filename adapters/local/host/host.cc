#include "adapters/local/host/host.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <malloc.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <iostream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "adapters/local/gpu/places.h"
#include "adapters/local/host/machine.h"
#include "adapters/local/host/task_files.h"
#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/mount_probe.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {
namespace {

constexpr uint64_t kWakeId = 1;
constexpr Duration kLookEvery = 5 * kSecond;
// Where there is a calendar, so soon it is seen that the wall clock was set.
constexpr Duration kLookAtWallEvery = 10 * kSecond;

// Whether nobody listens there on the loopback interface.
bool PortIsFree(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int bound =
      bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  close(fd);
  return bound == 0;
}

// Who is about to execute a shim has the files of its daemon for a moment, also
// where that was killed: its lock is waited for.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(const std::string& path) {
  constexpr int kTries = 50;
  auto store = Store::Open(path);
  for (int i = 0; i < kTries && absl::IsUnavailable(store.status()); ++i) {
    absl::SleepFor(absl::Milliseconds(20));
    store = Store::Open(path);
  }
  return store;
}

// Where the attempt with this folder writes, as its shim was told.
std::string OutputOf(const std::string& folder, bool error) {
  std::string bytes;
  ShimSpec spec;
  const OpenFile open = OpenAttemptFolder(folder);
  if (!open.ok() || ReadFile(open.fd(), kSpecFile, &bytes) != 0 ||
      !Decode(bytes, &spec)) {
    return kOutputFile;
  }
  return error && !spec.error.empty() ? spec.error : spec.output;
}

// Files in the folder of the state, beside the store: where GPUs are, and how
// late it is.
constexpr char kGpusFile[] = "/gpus.json";
constexpr char kClockFile[] = "/clock";

// "" if it is not there.
absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::string text;
  const int error = ReadFile(AT_FDCWD, path.c_str(), &text);
  if (error == 0 || error == ENOENT) return text;
  return absl::ErrnoToStatus(error, path);
}

// Gives memory back that a turn has needed for many jobs at once, as for an
// array of thousands: else it would stay with the process. O(heap).
void GiveMemoryBack([[maybe_unused]] size_t jobs) {
#ifdef __GLIBC__
  constexpr size_t kMany = 1000;
  if (jobs >= kMany) malloc_trim(0);
#endif
}

// Without it every job would fail.
absl::Status CheckShim(const std::string& shim) {
  if (access(shim.c_str(), X_OK) == 0) return absl::OkStatus();
  return absl::Status(
      absl::ErrnoToStatusCode(errno),
      absl::StrCat("muster-shim, which runs the tasks, cannot be executed: ",
                   shim, ": ", strerror(errno),
                   "; it is built and installed beside musterd, and --shim "
                   "names another place"));
}

}  // namespace

void Host::Say(const std::string& text) {
  std::cerr << "musterd: " << text << "\n";
}

Host::Host(HostOptions options) : options_(std::move(options)) {}

Host::~Host() {
  page_server_.reset();
  server_.reset();
  if (clock_) KeepClock();
  if (wake_ >= 0) close(wake_);
}

absl::StatusOr<std::unique_ptr<Host>> Host::Open(HostOptions options) {
  std::unique_ptr<Host> host(new Host(std::move(options)));
  if (absl::Status opened = host->OpenAll(); !opened.ok()) return opened;
  return host;
}

absl::Status Host::OpenAll() {
  if (absl::Status s = CheckShim(options_.shim); !s.ok()) return s;
  if (absl::Status s = MakeStateFolder(options_.state); !s.ok()) return s;
  auto store = OpenStore(options_.state + "/muster.db");
  if (!store.ok()) return store.status();
  store_ = *std::move(store);
  if (absl::Status s = MakeJobsFolder(options_.state + "/jobs"); !s.ok()) {
    return s;
  }
  store_->Reserve().IgnoreError();  // Without it the disk is full: LookAtDisk.
  tidier_ =
      std::make_unique<Tidier>(store_.get(), options_.state,
                               Retention{.age = options_.config.keep_for,
                                         .jobs = options_.config.keep_jobs,
                                         .bytes = options_.config.keep_bytes,
                                         .linger = Tidier::kLinger});
  notifier_ = std::make_unique<Notifier>(options_.config.notify);
  if (absl::Status s = OpenClock(); !s.ok()) return s;
  auto poller = Poller::Create();
  if (!poller.ok()) return poller.status();
  poller_ = std::make_unique<Poller>(*std::move(poller));
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_ < 0) return absl::ErrnoToStatus(errno, "eventfd");
  if (absl::Status s = poller_->Add(wake_, kWakeId); !s.ok()) return s;
  if (absl::Status s = OpenCpus(); !s.ok()) return s;
  if (absl::Status s = OpenRunner(); !s.ok()) return s;
  if (absl::Status s = OpenGpus(); !s.ok()) return s;
  absl::StatusOr<Node> node = MakeOwnNode();
  if (!node.ok()) return node.status();
  controller_config_ = MakeControllerConfig(*std::move(node));
  if (absl::Status s = OpenController(clock_->Now()); !s.ok()) return s;
  // Before what has happened, nothing happens.
  clock_->NotBefore(controller_->scheduler().now());
  KeepClock();
  return OpenServer();
}

absl::Status Host::OpenClock() {
  const absl::StatusOr<std::string> kept =
      ReadText(options_.state + kClockFile);
  if (!kept.ok()) return kept.status();
  clock_.emplace(options_.clock, *kept);
  return absl::OkStatus();
}

void Host::KeepClock() const {
  const absl::Status kept =
      ReplaceFile(options_.state + kClockFile, clock_->Save());
  if (!kept.ok()) Say(std::string(kept.message()));
}

absl::Status Host::OpenCpus() {
  if (options_.config.cpu_bind == CpuBind::kNone) return absl::OkStatus();
  absl::StatusOr<CpuTopology> topology = ReadCpuTopology();
  if (!topology.ok()) {
    return absl::Status(
        topology.status().code(),
        absl::StrCat("node.cpus.bind: ", topology.status().message()));
  }
  absl::StatusOr<CpuPool> pool = MakeCpuPool(options_.config, topology->cores);
  if (!pool.ok()) return pool.status();
  topology_ = *std::move(topology);
  cpus_ = *std::move(pool);
  Say(absl::StrCat("tasks are bound to ", cpus_.size(), " cpus (",
                   std::string(muster::Name(cpus_.unit)), "s)"));
  return absl::OkStatus();
}

absl::Status Host::OpenRunner() {
  absl::StatusOr<TaskCgroups> cgroups =
      TaskCgroups::Open(options_.config.cgroup);
  if (!cgroups.ok()) {
    return absl::Status(
        cgroups.status().code(),
        absl::StrCat("node.cgroup: ", cgroups.status().message()));
  }
  if (!cgroups->folder().empty()) {
    const CgroupLimits& limits = cgroups->limits();
    Say(absl::StrCat("tasks have cgroups in ", cgroups->folder(),
                     limits.memory ? "" : "; their memory is not limited there",
                     limits.cpu ? "" : "; cores are not shared out there",
                     limits.cpuset || cpus_.cores.empty()
                         ? ""
                         : "; tasks can leave their cores there"));
  }
  const absl::Status mounts = ProbeMounts(options_.shim);
  if (!mounts.ok()) no_mounts_ = std::string(mounts.message());
  VolumePlaces volumes = options_.config.volumes;
  volumes.mounts = mounts.ok();
  Images images = options_.config.images;
  const absl::Status program = FindProgram(&images);
  if (!program.ok()) {
    Say(absl::StrCat("images: tasks with images are refused: ",
                     program.message()));
  }
  images_ = RulesOf(images, program);
  auto runner =
      TaskRunner::Create({.state = options_.state,
                          .shim = options_.shim,
                          .volumes = std::move(volumes),
                          .images = std::move(images),
                          .visible_devices =
                              [this](const std::vector<DeviceShare>& shares) {
                                return gpus_->Visible(shares);
                              },
                          .cgroups = *std::move(cgroups)},
                         poller_.get());
  if (!runner.ok()) return runner.status();
  runner_ = *std::move(runner);
  return absl::OkStatus();
}

absl::Status Host::OpenGpus() {
  if (options_.config.devices.has_value()) {
    gpus_ = std::make_unique<GpuWatch>(GpuWatch::OfNone());
    return absl::OkStatus();
  }
  const std::string file = options_.state + kGpusFile;
  const absl::StatusOr<std::string> text = ReadText(file);
  if (!text.ok()) return text.status();
  absl::StatusOr<std::vector<Gpu>> known = std::vector<Gpu>();
  if (!text->empty()) known = GpusFromJson(*text);
  if (!known.ok()) {
    return absl::DataLossError(absl::StrCat(
        file, ": ", known.status().message(),
        "; without the file, GPUs are numbered as they are found now"));
  }
  absl::StatusOr<GpuWatch> gpus = GpuWatch::Create(
      *std::move(known), options_.config.forgotten_gpus, options_.nvml);
  if (!gpus.ok()) return gpus.status();
  gpus_ = std::make_unique<GpuWatch>(*std::move(gpus));
  SayOfGpus();
  return KeepGpus();
}

// Before a number of a GPU is told to anybody.
absl::Status Host::KeepGpus() const {
  const std::string file = options_.state + kGpusFile;
  const std::string text = GpusToJson(gpus_->gpus());
  const absl::StatusOr<std::string> kept = ReadText(file);
  const bool none = gpus_->gpus().empty() && kept.ok() && kept->empty();
  if (none || (kept.ok() && *kept == text)) return absl::OkStatus();
  return ReplaceFile(file, text);
}

// Which are missing, where that is news.
void Host::SayOfGpus() {
  std::string text;
  for (const absl::Status& why : gpus_->silent()) {
    absl::StrAppend(&text, why.message(), "; ");
  }
  for (size_t i = 0; i < gpus_->gpus().size(); ++i) {
    const Gpu& gpu = gpus_->gpus()[i];
    if (gpu.missing) {
      absl::StrAppend(&text, "GPU ", i, " (", gpu.uuid, ") is missing; ");
    }
  }
  if (text == said_) return;
  said_ = text;
  Say(text.empty() ? "all GPUs are there" : text + "jobs get the others");
}

absl::StatusOr<Node> Host::MakeOwnNode() const {
  return MakeNode(options_.config, WithNumaNodes(gpus_->gpus(), topology_),
                  cpus_);
}

ControllerConfig Host::MakeControllerConfig(Node node) const {
  const Config& config = options_.config;
  ControllerConfig made;
  made.scheduler = config.scheduler;
  made.node = std::move(node);
  made.queues = config.queues;
  made.classes = config.classes;
  made.default_queue = config.default_queue;
  made.default_class = config.default_class;
  made.owner = geteuid();
  made.state = options_.state;
  made.first_port = config.first_port;
  made.last_port = config.last_port;
  made.port_is_free = PortIsFree;
  made.remote_shell = options_.exec;
  made.socket = options_.socket;
  made.quarantine = config.quarantine;
  made.no_mounts = no_mounts_;
  made.images = images_;
  made.cpus = cpus_;
  return made;
}

absl::Status Host::OpenController(Time now) {
  absl::StatusOr<StoredState> kept = store_->Load();
  if (!kept.ok()) return kept.status();
  auto controller =
      kept->journal.empty()
          ? Controller::Begin(controller_config_, now)
          : Controller::Restore(controller_config_, *std::move(kept), now);
  if (!controller.ok()) return controller.status();
  controller_ = *std::move(controller);
  wake_at_ = now;
  wake_at_wall_ = kForever;
  return absl::OkStatus();
}

absl::Status Host::OpenServer() {
  api_ = std::make_unique<Api>(
      ApiOptions{
          .state = options_.state,
          .owner = geteuid(),
          .as_submitter = geteuid() == 0,
          .output_of = OutputOf,
          .others = [this] { return gpus_->others(); },
          .visible =
              [this](const DeviceShare& share) {
                return gpus_->Visible({share}).value_or("");
              },
          .send = [this](const TaskKey& task, std::string_view bytes,
                         bool end) { return runner_->Send(task, bytes, end); },
          .web_address =
              [this] { return gate_ == nullptr ? "" : gate_->address(); },
          .web_token =
              [this](uint32_t uid, uint32_t gid) {
                return web_users_->TokenOf(uid, gid);
              },
          .forget_web_token =
              [this](uint32_t uid) { return web_users_->Forget(uid); }},
      [this] { Wake(); });
  serve::HttpLimits limits;
  limits.connections = 4096;
  limits.connections_of_peer = 2048;
  limits.body = 4 << 20;
  limits.answer = std::chrono::seconds(90);  // Who waits for a job's end.
  // The daemon of a user is nobody else's.
  const uint32_t mode = geteuid() == 0 ? 0666 : 0600;
  auto server = serve::HttpServer::Start(
      {}, {{.path = options_.socket, .mode = mode}}, limits,
      [this](serve::HttpRequest request, const serve::Reply& reply) {
        api_->Handle(std::move(request), reply);
      });
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return OpenPage();
}

// A server of its own: who may only connect to it takes no connections from
// those who use the socket.
absl::Status Host::OpenPage() {
  if (!options_.config.listen.has_value()) return absl::OkStatus();
  serve::Address address = *options_.config.listen;
  auto users = WebUsers::Open(options_.state, geteuid(), getegid());
  if (!users.ok()) return users.status();
  web_users_ = *std::move(users);
  serve::HttpLimits limits;
  limits.connections = 256;
  limits.connections_of_peer = 256;
  limits.body = 4 << 20;
  limits.answer = std::chrono::seconds(90);
  std::promise<void> opened;  // The gate is there.
  auto server = serve::HttpServer::Start(
      {address}, limits,
      [this, open = opened.get_future().share()](serve::HttpRequest request,
                                                 const serve::Reply& reply) {
        open.wait();
        AskOverTcp(std::move(request), reply);
      });
  if (!server.ok()) return server.status();
  address.port = (*server)->ports()[0];
  gate_ = std::make_unique<WebGate>(address, web_users_.get());
  page_server_ = *std::move(server);
  opened.set_value();
  return absl::OkStatus();
}

void Host::AskOverTcp(serve::HttpRequest request, const serve::Reply& reply) {
  serve::Credentials who;
  std::optional<serve::HttpResponse> answer = gate_->Check(request, &who);
  if (answer.has_value()) return reply(*std::move(answer));
  request.peer = who;
  api_->Handle(std::move(request), reply);
}

absl::Status Host::Run() {
  while (!stop_) {
    Wait(WakeAt());
    const Time now = clock_->Now();
    if (trouble_.ok()) {
      OneTurn(now);
    } else if (now < retry_at_) {
      Rest(now);
    } else {
      TryAgain(now);
    }
    if (controller_ == nullptr) continue;
    if (now >= look_at_) LookAtGpus(now);
    if (now >= tidier_->due_at()) TidyUp(now);
  }
  return absl::OkStatus();
}

Time Host::WakeAt() {
  if (controller_ == nullptr) return retry_at_;
  const Time own = std::min({api_->wake_at(), look_at_, tidier_->due_at()});
  if (!trouble_.ok()) return std::min(own, retry_at_);
  const Time room = full_.ok() ? kForever : retry_at_;
  return std::min({own, room, wake_at_, runner_->look_at(), CronAt()});
}

Time Host::CronAt() {
  if (wake_at_wall_ == kForever) return kForever;
  const Duration left = wake_at_wall_ - options_.clock.wall();
  return clock_->Now() + std::clamp<Duration>(left, 0, kLookAtWallEvery);
}

void Host::Stop() {
  stop_ = true;
  Wake();
}

void Host::Wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(wake_, &one, sizeof one);
}

// Until something happens, or that time.
void Host::Wait(Time until) {
  // The clock may be faster than the kernel's: nothing is waited for longer
  // than a minute.
  constexpr int64_t kLongest = 60'000;
  const int64_t left = (until - std::min(until, clock_->Now())) / kMillisecond;
  const int64_t milliseconds =
      until == kForever ? kLongest : std::min(kLongest, left + (left > 0));
  for (const uint64_t id : poller_->Wait(static_cast<int>(milliseconds))) {
    if (id == kWakeId) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = read(wake_, &count, sizeof count);
    } else {
      runner_->Ready(id);
    }
  }
}

bool Host::OneTurn(Time now) {
  LookAtDisk(now);
  if (controller_ == nullptr) return false;
  runner_->Look(now);
  for (const TaskEvent& event : runner_->Take()) Observe(event, now);
  controller_->WallClock(std::clamp<Time>(options_.clock.wall(), 0, kMaxTime));
  if (!full_.ok()) {
    api_->Rest(controller_.get(), &store_->history(), now, full_);
  }
  api_->Turn(controller_.get(), &store_->history(), now);
  const Turn turn = controller_->Step(now);
  wake_at_ = turn.wake_at;
  wake_at_wall_ = turn.wake_at_wall;
  if (absl::Status kept = store_->Commit(turn.save); !kept.ok()) {
    GiveUp(kept, now);
    return false;
  }
  api_->Kept(controller_.get(), &store_->history(), now);
  api_->Tell(turn.news, now);
  notifier_->Tell(turn.news, turn.save.jobs);
  tidier_->Kept(turn.save, now);
  CarryOut(turn.commands);
  // What came of them is for the next turn.
  if (runner_->any()) wake_at_ = now;
  GiveMemoryBack(turn.save.jobs.size());
  return true;
}

void Host::CarryOut(const std::vector<TaskCommand>& commands) {
  for (const TaskCommand& command : commands) {
    // What starts on a full disk fails, through no fault of its own.
    if (!full_.ok() && command.kind == CommandKind::kStart) {
      held_back_ = true;
    } else {
      runner_->CarryOut(command);
    }
  }
}

void Host::Observe(const TaskEvent& event, Time now) {
  Controller& c = *controller_;
  switch (event.kind) {
    case TaskEvent::Kind::kRuns:
      return c.TaskReady(event.task, now);
    case TaskEvent::Kind::kExited:
      return c.TaskExited(event.task, event.code, event.reason, now);
    case TaskEvent::Kind::kLost:
      return c.TaskLost(event.task, now);
    case TaskEvent::Kind::kSuspended:
      return c.TaskSuspended(event.task, now);
    case TaskEvent::Kind::kResumed:
      return c.TaskResumed(event.task, now);
    case TaskEvent::Kind::kCheckpoint:
      return c.CheckpointDone(event.task.job, event.version, now);
  }
}

void Host::LookAtGpus(Time now) {
  look_at_ = gpus_->empty() ? kForever : now + kLookEvery;
  if (gpus_->empty()) return;
  const std::vector<int32_t> shims = runner_->shims();
  const auto usage = gpus_->Look(controller_config_.node.key, shims);
  // If the driver does not answer, all is as it was known last.
  absl::Status told = usage.status();
  if (usage.ok()) told = TellGpus(now);
  if (told.ok()) told = controller_->OthersUse(*usage, now);
  if (!told.ok()) Say(std::string(told.message()));
  wake_at_ = now;
}

// That one has gone, or is back, or is new.
absl::Status Host::TellGpus(Time now) {
  SayOfGpus();
  absl::StatusOr<Node> node = MakeOwnNode();
  if (!node.ok()) return node.status();
  if (*node == controller_config_.node) return absl::OkStatus();
  absl::Status told = KeepGpus();
  if (told.ok()) told = controller_->NodeChanged(*node, now);
  if (told.ok()) controller_config_.node = *std::move(node);
  return told;
}

void Host::TidyUp(Time now) {
  const absl::Status tidied = tidier_->Pass(now);
  KeepClock();
  if (!tidied.ok()) Say(std::string(tidied.message()));
}

}  // namespace muster::local
