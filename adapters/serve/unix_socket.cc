#include "adapters/serve/unix_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace muster::serve {
namespace {

absl::Status Failed(const std::string& path, const char* what, int error) {
  return absl::UnavailableError(
      absl::StrCat("listen: ", path, ": ", what, ": ", strerror(error)));
}

int NewSocket() {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

// The path fits.
sockaddr_un AddressOf(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  memcpy(address.sun_path, path.data(), path.size());
  return address;
}

const sockaddr* Generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

absl::Status CheckPath(const std::string& path) {
  static_assert(kMaxSocketPath + 1 == sizeof(sockaddr_un::sun_path));
  if (path.empty() || path.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        "listen: the path of a socket is empty, or has a zero");
  }
  if (path.size() > kMaxSocketPath) {
    return absl::InvalidArgumentError(
        absl::StrCat("listen: ", path, ": expected a path of at most ",
                     kMaxSocketPath, " bytes; it has ", path.size()));
  }
  return absl::OkStatus();
}

// Excludes others who do the same, until it is closed.
absl::StatusOr<int> LockFolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "."
                             : slash == 0               ? "/"
                                                        : path.substr(0, slash);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed(path, "its folder", errno);
  while (flock(fd, LOCK_EX) != 0) {
    if (errno == EINTR) continue;
    const int error = errno;
    close(fd);
    return Failed(path, "its folder cannot be locked", error);
  }
  return fd;
}

// Removes what a program left that has ended.
absl::Status RemoveStale(const std::string& path) {
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0) {
    return errno == ENOENT ? absl::OkStatus() : Failed(path, "stat", errno);
  }
  if (!S_ISSOCK(there.st_mode)) {
    return absl::AlreadyExistsError(
        absl::StrCat("listen: ", path, ": is there, and is no socket"));
  }
  const int fd = NewSocket();
  if (fd < 0) return Failed(path, "socket", errno);
  const sockaddr_un address = AddressOf(path);
  const int error =
      connect(fd, Generic(address), sizeof address) == 0 ? 0 : errno;
  close(fd);
  if (error != ECONNREFUSED) {
    return absl::UnavailableError(absl::StrCat(
        "listen: ", path, ": another program ",
        error == 0 || error == EAGAIN ? "answers there" : strerror(error)));
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Failed(path, "a socket that nobody has cannot be removed", errno);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UnixSocket> UnixSocket::Listen(const UnixAddress& address) {
  const std::string& path = address.path;
  if (auto status = CheckPath(path); !status.ok()) return status;
  const auto lock = LockFolderOf(path);
  if (!lock.ok()) return lock.status();
  const auto unlock = absl::MakeCleanup([&] { close(*lock); });
  if (auto status = RemoveStale(path); !status.ok()) return status;

  const int fd = NewSocket();
  if (fd < 0) return Failed(path, "socket", errno);
  UnixSocket made(path, fd);
  const sockaddr_un bound = AddressOf(path);
  // The first mode holds from the beginning, and the umask may narrow it.
  if (fchmod(fd, address.mode) != 0 ||
      bind(fd, Generic(bound), sizeof bound) != 0) {
    return Failed(path, "bind", errno);
  }
  struct stat there = {};
  if (lstat(path.c_str(), &there) != 0) return Failed(path, "stat", errno);
  made.device_ = there.st_dev;
  made.inode_ = there.st_ino;
  if (chmod(path.c_str(), address.mode) != 0) {
    return Failed(path, "chmod", errno);
  }
  if (listen(fd, SOMAXCONN) != 0) return Failed(path, "listen", errno);
  return made;
}

UnixSocket::~UnixSocket() { Close(); }

UnixSocket::UnixSocket(UnixSocket&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      device_(other.device_),
      inode_(other.inode_) {}

UnixSocket& UnixSocket::operator=(UnixSocket&& other) noexcept {
  if (this == &other) return *this;
  Close();
  path_ = std::move(other.path_);
  fd_ = std::exchange(other.fd_, -1);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

void UnixSocket::Close() {
  if (fd_ < 0) return;
  close(std::exchange(fd_, -1));
  struct stat there = {};
  if (inode_ != 0 && lstat(path_.c_str(), &there) == 0 &&
      there.st_dev == device_ && there.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

}  // namespace muster::serve
