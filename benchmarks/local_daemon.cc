#include "benchmarks/local_daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

constexpr auto kPause = std::chrono::milliseconds(1);

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "local_benchmark: %s\n", what.c_str());
  std::exit(1);
}

bool EndsWell(pid_t pid) {
  int status = -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;
}

// Where all daemons have their folders, until the program ends: a file system
// may be slow with new files for minutes after many were removed (ext4 without
// a journal looks at each inode that was freed).
class Root {
 public:
  Root() {
    path_ = (std::filesystem::temp_directory_path() / "muster-bench-XXXXXX")
                .string();
    if (mkdtemp(path_.data()) == nullptr) Fail(path_ + ": cannot be made");
  }
  ~Root() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  std::string MakeFolder() {
    std::string folder = absl::StrCat(path_, "/", ++count_);
    if (mkdir(folder.c_str(), 0700) != 0) Fail(folder + ": cannot be made");
    return folder;
  }

 private:
  std::string path_{};
  uint32_t count_ = 0;
};

}  // namespace

std::string MakeFolder() {
  static Root root;
  return root.MakeFolder();
}

pid_t Spawn(std::vector<std::string> words, const std::string& output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words[0].c_str(), &files, nullptr,
                                arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) Fail(absl::StrCat(words[0], ": errno ", error));
  return pid;
}

int64_t NowNanos() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return int64_t{at.tv_sec} * 1'000'000'000 + at.tv_nsec;
}

bool Run(std::vector<std::string> words) {
  return EndsWell(Spawn(std::move(words), "/dev/null"));
}

double OwnCpuSeconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& part : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(part.tv_sec) +
             1e-6 * static_cast<double>(part.tv_usec);
    }
  }
  return sum;
}

BenchDaemon::BenchDaemon(uint32_t gpus) : folder_(MakeFolder()), gpus_(gpus) {
  fifo_ = folder_ + "/fifo";
  if (mkfifo(fifo_.c_str(), 0600) != 0) Fail(fifo_ + ": cannot be made");
  // For writing, too: so it never ends.
  fifo_fd_ = open(fifo_.c_str(), O_RDWR | O_CLOEXEC);
  Start();
}

BenchDaemon::~BenchDaemon() {
  kill(pid_, SIGTERM);
  EndsWell(pid_);
  close(fifo_fd_);
  unlink(fifo_.c_str());  // For which Block looks.
}

void BenchDaemon::Kill() {
  kill(pid_, SIGKILL);
  EndsWell(pid_);
}

void BenchDaemon::Start() {
  pid_ = Spawn({MUSTERD, "--state", folder_ + "/state", "--socket",
                folder_ + "/socket", "--gpus", absl::StrCat(gpus_)},
               folder_ + "/log");
  connection_.emplace(folder_ + "/socket");
  for (int i = 0; i < 30'000; ++i) {
    const auto answer = connection_->Call("GET", "/v1/healthz");
    if (answer.ok() && answer->status == 200) return;
    std::this_thread::sleep_for(kPause);
  }
  std::ifstream log(folder_ + "/log");
  Fail("musterd does not start: " +
       std::string(std::istreambuf_iterator<char>(log), {}));
}

double BenchDaemon::Muster(std::vector<std::string> words) {
  words.insert(words.begin(), {MUSTER, "--socket", folder_ + "/socket"});
  const int64_t start = NowNanos();
  if (!Run(std::move(words))) Fail("muster has failed");
  return static_cast<double>(NowNanos() - start) / 1e6;
}

BenchDaemon::Json BenchDaemon::Ask(std::string_view method,
                                   const std::string& target,
                                   const std::string& body) {
  Connection connection(folder_ + "/socket");
  const auto answer = connection.Call(method, target, body);
  if (!answer.ok()) Fail(std::string(answer.status().message()));
  if (answer->status / 100 != 2) Fail(target + ": " + answer->body);
  return Json::parse(answer->body, nullptr, /*exceptions=*/false);
}

BenchDaemon::Json BenchDaemon::Get(const std::string& target) {
  return Ask("GET", target, "");
}
BenchDaemon::Json BenchDaemon::Post(const std::string& target,
                                    const Json& body) {
  return Ask("POST", target, body.dump());
}

std::vector<uint64_t> BenchDaemon::Submit(
    const std::vector<std::string>& command, uint32_t gpus,
    std::vector<uint32_t> array) {
  Json container{{"name", "main"}, {"command", command}};
  if (gpus > 0) {
    container["resources"]["limits"]["nvidia.com/gpu"] = absl::StrCat(gpus);
  }
  Json manifest{{"apiVersion", "batch/v1"},
                {"kind", "Job"},
                {"metadata", {{"name", "bench"}}},
                {"spec", {{"backoffLimit", 0}}}};
  manifest["spec"]["template"]["spec"] = {
      {"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  Json body{{"manifest", manifest.dump()},
            {"directory", "/"},
            {"environment", {"PATH=/usr/bin:/bin"}}};
  if (!array.empty()) body["array"] = array;
  std::vector<uint64_t> ids;
  const Json answer = Post("/v1/jobs", body);
  for (const Json& job : answer.at("jobs")) {
    ids.push_back(job["id"].get<uint64_t>());
  }
  return ids;
}

void BenchDaemon::Idle() {
  for (;;) {
    bool idle = true;
    const Json answer = Get("/v1/queues");
    for (const Json& queue : answer.at("queues")) {
      idle &= queue.at("running") == 0 && queue.at("waiting") == 0;
    }
    if (idle) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::vector<std::pair<int64_t, int64_t>> BenchDaemon::Stamps(size_t count) {
  std::vector<std::pair<int64_t, int64_t>> stamps;
  while (stamps.size() < count) {
    int64_t pair[2];
    if (read(fifo_fd_, pair, sizeof pair) != sizeof pair) Fail("no stamps");
    stamps.emplace_back(pair[0], pair[1]);
  }
  return stamps;
}

double BenchDaemon::StatusMegabytes(std::string_view field) const {
  std::ifstream status(absl::StrCat("/proc/", pid_, "/status"));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) {
      return std::atof(line.c_str() + field.size()) / 1024;
    }
  }
  return 0;
}

double BenchDaemon::CpuSeconds() const {
  clockid_t clock = 0;
  timespec used{};
  if (clock_getcpuclockid(pid_, &clock) != 0 ||
      clock_gettime(clock, &used) != 0) {
    return 0;
  }
  return static_cast<double>(used.tv_sec) +
         static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace muster::local
