#include "lib/wire/locked_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "lib/base/status_macros.h"

namespace muster::wire::internal {
namespace {

// How often a file may be replaced between opening and locking it.
constexpr int kTries = 100;
// Behind a name: the file that is to get it, while it is written.
constexpr char kBeside[] = ".new";

absl::Status Taken(const std::string& path) {
  return absl::UnavailableError(
      path + ": another writer has this file; only one at a time may write it");
}

absl::Status Lock(const File& file) {
  while (flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return Taken(file.path());
    if (errno == EINTR) continue;
    // Not UNAVAILABLE, which ENOLCK would be: that is another writer's lock.
    return absl::FailedPreconditionError(
        ErrorOf(file.path(), "lock").message());
  }
  return absl::OkStatus();
}

// Whether the file that is open is the one that `path` names.
bool Names(const std::string& path, const File& file) {
  struct stat named{};
  struct stat open{};
  return stat(path.c_str(), &named) == 0 && fstat(file.fd(), &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

bool HasOtherNames(const File& file) {
  struct stat open{};
  return fstat(file.fd(), &open) == 0 && open.st_nlink > 1;
}

// Removes what a crash left of a file `fresh` that was being written.
absl::Status RemoveLeftover(const std::string& fresh) {
  absl::StatusOr<File> left = File::OpenToAppend(fresh);
  if (absl::IsNotFound(left.status())) return absl::OkStatus();
  if (!left.ok()) return left.status();
  // It was just being given its name, and is there under that one.
  if (!HasOtherNames(*left)) {
    if (absl::Status s = Lock(*left); !s.ok()) return s;
    if (!Names(fresh, *left)) return absl::OkStatus();
  }
  if (unlink(fresh.c_str()) != 0 && errno != ENOENT) {
    return ErrorOf(fresh, "remove");
  }
  return absl::OkStatus();
}

// A new, empty file under a lock.
absl::StatusOr<File> CreateLocked(const std::string& fresh) {
  for (int i = 0; i < kTries; ++i) {
    absl::StatusOr<File> file = File::Create(fresh);
    if (file.ok()) {
      if (absl::Status s = Lock(*file); !s.ok()) {
        if (!absl::IsUnavailable(s)) unlink(fresh.c_str());
        return s;
      }
      if (Names(fresh, *file)) return file;
      continue;  // Another took it for a leftover, before it was locked.
    }
    if (!absl::IsAlreadyExists(file.status())) return file.status();
    if (absl::Status s = RemoveLeftover(fresh); !s.ok()) return s;
  }
  return Taken(fresh);
}

// Gives the file `fresh` the name `path`, which nothing has: else EEXIST.
bool NameNew(const std::string& fresh, const std::string& path) {
#ifdef RENAME_NOREPLACE
  if (renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(),
                RENAME_NOREPLACE) == 0) {
    return true;
  }
  if (errno != EINVAL && errno != ENOSYS) return false;
#endif
  // The file system does not know that.
  if (link(fresh.c_str(), path.c_str()) == 0) {
    unlink(fresh.c_str());
    return true;
  }
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) return false;
  // Nor this. All that respect the lock on `fresh` are kept out still.
  struct stat named{};
  if (lstat(path.c_str(), &named) == 0) {
    errno = EEXIST;
    return false;
  }
  return rename(fresh.c_str(), path.c_str()) == 0;
}

// Who may read and write one file, may the other.
absl::Status CopyRights(const File& from, const File& to) {
  struct stat wanted{};
  struct stat given{};
  if (fstat(from.fd(), &wanted) == 0 && fstat(to.fd(), &given) == 0 &&
      (wanted.st_mode == given.st_mode ||
       fchmod(to.fd(), wanted.st_mode & 07777) == 0)) {
    return absl::OkStatus();
  }
  return ErrorOf(to.path(), "take over the old file's rights");
}

// A file of these bytes under a lock, on the disk; with the rights of `old`, if
// there is one.
absl::StatusOr<File> WriteLocked(const std::string& fresh,
                                 std::string_view bytes, const File* old) {
  absl::StatusOr<File> file = CreateLocked(fresh);
  if (!file.ok()) return file;
  absl::Status status;
  if (old != nullptr) status = CopyRights(*old, *file);
  if (status.ok()) status = file->Append(bytes);
  if (status.ok()) status = file->Sync();
  if (status.ok()) return file;
  unlink(fresh.c_str());
  return status;
}

}  // namespace

LockedFile::LockedFile(File file) : file_(std::move(file)) {
  std::error_code error;
  place_ = std::filesystem::canonical(path(), error);
  if (error) place_ = path();
}

absl::StatusOr<LockedFile> LockedFile::Open(const std::string& path) {
  for (int i = 0; i < kTries; ++i) {
    absl::StatusOr<File> file = File::OpenToAppend(path);
    if (!file.ok()) return file.status();
    if (absl::Status s = file->Size().status(); !s.ok()) return s;
    if (absl::Status s = Lock(*file); !s.ok()) return s;
    if (Names(path, *file)) return LockedFile(*std::move(file));
  }
  return Taken(path);
}

absl::StatusOr<LockedFile> LockedFile::Create(const std::string& path,
                                              std::string_view bytes) {
  const auto exists = [&] {
    return absl::AlreadyExistsError(
        path + ": exists already; a new file is not written over an old one");
  };
  struct stat named{};
  if (lstat(path.c_str(), &named) == 0) return exists();

  const std::string fresh = path + kBeside;
  MUSTER_ASSIGN_OR_RETURN(File file, WriteLocked(fresh, bytes, nullptr));
  if (!NameNew(fresh, path)) {
    absl::Status status = errno == EEXIST ? exists() : ErrorOf(path, "create");
    unlink(fresh.c_str());
    return status;
  }
  file.Renamed(path);
  LockedFile created(std::move(file));
  if (absl::Status s = created.SyncName(); !s.ok()) return s;
  return created;
}

absl::Status LockedFile::Replace(std::string_view bytes,
                                 const std::string& keep) {
  if (!Names(place_, file_)) {
    return NotNow(path(),
                  ": is another file than the one that this writer has; only "
                  "the writer itself may move, remove or replace that");
  }
  const std::string fresh = place_ + kBeside;
  MUSTER_ASSIGN_OR_RETURN(File file, WriteLocked(fresh, bytes, &file_));
  absl::Status status;
  if (!keep.empty()) status = KeepAs(keep);
  if (status.ok() && rename(fresh.c_str(), place_.c_str()) != 0) {
    status = ErrorOf(path(), "replace");
  }
  if (!status.ok()) {
    unlink(fresh.c_str());
    return status;
  }
  file.Renamed(path());
  file_ = std::move(file);  // And with the old one goes its lock.
  return absl::OkStatus();
}

absl::Status LockedFile::KeepAs(const std::string& keep) const {
  // A crash may have come between this and what follows, the last time.
  const bool named = Names(keep, file_) && HasOtherNames(file_);
  if (!named && link(place_.c_str(), keep.c_str()) != 0) {
    const std::string doing = "give this name to " + path();
    return ErrorOf(keep, doing.c_str());
  }
  return SyncDirectoryOf(keep);
}

}  // namespace muster::wire::internal
