#include "adapters/local/slurm/step.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/model/cpu_list.h"
#include "adapters/local/shim/bind_process.h"
#include "adapters/local/shim/exec.h"
#include "adapters/local/slurm/signal_set.h"

namespace muster::local::slurm {
namespace {

constexpr int kNotFound = 127;
constexpr int kSignals = 128;

void Set(const std::string& name, const std::string& value,
         std::vector<std::string>* environment) {
  const std::string prefix = name + "=";
  std::erase_if(*environment, [&](const std::string& variable) {
    return variable.starts_with(prefix);
  });
  environment->push_back(prefix + value);
}

// How a process is started: signals as usual, the input for the first alone.
class SpawnForm {
 public:
  SpawnForm(const Step& step, const sigset_t& mask, bool first) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &mask);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK);
    if (!first) {
      posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    }
    if (!step.directory.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, step.directory.c_str());
    }
  }
  ~SpawnForm() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnForm(const SpawnForm&) = delete;
  SpawnForm& operator=(const SpawnForm&) = delete;

  // 0, or the error's number.
  int Spawn(const Step& step, uint32_t task, pid_t* pid) const {
    const std::vector<char*> argv = ExecList(step.command);
    const std::vector<std::string> variables = TaskEnvironment(step, task);
    const std::vector<char*> environment = ExecList(variables);
    return posix_spawnp(pid, argv[0], &actions_, &attributes_, argv.data(),
                        environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// What is started meanwhile has the CPUs of the task; where this process may
// not have them, its own.
class TaskBinding {
 public:
  TaskBinding(const Step& step, uint32_t task)
      : bound_(task < step.cpus.size() &&
               sched_getaffinity(0, sizeof before_, &before_) == 0 &&
               BindProcess(0, step.cpus[task]) == 0) {}
  ~TaskBinding() {
    if (bound_) sched_setaffinity(0, sizeof before_, &before_);
  }
  TaskBinding(const TaskBinding&) = delete;
  TaskBinding& operator=(const TaskBinding&) = delete;

 private:
  cpu_set_t before_{};
  const bool bound_;
};

// The processes of a step.
class Processes {
 public:
  Processes(const Command& command, const Streams& to, const Step& step)
      : command_(command), to_(to), step_(step) {}

  void Start(const sigset_t& mask) {
    for (uint32_t i = 0; i < step_.tasks; ++i) {
      pid_t pid = 0;
      const TaskBinding binding(step_, i);
      const int error = SpawnForm(step_, mask, i == 0).Spawn(step_, i, &pid);
      pids_.push_back(error == 0 ? pid : 0);
      if (error == 0) continue;
      command_.Fail(to_,
                    absl::StrCat(step_.command[0], ": ", std::strerror(error)));
      code_ = std::max(code_, kNotFound);
      Signal(SIGTERM);
      return;
    }
  }
  void Signal(int signal) {
    for (const pid_t pid : pids_) {
      if (pid > 0) kill(pid, signal);
    }
  }
  // Whether one of them runs.
  bool Reap() {
    bool runs = false;
    for (uint32_t i = 0; i < pids_.size(); ++i) {
      if (pids_[i] == 0) continue;
      int status = 0;
      if (waitpid(pids_[i], &status, WNOHANG) != pids_[i]) {
        runs = true;
        continue;
      }
      pids_[i] = 0;
      End(i, status);
    }
    return runs;
  }
  int code() const { return code_; }

 private:
  void End(uint32_t task, int status) {
    const bool killed = WIFSIGNALED(status);
    const int code = killed ? kSignals + WTERMSIG(status) : WEXITSTATUS(status);
    code_ = std::max(code_, code);
    if (code == 0) return;
    command_.Fail(
        to_,
        killed ? absl::StrCat("task ", task, ": ended by signal ",
                              WTERMSIG(status))
               : absl::StrCat("task ", task, ": Exited with exit code ", code));
    if (step_.kill_on_failure) Signal(SIGTERM);
  }

  const Command& command_;
  const Streams& to_;
  const Step& step_;
  std::vector<pid_t> pids_{};  // 0: none, or it has ended.
  int code_ = 0;
};

}  // namespace

std::vector<std::string> TaskEnvironment(const Step& step, uint32_t task) {
  std::vector<std::string> environment = step.environment;
  const std::string number = absl::StrCat(task);
  const std::string tasks = absl::StrCat(step.tasks);
  const std::pair<const char*, const std::string&> values[] = {
      {"SLURM_PROCID", number},        {"SLURM_LOCALID", number},
      {"SLURM_NTASKS", tasks},         {"SLURM_NPROCS", tasks},
      {"SLURM_STEP_NUM_TASKS", tasks}, {"SLURM_TASKS_PER_NODE", tasks}};
  for (const auto& [name, value] : values) Set(name, value, &environment);
  Set("SLURM_NODEID", "0", &environment);
  Set("SLURM_NNODES", "1", &environment);
  Set("SLURM_JOB_NUM_NODES", "1", &environment);
  if (task < step.devices.size()) {
    Set("CUDA_VISIBLE_DEVICES", step.devices[task], &environment);
    Set("CUDA_DEVICE_ORDER", "PCI_BUS_ID", &environment);
  }
  if (task < step.cpus.size()) {
    Set("MUSTER_CPUS", CpuListText(step.cpus[task]), &environment);
  }
  return environment;
}

int RunStep(const Command& command, const Streams& to, const Step& step) {
  const sigset_t waited = SignalsOf({SIGINT, SIGTERM, SIGHUP, SIGCHLD});
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &waited, &before);
  Processes processes(command, to, step);
  processes.Start(before);
  while (processes.Reap()) {
    const timespec look_every{.tv_sec = 1, .tv_nsec = 0};
    const int signal = sigtimedwait(&waited, nullptr, &look_every);
    if (signal > 0 && signal != SIGCHLD) processes.Signal(signal);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return processes.code();
}

}  // namespace muster::local::slurm
