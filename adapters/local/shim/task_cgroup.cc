#include "adapters/local/shim/task_cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "adapters/local/model/cpu_list.h"
#include "adapters/local/shim/attempt_folder.h"
#include "adapters/local/shim/record.h"

namespace muster::local {
namespace {

constexpr mode_t kMode = 0755;

}  // namespace

TaskCgroup TaskCgroup::Existing(std::string path) {
  TaskCgroup cgroup;
  cgroup.path_ = std::move(path);
  return cgroup;
}

std::string TaskCgroup::Prepare(const ShimSpec& spec) {
  if (spec.cgroup.empty()) return "";
  if (mkdir(spec.cgroup.c_str(), kMode) != 0 && errno != EEXIST) {
    return "cgroup: " + spec.cgroup + ": " + std::strerror(errno);
  }
  path_ = spec.cgroup;
  std::string problem;
  if (spec.memory_limit > 0) {
    problem = Write("memory.max", std::to_string(spec.memory_limit));
    // All of the task ends together, not some process that others wait for.
    if (problem.empty()) problem = Write("memory.oom.group", "1");
  }
  if (problem.empty() && !spec.cpu_max.empty()) {
    problem = Write("cpu.max", spec.cpu_max);
  }
  if (problem.empty() && spec.cpu_weight > 0) {
    problem = Write("cpu.weight", std::to_string(spec.cpu_weight));
  }
  if (problem.empty() && spec.cpuset) problem = Hold(spec.cpus);
  return problem;
}

std::string TaskCgroup::Hold(const std::vector<uint32_t>& cpus) {
  return Write("cpuset.cpus", CpuListText(cpus));
}

std::string TaskCgroup::Enter(int32_t pid) {
  if (path_.empty()) return "";
  return Write("cgroup.procs", std::to_string(pid));
}

void TaskCgroup::Kill() {
  if (!path_.empty()) Write("cgroup.kill", "1");
}

bool TaskCgroup::IsPopulated() const {
  std::string text;
  return !path_.empty() &&
         ReadFile(AT_FDCWD, (path_ + "/cgroup.events").c_str(), &text) == 0 &&
         text.find("populated 1") != std::string::npos;
}

int64_t TaskCgroup::OomKills() const {
  std::string text;
  if (path_.empty() ||
      ReadFile(AT_FDCWD, (path_ + "/memory.events").c_str(), &text) != 0) {
    return 0;
  }
  constexpr std::string_view kCount = "\noom_kill ";
  const size_t at = text.find(kCount);
  if (at == std::string::npos) return 0;
  const std::string_view rest =
      std::string_view(text).substr(at + kCount.size());
  int64_t count = 0;
  return ParseNumber(rest.substr(0, rest.find('\n')), &count) ? count : 0;
}

bool TaskCgroup::CountsOomKills() const {
  return !path_.empty() &&
         access((path_ + "/memory.events").c_str(), R_OK) == 0;
}

void TaskCgroup::Remove() {
  if (!path_.empty()) rmdir(path_.c_str());
}

std::string TaskCgroup::Write(const char* file, const std::string& text) {
  const std::string path = path_ + "/" + file;
  const int error = WriteExisting(path.c_str(), text);
  return error == 0 ? "" : "cgroup: " + path + ": " + std::strerror(error);
}

}  // namespace muster::local
