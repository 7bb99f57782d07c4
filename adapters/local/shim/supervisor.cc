#include "adapters/local/shim/supervisor.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/bind_process.h"
#include "adapters/local/shim/cpu_binding.h"
#include "adapters/local/shim/process_tree.h"
#include "adapters/local/shim/record.h"
#include "adapters/local/shim/shim_start.h"
#include "adapters/local/shim/side_command.h"
#include "adapters/local/shim/task_volumes.h"

namespace muster::local {
namespace {

constexpr Duration kMicrosecond = 1000;
// How long processes may take to vanish that were killed.
constexpr Duration kLongestKill = 10 * kSecond;
constexpr int kSuspendPatienceMs = 1000;
constexpr Duration kStopAgainAfter = 100 * kMillisecond;
constexpr Duration kSweepEvery = 20 * kMillisecond;
// More than any exit file has.
constexpr size_t kExitSize = 8192;
constexpr int kExitTries = 60;  // One a second.

Time Clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}
Time Now() { return Clock(CLOCK_MONOTONIC); }
Time WallTime() { return Clock(CLOCK_REALTIME); }

Duration ToDuration(const timeval& span) {
  return span.tv_sec * kSecond + span.tv_usec * kMicrosecond;
}

std::vector<ProcessStat> Descendants() { return DescendantsOf(getpid()); }

}  // namespace

Supervisor::Supervisor(int folder, ShimSpec spec)
    : folder_(folder), spec_(std::move(spec)), cpus_(spec_.cpus) {
  sigset_t heard;
  sigemptyset(&heard);
  for (const int signal :
       {SIGCHLD, SIGTERM, SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2}) {
    sigaddset(&heard, signal);
  }
  signals_ = OpenFile(signalfd(-1, &heard, SFD_CLOEXEC | SFD_NONBLOCK));
}

int Supervisor::Run() {
  if (!signals_.ok()) return errno;
  // The end of a task must not be lost to a full disk.
  if (const int error = ReserveFile(folder_, kExitFile, kExitSize)) {
    return error;
  }
  if (Start()) {
    Watch();
    EndTree();
    Judge();
  }
  cgroup_.Remove();
  const int code = WriteExit();
  if (WIFSIGNALED(status_.value_or(0))) StartSideCommand(spec_, spec_.cleanup);
  RemoveOwnVolumes(spec_, folder_);
  return code;
}

bool Supervisor::Start() {
  exit_.reason = ShimReason::kNotStarted;
  exit_.code = 126;
  exit_.message = cgroup_.Prepare(spec_);
  if (!exit_.message.empty()) return false;
  if (const int error = spec_.input ? input_.Make(folder_) : 0; error != 0) {
    exit_.message = std::string("input: ") + std::strerror(error);
    return false;
  }
  task_ = TaskProcess::Fork(spec_, folder_, input_.fd());
  input_.HandOver();
  if (task_.pid() == 0) {
    exit_.message = task_.problem();
    return false;
  }
  exit_.message = cgroup_.Enter(task_.pid());
  // Before it runs, so that no later Bind is undone.
  if (exit_.message.empty() && !cpus_.empty()) {
    const int error = BindProcess(task_.pid(), cpus_);
    if (error != 0)
      exit_.message = std::string("cpus: ") + std::strerror(error);
  }
  if (!exit_.message.empty() || !WriteStart()) {
    kill(task_.pid(), SIGKILL);
    waitpid(task_.pid(), nullptr, 0);
    return false;
  }
  began_ = Now();
  if (spec_.time_limit > 0) limit_ = began_ + spec_.time_limit;
  task_.Go();
  return true;
}

bool Supervisor::WriteStart() {
  const auto task = StatOf(task_.pid());
  const auto shim = StatOf(getpid());
  const ShimStart start{.task = task ? task->id : ProcessId{.pid = task_.pid()},
                        .shim = shim ? shim->id : ProcessId{.pid = getpid()},
                        .boot = BootId(),
                        .at = WallTime()};
  const int error = WriteFile(folder_, kStartedFile, Encode(start));
  if (error != 0) {
    exit_.message = std::string("started: ") + std::strerror(error);
    return false;
  }
  exit_.started = start.at;
  return true;
}

void Supervisor::Watch() {
  while (!status_ && kill_at_ > Now()) {
    Await(Due() == kForever ? kForever : std::max<Duration>(Due() - Now(), 0));
    Hear();
    CheckTimes();
    Reap();
  }
}

void Supervisor::Hear() {
  signalfd_siginfo signal{};
  while (read(signals_.fd(), &signal, sizeof(signal)) == sizeof(signal)) {
    Heed(signal.ssi_signo);
  }
}

void Supervisor::Heed(uint32_t signal) {
  switch (signal) {
    case SIGTERM: {
      Duration grace = spec_.grace;
      std::string bytes;
      if (ReadFile(folder_, kGraceFile, &bytes) == 0) {
        ReadRecords(bytes, [&grace](std::string_view, std::string_view value) {
          return ParseNumber(value, &grace);
        });
      }
      Blame(ShimReason::kStopped);
      return Stop(std::clamp<Duration>(grace, 0, kMaxDuration));
    }
    case SIGQUIT:
      Blame(ShimReason::kStopped);
      kill_at_ = Now();
      return;
    case SIGHUP:
      Bind();
      if (faccessat(folder_, kNoInputFile, F_OK, 0) == 0) input_.End();
      return;
    case SIGUSR1:
      return Suspend();
    case SIGUSR2:
      return Resume();
    default:
      return;  // SIGCHLD: Reap sees to it.
  }
}

