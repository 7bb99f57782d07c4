#include "adapters/local/store/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "absl/strings/str_cat.h"

namespace muster::local {
namespace {

std::string FolderOf(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

absl::Status SyncFolder(const std::string& path) {
  int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return FileStatus(path, errno);
  int error = fsync(folder) == 0 ? 0 : errno;
  close(folder);
  // Some file systems have no such call for folders.
  if (error == 0 || error == EINVAL) return absl::OkStatus();
  return FileStatus(path, error);
}

}  // namespace

absl::Status FileStatus(const std::string& path, int error) {
  std::string message = absl::StrCat(path, ": ", std::strerror(error));
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return absl::PermissionDeniedError(message);
    case ENOSPC:
    case EDQUOT:
      return absl::ResourceExhaustedError(message);
    case ENOENT:
      return absl::NotFoundError(message);
    default:
      return absl::FailedPreconditionError(message);
  }
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return absl::OkStatus();
  std::string above = FolderOf(path);
  if (above != path) {
    absl::Status status = MakeFolder(above);
    if (!status.ok()) return status;
  }
  if (mkdir(path.c_str(), 0700) != 0) {
    int error = errno;
    bool there = std::filesystem::is_directory(path, ignored);
    return there ? absl::OkStatus() : FileStatus(path, error);
  }
  return SyncFolder(above);
}

absl::Status MakeFile(const std::string& path) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) {
    return errno == EEXIST ? absl::OkStatus() : FileStatus(path, errno);
  }
  close(file);
  return SyncFolder(FolderOf(path));
}

}  // namespace muster::local
