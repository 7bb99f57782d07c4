#include "adapters/local/shim/task_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "adapters/local/shim/attempt_folder.h"

namespace muster::local {
namespace {

constexpr mode_t kInputMode = 0600;

}  // namespace

int TaskInput::Make(int folder) {
  if (unlinkat(folder, kInputFile, 0) != 0 && errno != ENOENT) return errno;
  if (mkfifoat(folder, kInputFile, kInputMode) != 0) return errno;
  // Neither waits for the other one: whoever reads is there first.
  constexpr int kFlags = O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW;
  read_ = OpenFile(openat(folder, kInputFile, O_RDONLY | kFlags));
  if (!read_.ok()) return errno;
  write_ = OpenFile(openat(folder, kInputFile, O_WRONLY | kFlags));
  if (!write_.ok()) return errno;
  return fcntl(read_.fd(), F_SETFL, 0) == 0 ? 0 : errno;  // The task waits.
}

int WriteInput(int folder, std::string_view bytes, size_t* taken) {
  *taken = 0;
  const OpenFile input(openat(folder, kInputFile,
                              O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW));
  struct stat is{};
  if (!input.ok() || fstat(input.fd(), &is) != 0) return errno;
  if (!S_ISFIFO(is.st_mode)) return ENOENT;
  while (*taken < bytes.size()) {
    const ssize_t count =
        write(input.fd(), bytes.data() + *taken, bytes.size() - *taken);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN && *taken > 0 ? 0 : errno;
    *taken += static_cast<size_t>(count);
  }
  return 0;
}

}  // namespace muster::local
