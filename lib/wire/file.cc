#include "lib/wire/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "lib/base/status_macros.h"

namespace muster::wire::internal {

absl::Status ErrorOf(const std::string& path, const char* doing) {
  return absl::ErrnoToStatus(errno, path + ": cannot " + doing);
}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

File::~File() {
  if (fd_ >= 0) close(fd_);
}

absl::StatusOr<File> File::Open(const std::string& path, int flags) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, 0644);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return ErrorOf(path, flags & O_CREAT ? "create" : "open");
  return File(path, fd);
}

absl::StatusOr<File> File::OpenToRead(const std::string& path) {
  return Open(path, O_RDONLY);
}

absl::StatusOr<File> File::OpenToAppend(const std::string& path) {
  return Open(path, O_WRONLY | O_APPEND);
}

absl::StatusOr<File> File::Create(const std::string& path) {
  return Open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
}

absl::StatusOr<uint64_t> File::Size() const {
  struct stat status{};
  if (fstat(fd_, &status) != 0) return ErrorOf(path_, "tell the size");
  if (!S_ISREG(status.st_mode)) {
    return absl::InvalidArgumentError(path_ + ": is not a regular file");
  }
  return static_cast<uint64_t>(status.st_size);
}

absl::Status File::ReadAt(uint64_t offset, size_t n, char* to) const {
  while (n > 0) {
    const ssize_t got = pread(fd_, to, n, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrorOf(path_, "read");
    if (got == 0) {
      return absl::DataLossError(path_ + ": byte " + std::to_string(offset) +
                                 ": the file has become shorter");
    }
    to += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<size_t>(got);
  }
  return absl::OkStatus();
}

absl::Status File::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return ErrorOf(path_, "write");
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return absl::OkStatus();
}

absl::Status File::Truncate(uint64_t size) {
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0) {
    return ErrorOf(path_, "truncate");
  }
  return absl::OkStatus();
}

absl::Status File::Sync() {
  if (fsync(fd_) != 0) return ErrorOf(path_, "sync");
  return absl::OkStatus();
}

absl::Status SyncDirectoryOf(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path();
  MUSTER_ASSIGN_OR_RETURN(
      File file, File::OpenToRead(directory.empty() ? "." : directory));
  return file.Sync();
}

}  // namespace muster::wire::internal
