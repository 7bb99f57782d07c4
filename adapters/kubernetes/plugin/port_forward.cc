#include "adapters/kubernetes/plugin/port_forward.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <vector>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::plugin {
namespace {

using client::Concat;

std::atomic<pid_t> child = 0;

void EndWithChild(int signal_number) {
  const pid_t pid = child;
  if (pid > 0) kill(pid, SIGKILL);
  _exit(128 + signal_number);
}

void SetHandlers() {
  struct sigaction action{};
  action.sa_handler = EndWithChild;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(number, &action, nullptr);
  }
}

// The file from which its standard output is read; -1: errno says why not.
int Spawn(std::vector<std::string> arguments, pid_t* pid) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  const int error = posix_spawnp(pid, pointers[0], &actions, nullptr,
                                 pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) return ends[0];
  close(ends[0]);
  errno = error;
  return -1;
}

}  // namespace

uint16_t ForwardedPort(std::string_view line) {
  constexpr std::string_view kBegin = "Forwarding from 127.0.0.1:";
  if (!line.starts_with(kBegin)) return 0;
  line.remove_prefix(kBegin.size());
  uint16_t port = 0;
  const auto read =
      std::from_chars(line.data(), line.data() + line.size(), port);
  const std::string_view rest(
      read.ptr, static_cast<size_t>(line.data() + line.size() - read.ptr));
  return read.ec == std::errc() && rest.starts_with(" -> ") ? port : 0;
}

absl::StatusOr<std::unique_ptr<PortForward>> PortForward::Start(
    const Kubectl& kubectl, const std::string& namespace_name,
    const std::string& pod, uint16_t port, client::Millis timeout) {
  std::vector<std::string> arguments = {kubectl.program};
  arguments.insert(arguments.end(), kubectl.flags.begin(), kubectl.flags.end());
  for (const std::string& argument :
       {std::string("port-forward"), std::string("--address=127.0.0.1"),
        Concat("--namespace=", namespace_name), Concat("pod/", pod),
        Concat(":", port)}) {
    arguments.push_back(argument);
  }
  pid_t pid = 0;
  const int out = Spawn(std::move(arguments), &pid);
  if (out < 0) {
    return absl::UnavailableError(
        Concat(kubectl.program, ": cannot be started: ", strerror(errno)));
  }
  child = pid;
  SetHandlers();
  std::unique_ptr<PortForward> forward(new PortForward(pid, out));
  const absl::Status status = forward->AwaitPort(client::SteadyNow() + timeout);
  if (!status.ok()) return status;
  return forward;
}

PortForward::~PortForward() {
  kill(pid_, SIGTERM);
  constexpr client::Millis kGrace = 2'000;
  const client::Millis until = client::SteadyNow() + kGrace;
  while (waitpid(pid_, nullptr, WNOHANG) == 0) {
    if (client::SteadyNow() > until) kill(pid_, SIGKILL);
    poll(nullptr, 0, 5);
  }
  child = 0;
  close(out_);
}

absl::Status PortForward::AwaitPort(client::Millis until) {
  std::string text;
  char buffer[512];
  while (text.size() < 4096) {
    const client::Millis left = until - client::SteadyNow();
    pollfd ready = {.fd = out_, .events = POLLIN, .revents = 0};
    const int count = left > 0 ? poll(&ready, 1, static_cast<int>(left)) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::UnavailableError("kubectl port-forward: took too long");
    }
    const ssize_t size = read(out_, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    text.append(buffer, static_cast<size_t>(size));
    size_t begin = 0;
    for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      port_ = ForwardedPort(std::string_view(text).substr(begin, end - begin));
      if (port_ != 0) return absl::OkStatus();
    }
  }
  return absl::UnavailableError("kubectl port-forward: gives no port");
}

}  // namespace muster::kubernetes::plugin