void Supervisor::Blame(ShimReason reason) {
  if (!stopped_for_ && !status_) stopped_for_ = reason;
}

void Supervisor::Stop(Duration grace) {
  // A later stop may leave less time, not more.
  kill_at_ = std::min(kill_at_, Now() + grace);
  limit_ = kForever;
  TellStop();
  Resume();
}

void Supervisor::TellStop() {
  stop_at_ = kForever;
  if (status_) return;
  if (spec_.stop.empty()) {
    kill(-task_.pid(), SIGTERM);
  } else if (stop_ == 0) {
    stop_ = StartSideCommand(spec_, spec_.stop);
  }
}

void Supervisor::Suspend() {
  if (suspended_ != kForever || kill_at_ != kForever) return;
  suspended_ = Now();
  Freeze(Descendants, kSuspendPatienceMs);
}

void Supervisor::Resume() {
  if (suspended_ == kForever) return;
  if (limit_ != kForever) limit_ += Now() - suspended_;
  suspended_ = kForever;
  Thaw(Descendants);
}

void Supervisor::Bind() {
  std::string bytes;
  std::vector<uint32_t> cpus;
  if (ReadFile(folder_, kCpusFile, &bytes) != 0 || !DecodeCpus(bytes, &cpus)) {
    return;
  }
  // The kernel refuses CPUs that the cgroup does not have.
  if (spec_.cpuset) cgroup_.Hold(cpus);
  Rebind(Descendants, cpus_, cpus);
  cpus_ = std::move(cpus);
}

void Supervisor::CheckTimes() {
  if (stop_at_ <= Now()) TellStop();
  if (suspended_ != kForever || limit_ > Now()) return;
  Blame(ShimReason::kTimeLimit);
  Stop(spec_.grace);
}

Time Supervisor::Due() const {
  const Time end_at = std::min(kill_at_, stop_at_);
  return suspended_ != kForever ? end_at : std::min(end_at, limit_);
}

void Supervisor::Await(Duration longest) const {
  pollfd poll{.fd = signals_.fd(), .events = POLLIN, .revents = 0};
  if (longest == kForever) {
    ppoll(&poll, 1, nullptr, nullptr);
    return;
  }
  const timespec span{.tv_sec = longest / kSecond,
                      .tv_nsec = longest % kSecond};
  ppoll(&poll, 1, &span, nullptr);
}

bool Supervisor::Reap() {
  for (;;) {
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid == task_.pid()) status_ = status;
    if (pid == stop_ && pid > 0) {
      stop_ = 0;
      // It may not be up yet.
      if (status != 0) stop_at_ = Now() + kStopAgainAfter;
    }
    if (pid == 0) return true;
    if (pid < 0 && errno != EINTR) return false;
  }
}

void Supervisor::EndTree() {
  const Time give_up = Now() + kLongestKill;
  cgroup_.Kill();
  while (Reap()) {
    if (Now() > give_up) {
      exit_.left = static_cast<uint32_t>(Descendants().size());
      return;
    }
    Slay(Descendants);
    const Time sweep_at = Now() + kSweepEvery;
    while (Reap() && Now() < sweep_at) {
      Await(std::max<Duration>(sweep_at - Now(), 0));
      Hear();
    }
  }
}

void Supervisor::Judge() {
  exit_.ran = Now() - began_;
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  exit_.user_time = ToDuration(usage.ru_utime);
  exit_.system_time = ToDuration(usage.ru_stime);
  exit_.max_rss = static_cast<int64_t>(usage.ru_maxrss) * 1024;
  const int status = status_.value_or(SIGKILL);
  exit_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  // A main process that could not be killed may still be before its exec.
  exit_.message = status_ ? task_.problem() : "";
  if (!exit_.message.empty()) return;
  const bool killed =
      status == SIGKILL || (spec_.container && exit_.code == 128 + SIGKILL);
  // In a cgroup the kernel counts; else a kill from outside of a task that had
  // more than it was given is taken for one.
  const bool too_large =
      cgroup_.CountsOomKills()
          ? cgroup_.OomKills() > 0
          : spec_.memory_limit > 0 && exit_.max_rss >= spec_.memory_limit;
  if (stopped_for_) {
    exit_.reason = *stopped_for_;
  } else if (killed && too_large) {
    exit_.reason = ShimReason::kOutOfMemory;
  } else {
    exit_.reason = ShimReason::kExited;
  }
}

int Supervisor::WriteExit() {
  exit_.ended = WallTime();
  const std::string bytes = Encode(exit_);
  int error = 0;
  for (int i = 0; i < kExitTries; ++i) {
    error = WriteFile(folder_, kExitFile, bytes);
    if (error == 0 || error == ENOENT) break;  // The folder may be gone.
    sleep(1);
  }
  return error == 0 ? kShimDone : error;
}

}  // namespace muster::local
