#include "adapters/local/client/run_program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "absl/strings/str_cat.h"

namespace muster::local {

absl::StatusOr<std::string> OutputOf(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY,
                                   0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0].c_str(), &files, nullptr,
                                 arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  if (error != 0) return absl::ErrnoToStatus(error, words[0]);
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(ended) && WEXITSTATUS(ended) == 0) return text;
  return absl::FailedPreconditionError(absl::StrCat(words[0], ": failed"));
}

}  // namespace muster::local
