#include "adapters/local/host/job_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "adapters/local/shim/open_file.h"

namespace muster::local {
namespace {

// Those of musterd have four levels; a deeper one is somebody's mistake.
constexpr int kMostLevels = 32;
constexpr int64_t kBlock = 512;  // stat(2)'s st_blocks.

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

// Null, with errno: it is none, or cannot be read.
Folder OpenFolder(int parent, const char* name) {
  OpenFile file(
      openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!file.ok()) return nullptr;
  Folder folder(fdopendir(file.fd()));
  if (folder != nullptr) file.Release();
  return folder;
}

// The next name in it but for "." and ".."; null: there is none.
const char* NextName(DIR* folder) {
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return entry->d_name;
  }
  return nullptr;
}

absl::Status Wrong(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot remove ", path));
}

// As RemoveFolder; `path` is for messages.
absl::StatusOr<bool> Remove(int parent, const char* name,
                            const std::string& path, int levels,
                            size_t* budget) {
  if (*budget == 0) return false;
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) {
    --*budget;
    return true;
  }
  if (errno != EISDIR && errno != EPERM) return Wrong(path);
  const Folder folder = OpenFolder(parent, name);
  if (folder == nullptr) return Wrong(path);
  if (levels == 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot remove ", path, ": it lies too deep"));
  }
  while (const char* inner = NextName(folder.get())) {
    const auto gone =
        Remove(dirfd(folder.get()), inner, absl::StrCat(path, "/", inner),
               levels - 1, budget);
    if (!gone.ok() || !*gone) return gone;
  }
  if (*budget == 0) return false;
  if (unlinkat(parent, name, AT_REMOVEDIR) != 0) return Wrong(path);
  --*budget;
  return true;
}

int64_t Bytes(int parent, const char* name, int levels, size_t* budget) {
  if (*budget == 0) return 0;
  --*budget;
  struct stat what{};
  if (fstatat(parent, name, &what, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  int64_t bytes = what.st_blocks * kBlock;
  if (!S_ISDIR(what.st_mode) || levels == 0) return bytes;
  const Folder folder = OpenFolder(parent, name);
  if (folder == nullptr) return bytes;
  while (const char* inner = NextName(folder.get())) {
    bytes += Bytes(dirfd(folder.get()), inner, levels - 1, budget);
  }
  return bytes;
}

}  // namespace

absl::StatusOr<bool> RemoveFolder(const std::string& folder, size_t* budget) {
  return Remove(AT_FDCWD, folder.c_str(), folder, kMostLevels, budget);
}

int64_t BytesOfFolder(const std::string& folder, size_t* budget) {
  return Bytes(AT_FDCWD, folder.c_str(), kMostLevels, budget);
}

}  // namespace muster::local
