#include "adapters/local/host/task_environment.h"

#include <grp.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "adapters/local/host/machine.h"
#include "adapters/local/host/task_files.h"
#include "adapters/local/host/user_entry.h"

namespace muster::local {
namespace {

constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES";

// The supplementary groups that the user database gives; none if it does not
// know the user.
std::vector<uint32_t> GroupsOf(uint32_t uid, uint32_t gid) {
  const std::optional<UserEntry> user = FindUser(uid);
  if (!user) return {};
  std::vector<gid_t> groups(256);
  int count = static_cast<int>(groups.size());
  if (getgrouplist(user->name.c_str(), gid, groups.data(), &count) < 0)
    return {};
  return {groups.begin(), groups.begin() + count};
}

std::string FieldOf(const TaskStart& start, std::string_view path) {
  if (path == "metadata.name") return start.name;
  if (path == "metadata.namespace") return "default";
  if (path == "spec.nodeName") return MachineName();
  if (path == "status.podIP" || path == "status.hostIP") return "127.0.0.1";
  return "";
}

// A name with "=" would be another variable to who reads it.
absl::Status CheckName(const std::string& name) {
  const bool bad = name.empty() || name.find('=') != std::string::npos ||
                   name.find('\0') != std::string::npos;
  if (!bad) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("variable '", absl::CHexEscape(name),
                   "': a name is not empty, and has neither '=' nor a NUL"));
}

// Appends the variable unless there is one of this name.
void Add(const std::string& name, const std::string& value,
         std::vector<std::string>* environment) {
  const std::string prefix = name + "=";
  if (std::ranges::any_of(*environment, [&](const std::string& v) {
        return v.starts_with(prefix);
      })) {
    return;
  }
  environment->push_back(prefix + value);
}

absl::Status AddFields(const TaskStart& start,
                       std::vector<std::string>* environment) {
  for (const workload::EnvVar& v : start.launch.from_host) {
    // What a task is told of itself is not the job's to say.
    if (v.from != workload::EnvSource::kField || IsReserved(v.name)) continue;
    if (absl::Status s = CheckName(v.name); !s.ok()) return s;
    Add(v.name, FieldOf(start, v.source), environment);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShimSpec> MakeShimSpec(const TaskStart& start,
                                      const std::string& visible_devices,
                                      Duration grace) {
  ShimSpec spec;
  spec.command = start.launch.argv;
  spec.directory = start.directory;
  spec.output = start.output.empty() ? kOutputFile : start.output;
  spec.error = start.error.empty() ? spec.output : start.error;
  spec.append = !start.output.empty();
  spec.umask = start.umask;
  spec.input = start.input;
  spec.memory_limit = start.memory_bytes;
  spec.cpus = start.cpus;
  spec.grace = grace;
  if (geteuid() == 0) {
    spec.user = ShimUser{start.uid, start.gid, GroupsOf(start.uid, start.gid)};
  }
  for (size_t i = 0; i < start.launch.env.size(); ++i) {
    const auto& [name, value] = start.launch.env[i];
    // Which devices a task sees is decided by what it was given.
    if (name == kVisibleDevices) continue;
    if (i < start.inherited) ++spec.inherited;
    if (absl::Status s = CheckName(name); !s.ok()) return s;
    spec.environment.push_back(absl::StrCat(name, "=", value));
  }
  const absl::Status added = AddFields(start, &spec.environment);
  if (!added.ok()) return added;
  Add(kVisibleDevices, visible_devices, &spec.environment);
  return spec;
}

}  // namespace muster::local
