#include "adapters/local/page/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    text.remove_prefix(static_cast<size_t>(size));
  }
  return fsync(fd) == 0;
}

absl::Status CheckOwner(const std::string& path, int fd) {
  struct stat is{};
  if (fstat(fd, &is) != 0) return absl::ErrnoToStatus(errno, path);
  if (S_ISREG(is.st_mode) && is.st_uid == geteuid() &&
      (is.st_mode & (S_IRWXG | S_IRWXO)) == 0) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path,
      ": is not a file that its owner, the daemon's user, alone may "
      "read: remove it, or chmod 600"));
}

}  // namespace

absl::StatusOr<std::string> ReadPrivateFile(const std::string& path,
                                            size_t most) {
  const int fd =
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, path);
  const absl::Cleanup closed = [fd] { close(fd); };
  absl::Status s = CheckOwner(path, fd);
  if (!s.ok()) return s;
  std::string text;
  char piece[4096];
  for (;;) {
    const size_t wanted = std::min(sizeof piece, most + 1 - text.size());
    const ssize_t size = read(fd, piece, wanted);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return absl::ErrnoToStatus(errno, path);
    if (size == 0) return text;
    text.append(piece, static_cast<size_t>(size));
    if (text.size() > most) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": has more than ", most, " bytes: remove it"));
    }
  }
}

// Through another name.
absl::Status WritePrivateFile(const std::string& path, std::string_view text) {
  const std::string made = absl::StrCat(path, ".", getpid());
  unlink(made.c_str());
  const int fd =
      open(made.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
           S_IRUSR | S_IWUSR);
  if (fd < 0) return absl::ErrnoToStatus(errno, made);
  const bool written = WriteAll(fd, text);
  const int why = errno;
  close(fd);
  if (written && rename(made.c_str(), path.c_str()) == 0) {
    return absl::OkStatus();
  }
  const int error = written ? errno : why;
  unlink(made.c_str());
  return absl::ErrnoToStatus(error, path);
}

}  // namespace muster::local
