#include "adapters/local/host/task_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/controller/task_folder.h"
#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {
namespace {

OpenFile Open(const std::string& path, int flags, mode_t mode) {
  return OpenFile(open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, mode));
}

// Replaces what is there. `uid` and `gid`: whose it is, where this is root.
absl::Status WriteWhole(const std::string& path, std::string_view bytes,
                        mode_t mode, const TaskStart* owner,
                        bool sync = false) {
  const std::string part = path + ".new";
  unlink(part.c_str());
  {
    const OpenFile file = Open(part, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (!file.ok()) return absl::ErrnoToStatus(errno, part);
    const int error = WriteAll(file.fd(), bytes);
    if (error != 0) return absl::ErrnoToStatus(error, part);
    if (fchmod(file.fd(), mode) != 0 || (sync && fsync(file.fd()) != 0)) {
      return absl::ErrnoToStatus(errno, part);
    }
    if (owner != nullptr && geteuid() == 0 &&
        fchown(file.fd(), owner->uid, owner->gid) != 0) {
      return absl::ErrnoToStatus(errno, part);
    }
  }
  if (rename(part.c_str(), path.c_str()) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, path);
}

std::string PathIn(const std::string& folder, std::string_view name) {
  return folder + "/" + std::string(name);
}

bool IsBelow(const std::filesystem::path& path, const std::string& folder) {
  const std::string normal = path.lexically_normal().string();
  return path.is_absolute() && absl::StartsWith(normal, folder + "/");
}

// The user of the attempt in this folder, if it has a spec and runs as another.
std::optional<FileOwner> OwnerIn(const std::string& folder) {
  std::string bytes;
  ShimSpec spec;
  const OpenFile open = OpenAttemptFolder(folder);
  if (!open.ok() || ReadFile(open.fd(), kSpecFile, &bytes) != 0 ||
      !Decode(bytes, &spec) || !spec.user) {
    return std::nullopt;
  }
  return FileOwner{spec.user->uid, spec.user->gid};
}

}  // namespace

absl::Status MakeReadableFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::ErrnoToStatus(error.value(), folder);
  if (chmod(folder.c_str(), 0755) == 0) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, folder);
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  return WriteWhole(path, bytes, 0644, nullptr, /*sync=*/true);
}

absl::Status WriteTaskFiles(const std::string& job_folder,
                            const std::string& folder, const TaskStart& start) {
  for (const workload::TaskFile& file : start.launch.files) {
    if (!IsBelow(file.path, job_folder)) {
      return absl::PermissionDeniedError(
          absl::StrCat("file '", file.path, "' is not below ", job_folder));
    }
    const std::filesystem::path path(file.path);
    if (absl::Status made = MakeReadableFolder(path.parent_path());
        !made.ok()) {
      return made;
    }
    const absl::Status written = WriteWhole(
        file.path, *file.content, file.executable ? 0755 : 0644, nullptr);
    if (!written.ok()) return written;
  }
  const absl::Status size = WriteSize(folder, start.size);
  if (!size.ok()) return size;
  return WriteWhole(PathIn(folder, kCheckpointFile), "", 0644, &start);
}

absl::Status WriteSize(const std::string& folder, uint32_t size) {
  return WriteWhole(PathIn(folder, kSizeFile), absl::StrCat(size, "\n"), 0644,
                    nullptr);
}

absl::Status WriteCheckpointRequest(const std::string& folder,
                                    uint32_t version) {
  return WriteWhole(PathIn(folder, kCheckpointRequestFile),
                    absl::StrCat(version, "\n"), 0644, nullptr);
}

void AppendToOutput(const std::string& folder, const std::string& line,
                    std::optional<FileOwner> owner) {
  if (!MakeReadableFolder(folder).ok()) return;
  const std::string path = PathIn(folder, kOutputFile);
  OpenFile file = Open(path, O_WRONLY | O_APPEND, 0);
  if (!file.ok() && errno == ENOENT) {
    file = Open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0644);
    if (!file.ok()) return;
    if (const auto of = OwnerIn(folder)) owner = of;
    // Who may not read it would not learn why his task has not started.
    if (owner && geteuid() == 0 &&
        fchown(file.fd(), owner->uid, owner->gid) != 0) {
      return;
    }
  }
  if (file.ok()) WriteAll(file.fd(), "muster: " + line + "\n");
}

}  // namespace muster::local
