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

constexpr mode_t kPrivate = 0600;
constexpr mode_t kPrivateProgram = 0700;
// Others go through a folder of the state, and do not list it.
constexpr mode_t kStateMode = 0711;
// Root's, and its user's group goes through.
constexpr mode_t kJobMode = 0710;
constexpr mode_t kOwnMode = 0700;

mode_t ModeOf(mode_t of_root) { return geteuid() == 0 ? of_root : kOwnMode; }

// Replaces what is there. `owner`: whose it is, where this is root.
absl::Status WriteWhole(const std::string& path, std::string_view bytes,
                        mode_t mode, const FileOwner* owner,
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

absl::Status WriteNumber(const std::string& path, uint32_t number,
                         const std::optional<FileOwner>& owner) {
  return WriteWhole(path, absl::StrCat(number, "\n"), kPrivate,
                    owner ? &*owner : nullptr);
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

// Of any attempt of the job with this folder, which are all one user's.
std::optional<FileOwner> OwnerBelow(const std::string& job_folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (fs::directory_iterator task(job_folder, error), end;
       !error && task != end; task.increment(error)) {
    std::error_code inner;
    for (fs::directory_iterator attempt(task->path(), inner), last;
         !inner && attempt != last; attempt.increment(inner)) {
      if (const auto owner = OwnerIn(attempt->path().string())) return owner;
    }
  }
  return std::nullopt;
}

absl::Status GiveJobFolder(const std::string& job_folder,
                           std::optional<FileOwner> owner) {
  const OpenFile folder = Open(job_folder, O_RDONLY | O_DIRECTORY, 0);
  const bool open = owner.has_value() && geteuid() == 0;
  // The group first: the one before is not to go through.
  if (folder.ok() && (!open || fchown(folder.fd(), 0, owner->gid) == 0) &&
      fchmod(folder.fd(), open ? kJobMode : kOwnMode) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, job_folder);
}

}  // namespace

absl::Status MakeStateFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return absl::ErrnoToStatus(error.value(), folder);
  const OpenFile open_folder(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat is{};
  if (!open_folder.ok() || fstat(open_folder.fd(), &is) != 0) {
    return absl::ErrnoToStatus(errno, folder);
  }
  // Its owner could put links in the place of what is opened there.
  if (is.st_uid != geteuid()) {
    return absl::PermissionDeniedError(absl::StrCat(
        folder, ": is user ", is.st_uid, "'s; expected a folder of user ",
        geteuid(), ", whose daemon this is"));
  }
  if (fchmod(open_folder.fd(), ModeOf(kStateMode)) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, folder);
}

absl::Status MakeTaskFolder(const std::string& job_folder,
                            const std::string& folder,
                            std::optional<FileOwner> owner) {
  // Closed until it is known for whom it is open.
  if (mkdir(job_folder.c_str(), kOwnMode) != 0 && errno != EEXIST &&
      errno != ENOENT) {
    return absl::ErrnoToStatus(errno, job_folder);
  }
  // Each of them, whatever the umask of the daemon is.
  const std::string task = std::filesystem::path(folder).parent_path();
  absl::Status made = MakeStateFolder(task);
  if (made.ok()) made = MakeStateFolder(folder);
  if (!made.ok()) return made;
  return GiveJobFolder(job_folder, owner);
}

absl::Status MakeJobsFolder(const std::string& jobs) {
  struct stat is{};
  if (stat(jobs.c_str(), &is) != 0) return MakeStateFolder(jobs);
  // That of all jobs is closed when those below it are.
  constexpr mode_t kAll = 0777;
  if ((is.st_mode & kAll) == ModeOf(kStateMode)) return absl::OkStatus();
  std::error_code error;
  for (std::filesystem::directory_iterator it(jobs, error), end;
       !error && it != end; it.increment(error)) {
    if (!it->is_directory() || it->is_symlink()) continue;
    const std::string job = it->path().string();
    const absl::Status given = GiveJobFolder(job, OwnerBelow(job));
    if (!given.ok()) return given;
  }
  if (error) return absl::ErrnoToStatus(error.value(), jobs);
  return MakeStateFolder(jobs);
}

absl::Status ReplaceFile(const std::string& path, std::string_view bytes) {
  return WriteWhole(path, bytes, kPrivate, nullptr, /*sync=*/true);
}

absl::Status WriteTaskFiles(const std::string& job_folder,
                            const std::string& folder, const TaskStart& start) {
  const FileOwner owner{start.uid, start.gid};
  for (const workload::TaskFile& file : start.launch.files) {
    if (!IsBelow(file.path, job_folder)) {
      return absl::PermissionDeniedError(
          absl::StrCat("file '", file.path, "' is not below ", job_folder));
    }
    const std::filesystem::path path(file.path);
    if (absl::Status made = MakeStateFolder(path.parent_path()); !made.ok()) {
      return made;
    }
    const absl::Status written =
        WriteWhole(file.path, *file.content,
                   file.executable ? kPrivateProgram : kPrivate, &owner);
    if (!written.ok()) return written;
  }
  const absl::Status size =
      WriteNumber(PathIn(folder, kSizeFile), start.size, owner);
  if (!size.ok()) return size;
  return WriteWhole(PathIn(folder, kCheckpointFile), "", kPrivate, &owner);
}

absl::Status WriteSize(const std::string& folder, uint32_t size) {
  return WriteNumber(PathIn(folder, kSizeFile), size, OwnerIn(folder));
}

absl::Status WriteCheckpointRequest(const std::string& folder,
                                    uint32_t version) {
  return WriteNumber(PathIn(folder, kCheckpointRequestFile), version,
                     OwnerIn(folder));
}

void AppendToOutput(const std::string& folder, const std::string& line,
                    std::optional<FileOwner> owner) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    const std::filesystem::path path(folder);
    const std::string job = path.parent_path().parent_path();
    if (!MakeTaskFolder(job, folder, owner).ok()) return;
  }
  const std::string path = PathIn(folder, kOutputFile);
  OpenFile file = Open(path, O_WRONLY | O_APPEND, 0);
  if (!file.ok() && errno == ENOENT) {
    file = Open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, kPrivate);
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
