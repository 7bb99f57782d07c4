// The program of a plug-in, with a bound on its time and its output.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "adapters/kubernetes/client/exec_credentials.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

constexpr size_t kLongestOutput = size_t{1} << 20;

absl::Status Failed(const ExecPlugin& plugin, std::string_view what) {
  return absl::UnauthenticatedError(
      Concat("credential plug-in ", plugin.command, ": ", what));
}

// KUBERNETES_EXEC_INFO.
std::string ExecInfo(const ExecPlugin& plugin) {
  nlohmann::json info = {{"apiVersion", plugin.api_version},
                         {"kind", "ExecCredential"},
                         {"spec", {{"interactive", false}}}};
  if (!plugin.cluster_json.empty()) {
    info["spec"]["cluster"] = nlohmann::json::parse(plugin.cluster_json);
  }
  return info.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

std::vector<std::string> Environment(const ExecPlugin& plugin) {
  std::vector<std::pair<std::string, std::string>> own = plugin.env;
  own.emplace_back("KUBERNETES_EXEC_INFO", ExecInfo(plugin));
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto replaced = [&](const auto& e) {
      return text.starts_with(e.first) && text.substr(e.first.size(), 1) == "=";
    };
    if (std::ranges::none_of(own, replaced)) all.emplace_back(text);
  }
  for (const auto& [name, value] : own) {
    all.push_back(Concat(name, "=", value));
  }
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The program in a process group of its own, its output in a pipe.
class Child {
 public:
  ~Child() {
    if (pid_ > 0) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    if (out_ >= 0) close(out_);
  }

  absl::Status Start(const ExecPlugin& plugin) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return Failed(plugin, "no pipe");
    out_ = ends[0];
    std::vector<std::string> args = {plugin.command};
    args.insert(args.end(), plugin.args.begin(), plugin.args.end());
    std::vector<std::string> environment = Environment(plugin);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    const int error =
        posix_spawnp(&pid_, plugin.command.c_str(), &actions, &attributes,
                     Pointers(args).data(), Pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    close(ends[1]);
    if (error == 0) return absl::OkStatus();
    pid_ = -1;
    return Failed(plugin, Concat("cannot be started: ", strerror(error),
                                 plugin.install_hint.empty() ? "" : "; ",
                                 plugin.install_hint));
  }

  // All of the output until it is closed.
  absl::StatusOr<std::string> Read(const ExecPlugin& plugin, Millis until) {
    std::string text;
    char buffer[4096];
    for (;;) {
      const Millis left = until - SteadyNow();
      pollfd poll_out = {.fd = out_, .events = POLLIN, .revents = 0};
      const int ready =
          left > 0 ? poll(&poll_out, 1, static_cast<int>(left)) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) return TooSlow(plugin);
      const ssize_t count = read(out_, buffer, sizeof buffer);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return text;
      text.append(buffer, static_cast<size_t>(count));
      if (text.size() > kLongestOutput) {
        return Failed(plugin,
                      Concat("prints more than ", kLongestOutput, " bytes"));
      }
    }
  }

  absl::Status Wait(const ExecPlugin& plugin, Millis until) {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(pid_, &status, WNOHANG)) == 0 &&
           SteadyNow() < until) {
      poll(nullptr, 0, 5);
    }
    if (ended == 0) return TooSlow(plugin);
    pid_ = -1;
    if (ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      return absl::OkStatus();
    }
    return Failed(plugin, ended > 0 && WIFEXITED(status)
                              ? Concat("ended with ", WEXITSTATUS(status))
                              : std::string("was ended by a signal"));
  }

 private:
  static absl::Status TooSlow(const ExecPlugin& plugin) {
    return Failed(plugin, Concat("took longer than ", plugin.timeout, " ms"));
  }

  pid_t pid_ = -1;
  int out_ = -1;
};

}  // namespace

absl::StatusOr<std::string> RunPlugin(const ExecPlugin& plugin) {
  const Millis until = Later(SteadyNow(), plugin.timeout);
  Child child;
  absl::Status status = child.Start(plugin);
  if (!status.ok()) return status;
  auto text = child.Read(plugin, until);
  if (!text.ok()) return text;
  status = child.Wait(plugin, until);
  if (!status.ok()) return status;
  return text;
}

}  // namespace muster::kubernetes::client
