#include "adapters/local/shim/mount_probe.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/attempt_folder.h"

namespace muster::local {

absl::Status ProbeMounts(const std::string& shim) {
  std::string program = shim;
  std::string option = kTryMounts;
  char* const arguments[] = {program.data(), option.data(), nullptr};
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, shim.c_str(), nullptr, nullptr, arguments, environ);
  if (error != 0) return absl::ErrnoToStatus(error, shim);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, shim);
  }
  if (!WIFEXITED(status)) {
    return absl::InternalError(absl::StrCat(shim, ": was killed"));
  }
  if (WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(WEXITSTATUS(status),
                             "no mount namespace for tasks");
}

}  // namespace muster::local
