// musterd: one machine, one queue. See docs/local.md.
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "adapters/local/host/host.h"
#include "adapters/local/model/socket_path.h"
#include "adapters/local/page/web_gate.h"
#include "muster/version.h"

namespace {

namespace fs = std::filesystem;

int Fail(const absl::Status& status) {
  std::cerr << "musterd: " << status.message() << "\n";
  return 1;
}

// Of root, the system's folders; of others, their own.
std::string DefaultState() {
  if (geteuid() == 0) return "/var/lib/muster";
  const std::string base = muster::local::EnvironmentText("XDG_STATE_HOME");
  return (base.empty()
              ? muster::local::EnvironmentText("HOME") + "/.local/state"
              : base) +
         "/muster";
}

// The one beside this program.
std::string Beside(const char* name) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / name).string();
}

// Where it is installed.
std::string DefaultExec() {
  const std::string exec = Beside("muster-exec");
  std::error_code error;
  return fs::exists(exec, error) ? exec : "";
}

// For its clients: the soft limit is often 1,024. Tasks get one of their own
// (ShimSpec::open_files).
void RaiseOpenFiles() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

// All threads that begin later have these signals blocked, too; one of their
// own waits for them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
  }
  void StopAtFirst(muster::local::Host* host) {
    waiter_ = std::jthread([this, host] {
      int signal = 0;
      sigwait(&set_, &signal);
      host->Stop();
    });
  }
  ~Signals() {
    if (waiter_.joinable()) pthread_kill(waiter_.native_handle(), SIGTERM);
  }

 private:
  sigset_t set_{};
  std::jthread waiter_;
};

}  // namespace

int main(int argc, char** argv) {
#ifdef __GLIBC__
  // Else glibc keeps what one large answer has needed for the next.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
#endif
  CLI::App app("Runs the jobs of one machine: gangs, queues, priorities.");
  app.set_version_flag("--version", MUSTER_VERSION);
  std::string config_file;
  muster::local::HostOptions options{.state = DefaultState(),
                                     .socket = muster::local::DefaultSocket(),
                                     .shim = Beside("muster-shim"),
                                     .exec = DefaultExec()};
  std::optional<uint32_t> gpus;
  app.add_option("--config", config_file, "Its configuration: man musterd.conf")
      ->check(CLI::ExistingFile);
  app.add_option("--state", options.state, "The folder of what it keeps")
      ->capture_default_str();
  app.add_option("--socket", options.socket, "Where it is asked")
      ->capture_default_str();
  app.add_option("--shim", options.shim, "The program that runs a task")
      ->capture_default_str();
  app.add_option("--gpus", gpus,
                 "So many invented GPUs, whatever the machine has")
      ->check(CLI::Range(0, 1024));
  std::string listen;
  app.add_option("--listen", listen,
                 "Where its page is served: 127.0.0.1:8750; muster web tells "
                 "the way in");
  CLI11_PARSE(app, argc, argv);

  if (!config_file.empty()) {
    auto config = muster::local::LoadConfig(config_file);
    if (!config.ok()) return Fail(config.status());
    options.config = *std::move(config);
  }
  if (gpus.has_value()) {
    options.config.devices = std::vector<muster::Device>(*gpus);
  }
  if (!listen.empty()) {
    const auto address = muster::local::ParseLoopback(listen);
    if (!address.ok()) return Fail(address.status());
    options.config.listen = *address;
  }
  options.state = fs::absolute(options.state).lexically_normal().string();
  options.socket = fs::absolute(options.socket).lexically_normal().string();
  RaiseOpenFiles();
  Signals signals;
  auto host = muster::local::Host::Open(std::move(options));
  if (!host.ok()) return Fail(host.status());
  signals.StopAtFirst(host->get());
  std::cerr << "musterd: ready\n";
  const absl::Status ended = (*host)->Run();
  return ended.ok() ? 0 : Fail(ended);
}
