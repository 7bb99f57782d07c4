#include "adapters/local/shim/cgroup_limits.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "adapters/local/shim/attempt_folder.h"

namespace muster::local {

absl::StatusOr<CgroupLimits> CgroupLimitsIn(const std::string& folder) {
  struct statfs system{};
  if (statfs(folder.c_str(), &system) != 0) {
    return absl::ErrnoToStatus(errno, folder);
  }
  if (system.f_type != CGROUP2_SUPER_MAGIC) {
    return absl::FailedPreconditionError(
        absl::StrCat(folder, ": is no folder of cgroup version 2"));
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    return absl::ErrnoToStatus(errno, folder);
  }
  const std::string file = folder + "/cgroup.subtree_control";
  std::string text;
  if (const int error = ReadFile(AT_FDCWD, file.c_str(), &text); error != 0) {
    return absl::ErrnoToStatus(error, file);
  }
  const std::vector<std::string> controllers =
      absl::StrSplit(absl::StripAsciiWhitespace(text), ' ');
  const auto has = [&](std::string_view name) {
    return std::ranges::find(controllers, name) != controllers.end();
  };
  return CgroupLimits{
      .memory = has("memory"), .cpu = has("cpu"), .cpuset = has("cpuset")};
}

}  // namespace muster::local
