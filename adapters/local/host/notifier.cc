#include "adapters/local/host/notifier.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/exec.h"

namespace muster::local {
namespace {

constexpr size_t kMostWaiting = 1000;
constexpr size_t kMostOfUser = kMostWaiting / 2;
constexpr int kLongestMilliseconds = 30'000;

// Environments end at a zero.
std::string Variable(const char* name, std::string_view value) {
  const std::string text(value.substr(0, value.find('\0')));
  return absl::StrCat("MUSTER_", name, "=", text);
}

// `row`: null, if it is not known.
std::vector<std::string> VariablesOf(const JobNews& news, const JobRow* row) {
  std::vector<std::string> variables = {
      Variable("EVENT", news.what), Variable("JOB_ID", absl::StrCat(news.job))};
  if (row == nullptr) return variables;
  variables.push_back(Variable("JOB_NAME", row->name));
  variables.push_back(Variable("JOB_UID", absl::StrCat(row->uid)));
  variables.push_back(Variable("JOB_QUEUE", row->queue));
  variables.push_back(Variable("JOB_PHASE", row->phase));
  variables.push_back(Variable("JOB_REASON", row->reason));
  if (row->exit_code) {
    variables.push_back(Variable("JOB_CODE", absl::StrCat(*row->exit_code)));
  }
  return variables;
}

// In a session of its own, with usual signals and no files but those of
// errors. 0, or why not.
int Spawn(const std::vector<std::string>& command,
          const std::vector<std::string>& variables, pid_t* pid) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
  }
  std::vector<std::string> environment = variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  const int error =
      posix_spawn(pid, command[0].c_str(), &files, &attributes,
                  ExecList(command).data(), ExecList(environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

void Warn(const std::string& text) {
  std::fprintf(stderr, "musterd: notify: %s\n", text.c_str());
}

}  // namespace

Notifier::Notifier(NotifyRule rule) : rule_(std::move(rule)) {
  if (rule_.command.empty()) return;
  over_fd_ = eventfd(0, EFD_CLOEXEC);
  thread_ = std::thread([this] { Loop(); });
}

Notifier::~Notifier() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = write(over_fd_, &one, sizeof one);
  thread_.join();
  close(over_fd_);
}

void Notifier::Tell(std::span<const JobNews> news,
                    std::span<const JobRow> rows) {
  if (rule_.command.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const JobNews& one : news) {
    if (std::ranges::find(rule_.on, one.what) == rule_.on.end()) continue;
    const auto found = std::ranges::find(rows, one.job, &JobRow::id);
    const JobRow* const row = found == rows.end() ? nullptr : &*found;
    const bool many = row != nullptr && of_user_[row->uid] >= kMostOfUser;
    if (many || waiting_.size() >= kMostWaiting) {
      ++untold_;
      continue;
    }
    Event event{.variables = VariablesOf(one, row)};
    if (row != nullptr) {
      event.uid = row->uid;
      ++of_user_[row->uid];
    }
    waiting_.push_back(std::move(event));
  }
  changed_.notify_one();
}

void Notifier::Loop() {
  for (;;) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return over_ || !waiting_.empty(); });
    if (over_) return;
    const Event event = std::move(waiting_.front());
    waiting_.pop_front();
    if (event.uid && --of_user_[*event.uid] == 0) of_user_.erase(*event.uid);
    const uint64_t untold = std::exchange(untold_, 0);
    lock.unlock();
    if (untold > 0) {
      Warn(absl::StrCat(untold,
                        " events were not told: the command takes long"));
    }
    if (!Run(event.variables)) return;
  }
}

bool Notifier::Run(const Variables& variables) {
  pid_t pid = 0;
  if (const int error = Spawn(rule_.command, variables, &pid); error != 0) {
    Warn(absl::StrCat(rule_.command[0], ": ", std::strerror(error)));
    return true;
  }
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  pollfd fds[] = {{.fd = process, .events = POLLIN, .revents = 0},
                  {.fd = over_fd_, .events = POLLIN, .revents = 0}};
  int ready = 0;
  do {
    ready = poll(fds, 2, kLongestMilliseconds);
  } while (ready < 0 && errno == EINTR);
  if (process >= 0) close(process);
  const bool over = fds[1].revents != 0;
  if (ready == 0) {
    Warn(absl::StrCat(rule_.command[0], ": is killed after ",
                      kLongestMilliseconds / 1000, " seconds"));
    kill(-pid, SIGKILL);
  }
  if (over && fds[0].revents == 0) return false;
  int status = 0;
  waitpid(pid, &status, 0);
  if (ready != 0 && status != 0) {
    Warn(absl::StrCat(
        rule_.command[0],
        WIFEXITED(status) ? ": ended with " : ": was ended by signal ",
        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)));
  }
  return true;
}

}  // namespace muster::local
