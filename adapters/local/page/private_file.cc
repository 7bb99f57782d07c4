#include "adapters/local/page/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/open_file.h"

namespace muster::local {
namespace {

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
  const OpenFile file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.ok()) return absl::ErrnoToStatus(errno, path);
  absl::Status s = CheckOwner(path, file.fd());
  if (!s.ok()) return s;
  std::string text;
  char piece[4096];
  for (;;) {
    const size_t wanted = std::min(sizeof piece, most + 1 - text.size());
    const ssize_t size = read(file.fd(), piece, wanted);
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
  OpenFile file(open(made.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
  if (!file.ok()) return absl::ErrnoToStatus(errno, made);
  int error = WriteAll(file.fd(), text);
  if (error == 0 && fsync(file.fd()) != 0) error = errno;
  file.Close();
  if (error == 0 && rename(made.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(made.c_str());
  return absl::ErrnoToStatus(error, path);
}

}  // namespace muster::local
