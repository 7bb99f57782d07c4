#include "adapters/local/shim/task_volumes.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/file_source.h"
#include "adapters/local/shim/task_user.h"

namespace muster::local {
namespace {

constexpr mode_t kOwnMode = 0700;
constexpr mode_t kMadeMode = 0777;  // Less the task's umask.
constexpr int kPathFlags = O_PATH | O_CLOEXEC;

struct CloseDirectory {
  void operator()(DIR* directory) const { closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

// "volumes/NAME", relative to the attempt's folder.
std::string InFolder(const ShimVolume& volume) {
  const size_t slash = volume.path.rfind('/');
  return std::string(kVolumesFolder) + volume.path.substr(slash);
}

// Links that lead out of `base` are not followed.
OpenFile OpenInside(int base, const std::string& path) {
  open_how how{};
  how.flags = kPathFlags;
  how.resolve = RESOLVE_BENEATH;
  return OpenFile(static_cast<int>(
      syscall(SYS_openat2, base, path.c_str(), &how, sizeof(how))));
}

// The last directory of `path`, made with those before it.
bool MakeInside(int base, const std::string& path) {
  OpenFile at = OpenInside(base, ".");
  std::string so_far;
  for (size_t begin = 0; at.ok() && begin < path.size();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    begin = end + 1;
    if (name.empty()) continue;
    if (mkdirat(at.fd(), name.c_str(), kMadeMode) != 0 && errno != EEXIST) {
      return false;
    }
    so_far += (so_far.empty() ? "" : "/") + name;
    at = OpenInside(base, so_far);
  }
  return at.ok();
}

bool CopyBytes(int from, int to) {
  std::array<char, 16 << 10> block{};
  for (;;) {
    const ssize_t count = read(from, block.data(), block.size());
    if (count == 0) return true;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    const std::string_view bytes(block.data(), static_cast<size_t>(count));
    if (const int error = WriteAll(to, bytes); error != 0) {
      errno = error;
      return false;
    }
  }
}

bool CopyFile(int from, int to, const std::string& path, uint32_t mode) {
  const size_t slash = path.rfind('/');
  if (slash != std::string::npos && !MakeInside(to, path.substr(0, slash))) {
    return false;
  }
  const OpenFile file(
      openat(to, path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file.ok() && CopyBytes(from, file.fd()) &&
         fchmod(file.fd(), mode) == 0;
}

// All that is in the folder. What cannot be removed stays.
void Empty(int folder) {
  fchmod(folder, kOwnMode);
  const Directory directory(fdopendir(dup(folder)));
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (unlinkat(folder, name.c_str(), 0) == 0) continue;
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    OpenFile inner(openat(folder, name.c_str(), kFlags));
    if (!inner.ok() && errno == EACCES && entry->d_type == DT_DIR &&
        fchmodat(folder, name.c_str(), kOwnMode, 0) == 0) {
      inner = OpenFile(openat(folder, name.c_str(), kFlags));
    }
    if (inner.ok()) Empty(inner.fd());
    unlinkat(folder, name.c_str(), AT_REMOVEDIR);
  }
}

void RemoveAll(const ShimSpec& spec, int folder) {
  const pid_t pid = fork();
  if (pid == 0) {
    std::vector<OpenFile> open;
    for (const ShimVolume& volume : spec.volumes) {
      if (!IsOwn(volume.form)) continue;
      open.emplace_back(
          openat(folder, InFolder(volume).c_str(),
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    }
    if (spec.user && !BecomeUser(*spec.user)) _exit(1);
    for (const OpenFile& each : open) {
      if (each.ok()) Empty(each.fd());
    }
    _exit(0);
  }
  while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  for (const ShimVolume& volume : spec.volumes) {
    if (!IsOwn(volume.form)) continue;
    unlinkat(folder, InFolder(volume).c_str(), AT_REMOVEDIR);
  }
  unlinkat(folder, kVolumesFolder, AT_REMOVEDIR);
}

}  // namespace

bool MakePath(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    // What is there may be on a file system that cannot be written to.
    struct stat status{};
    if (stat(part.c_str(), &status) != 0 &&
        mkdir(part.c_str(), kMadeMode) != 0 && errno != EEXIST) {
      return false;
    }
    if (end == std::string::npos) return true;
  }
}

bool TaskVolumes::MakeOwn(int folder) {
  for (const ShimVolume& volume : spec_.volumes) {
    if (!IsOwn(volume.form)) continue;
    where_ = "volume '" + volume.name + "': " + volume.path;
    const std::string path = InFolder(volume);
    if ((mkdirat(folder, kVolumesFolder, 0755) != 0 && errno != EEXIST) ||
        (mkdirat(folder, path.c_str(), kOwnMode) != 0 && errno != EEXIST)) {
      return false;
    }
    const OpenFile made(openat(
        folder, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // The umask of the task is not that of these.
    if (!made.ok() || fchmodat(folder, kVolumesFolder, 0755, 0) != 0 ||
        fchmod(made.fd(), kOwnMode) != 0) {
      return false;
    }
    if (geteuid() == 0 && spec_.user &&
        fchown(made.fd(), spec_.user->uid, spec_.user->gid) != 0) {
      return false;
    }
  }
  return true;
}

bool TaskVolumes::Open() {
  open_.clear();
  for (const ShimVolume& volume : spec_.volumes) {
    where_ = "volume '" + volume.name + "': " + volume.path;
    if (!OpenOne(volume, &open_.emplace_back())) return false;
  }
  return true;
}

bool TaskVolumes::OpenOne(const ShimVolume& volume, OpenFile* opened) {
  const char* const path = volume.path.c_str();
  if (volume.form == VolumeForm::kDirectory && !MakePath(volume.path)) {
    return false;
  }
  if (volume.form == VolumeForm::kFile) {
    const OpenFile file(
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NONBLOCK, 0666));
    if (!file.ok() && errno != EEXIST) return false;
  }
  *opened = OpenFile(open(path, kPathFlags));
  if (!opened->ok()) return false;
  if (volume.form != VolumeForm::kFiles) return true;
  const OpenFile folder(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return folder.ok() && Fill(volume, folder.fd());
}

bool TaskVolumes::Fill(const ShimVolume& volume, int to) {
  const OpenFile from = OpenSource(volume.sources, &where_);
  const bool missing = !from.ok() && IsMissing();
  where_ = "volume '" + volume.name + "': " + where_;
  if (!from.ok()) return missing && volume.optional;
  std::vector<ShimFile> files = volume.items;
  std::vector<std::string> keys;
  if (files.empty() && !KeysIn(from.fd(), &keys)) return false;
  for (const std::string& key : keys) files.push_back({key, key, volume.mode});
  for (const ShimFile& file : files) {
    const OpenFile key = OpenKey(from.fd(), file.key);
    if (!key.ok() && IsMissing() && volume.optional) continue;
    if (!key.ok() || !CopyFile(key.fd(), to, file.path, file.mode)) {
      const int error = errno;
      where_ += "/" + file.key;
      errno = error;
      return false;
    }
  }
  return true;
}

OpenFile TaskVolumes::OpenMounted(const ShimMount& mount) {
  const ShimVolume& volume = spec_.volumes[mount.volume];
  where_ = "volume '" + volume.name + "': " + volume.path;
  const int base = open_[mount.volume].fd();
  if (mount.sub_path.empty()) return OpenFile(dup(base));
  where_ += "/" + mount.sub_path;
  OpenFile there = OpenInside(base, mount.sub_path);
  const bool made = !there.ok() && errno == ENOENT &&
                    volume.form != VolumeForm::kFiles &&
                    MakeInside(base, mount.sub_path);
  return made ? OpenInside(base, mount.sub_path) : std::move(there);
}

void RemoveOwnVolumes(const ShimSpec& spec, int folder) {
  if (std::ranges::none_of(spec.volumes, IsOwn, &ShimVolume::form)) return;
  const pid_t pid = fork();
  if (pid != 0) return;
  RemoveAll(spec, folder);
  _exit(0);
}

}  // namespace muster::local
