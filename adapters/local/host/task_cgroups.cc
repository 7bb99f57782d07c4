#include "adapters/local/host/task_cgroups.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "adapters/local/shim/attempt_folder.h"

namespace muster::local {
namespace {

constexpr absl::string_view kDaemon = "/daemon";
constexpr mode_t kMode = 0755;

absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), kMode) == 0 || errno == EEXIST) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, path);
}

absl::StatusOr<std::vector<std::string>> LinesOf(const char* path) {
  std::string text;
  const int error = ReadFile(AT_FDCWD, path, &text);
  if (error != 0) return absl::ErrnoToStatus(error, path);
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

// Where version 2 is mounted.
absl::StatusOr<std::string> MountPoint() {
  constexpr char kMounts[] = "/proc/self/mounts";
  const auto lines = LinesOf(kMounts);
  if (!lines.ok()) return lines.status();
  for (const std::string& line : *lines) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() > 2 && words[2] == "cgroup2") return words[1];
  }
  return absl::FailedPreconditionError(
      absl::StrCat(kMounts, ": cgroups of version 2 are not mounted"));
}

// Of the cgroup in which this process is.
absl::StatusOr<std::string> OwnFolder() {
  const auto mount = MountPoint();
  if (!mount.ok()) return mount.status();
  const auto lines = LinesOf("/proc/self/cgroup");
  if (!lines.ok()) return lines.status();
  for (absl::string_view line : *lines) {
    if (!absl::ConsumePrefix(&line, "0::")) continue;
    if (line == "/") {
      return absl::FailedPreconditionError(
          "musterd runs in the cgroup of the whole machine; name a folder, "
          "such "
          "as /sys/fs/cgroup/muster");
    }
    return absl::StrCat(*mount, line);
  }
  return absl::FailedPreconditionError(
      "musterd runs in no cgroup of version 2");
}

// This process is in the folder "daemon" of what is returned.
absl::StatusOr<std::string> LeaveOwn() {
  absl::StatusOr<std::string> own = OwnFolder();
  if (!own.ok() || absl::EndsWith(*own, kDaemon)) {
    if (own.ok()) own->resize(own->size() - kDaemon.size());
    return own;
  }
  const std::string daemon = absl::StrCat(*own, kDaemon);
  if (absl::Status s = MakeFolder(daemon); !s.ok()) return s;
  const std::string processes = daemon + "/cgroup.procs";
  const int error = WriteExisting(processes.c_str(), absl::StrCat(getpid()));
  if (error != 0) return absl::ErrnoToStatus(error, processes);
  return own;
}

// For the cgroups in the folder. Those that are not there, or not for this
// process to give, are left out: Open's limits tell.
void SwitchOn(const std::string& folder) {
  const std::string control = folder + "/cgroup.subtree_control";
  for (const char* controller : {"+cpu", "+cpuset", "+memory"}) {
    WriteExisting(control.c_str(), controller);
  }
}

absl::string_view ParentOf(absl::string_view folder) {
  return folder.substr(0, std::max<size_t>(folder.rfind('/'), 1));
}

}  // namespace

absl::StatusOr<TaskCgroups> TaskCgroups::Open(const std::string& asked) {
  if (asked.empty()) return TaskCgroups();
  std::string folder = asked;
  if (asked == kOwnCgroup) {
    absl::StatusOr<std::string> own = LeaveOwn();
    if (!own.ok()) return own.status();
    folder = *std::move(own);
  } else {
    // Before something is made in it.
    const std::string parent(ParentOf(folder));
    if (const auto is = CgroupLimitsIn(parent); !is.ok()) return is.status();
    if (absl::Status s = MakeFolder(folder); !s.ok()) return s;
    SwitchOn(parent);
  }
  SwitchOn(folder);
  const absl::StatusOr<CgroupLimits> limits = CgroupLimitsIn(folder);
  if (!limits.ok()) return limits.status();
  return TaskCgroups(std::move(folder), *limits);
}

void TaskCgroups::Hold(const TaskKey& task, int64_t cpu_milli,
                       ShimSpec* spec) const {
  if (folder_.empty()) return;
  spec->cgroup = absl::StrCat(folder_, "/", task.job, ".", task.role, "-",
                              task.index, ".", task.attempt);
  if (!limits_.memory) spec->memory_limit = 0;
  spec->cpuset = limits_.cpuset && !spec->cpus.empty();
  if (limits_.cpu && cpu_milli > 0) {
    // A core is 100, the kernel's default.
    constexpr int64_t kMilliOfOne = 10;
    spec->cpu_weight = static_cast<uint32_t>(
        std::clamp<int64_t>(cpu_milli / kMilliOfOne, 1, ShimSpec::kMaxWeight));
  }
}

}  // namespace muster::local
