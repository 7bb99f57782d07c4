#include "adapters/local/shim/task_mounts.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/task_user.h"

namespace muster::local {
namespace {

// Nothing that is mounted here is seen elsewhere; what the machine mounts later
// is seen here, too.
bool BeSlave() {
  return mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0;
}

bool WriteLine(const char* path, const std::string& line) {
  const int error = WriteExisting(path, line);
  if (error != 0) errno = error;
  return error == 0;
}

// What is there, in a mount of its own that is nowhere yet.
OpenFile CopyTree(int fd, bool read_only) {
  OpenFile tree(open_tree(
      fd, "",
      AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (tree.ok() && read_only &&
      mount_setattr(tree.fd(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                    sizeof(attributes)) != 0) {
    tree.Close();
  }
  return tree;
}

bool Move(int tree, int target) {
  return move_mount(tree, "", target, "",
                    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

OpenFile OpenPath(const std::string& path) {
  return OpenFile(open(path.c_str(), O_PATH | O_CLOEXEC));
}

OpenFile OpenTarget(const std::string& path, bool directory) {
  OpenFile target = OpenPath(path);
  if (target.ok() || errno != ENOENT) return target;
  if (directory) return MakePath(path) ? OpenPath(path) : OpenFile();
  const size_t slash = path.rfind('/');
  if (slash > 0 && !MakePath(path.substr(0, slash))) return OpenFile();
  const OpenFile made(
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  return made.ok() ? OpenPath(path) : OpenFile();
}

}  // namespace

bool TaskMounts::EnterAsRoot() {
  return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 && BeSlave();
}

bool TaskMounts::EnterAsUser() {
  const std::string uid = std::to_string(geteuid());
  const std::string gid = std::to_string(getegid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  // Its own files in /proc belong to root where it was root before, unless
  // others of the user may look into it.
  const int dumpable = prctl(PR_GET_DUMPABLE);
  prctl(PR_SET_DUMPABLE, 1);
  const bool mapped = WriteLine("/proc/self/setgroups", "deny") &&
                      WriteLine("/proc/self/uid_map", uid + " " + uid + " 1") &&
                      WriteLine("/proc/self/gid_map", gid + " " + gid + " 1");
  const int error = errno;
  prctl(PR_SET_DUMPABLE, dumpable == 1 ? 1 : 0);
  errno = error;
  return mapped && BeSlave();
}

bool TaskMounts::MountMemory(const ShimVolume& volume) {
  where_ = "volume '" + volume.name + "': " + volume.path;
  const OpenFile fs(fsopen("tmpfs", FSOPEN_CLOEXEC));
  const auto set = [&](const char* key, const std::string& value) {
    return fsconfig(fs.fd(), FSCONFIG_SET_STRING, key, value.c_str(), 0) == 0;
  };
  if (!fs.ok() || !set("mode", "0700") ||
      (volume.size > 0 && !set("size", std::to_string(volume.size))) ||
      (spec_.user && (!set("uid", std::to_string(spec_.user->uid)) ||
                      !set("gid", std::to_string(spec_.user->gid)))) ||
      fsconfig(fs.fd(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return false;
  }
  const OpenFile tree(
      fsmount(fs.fd(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  const OpenFile target(
      open(volume.path.c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
  return tree.ok() && target.ok() && Move(tree.fd(), target.fd());
}

bool TaskMounts::OpenVolumes() {
  for (const ShimVolume& volume : spec_.volumes) {
    if (volume.form >= VolumeForm::kMemory && !MountMemory(volume)) {
      return false;
    }
  }
  const AsUser user(spec_.user);
  const bool opened = volumes_.Open();
  where_ = volumes_.where();
  return opened;
}

OpenFile TaskMounts::Copy(const ShimMount& mount) {
  OpenFile source;
  {
    const AsUser user(spec_.user);
    source = volumes_.OpenMounted(mount);
    where_ = volumes_.where();
  }
  if (!source.ok()) return source;
  return CopyTree(source.fd(), mount.read_only);
}

bool TaskMounts::Attach(const ShimMount& mount, int tree) {
  where_ = "mountPath " + mount.target;
  struct stat status{};
  if (fstat(tree, &status) != 0) return false;
  OpenFile target;
  {
    const AsUser user(spec_.user);
    target = OpenTarget(mount.target, S_ISDIR(status.st_mode));
  }
  return target.ok() && Move(tree, target.fd());
}

bool TaskMounts::MountAll() {
  std::vector<std::pair<const ShimMount*, OpenFile>> trees;
  for (const ShimMount& mount : spec_.mounts) {
    trees.emplace_back(&mount, Copy(mount));
    if (!trees.back().second.ok()) return false;
  }
  // What is mounted within another comes after it.
  std::ranges::stable_sort(
      trees, {}, [](const auto& each) { return each.first->target.size(); });
  return std::ranges::all_of(trees, [&](const auto& each) {
    return Attach(*each.first, each.second.fd());
  });
}

int TryMounts() {
  if (!TaskMounts::EnterAsRoot() && !TaskMounts::EnterAsUser()) return errno;
  const OpenFile root = OpenPath("/");
  const OpenFile tree = CopyTree(root.fd(), /*read_only=*/true);
  return tree.ok() && Move(tree.fd(), root.fd()) ? 0 : errno;
}

}  // namespace muster::local
