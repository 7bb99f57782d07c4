// ShimSpec: what muster-shim is to run, and how. The standard library alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/local/model/umask.h"
#include "adapters/local/shim/shim_image.h"
#include "adapters/local/shim/shim_variable.h"
#include "adapters/local/shim/shim_volume.h"
#include "muster/ids.h"

namespace muster::local {

// Whom a task runs as.
struct ShimUser {
  uint32_t uid = 0;
  uint32_t gid = 0;
  std::vector<uint32_t> groups{};  // The supplementary ones.

  friend bool operator==(const ShimUser&, const ShimUser&) = default;
};

struct ShimSpec {
  // The program and its arguments. A program without a slash is looked for in
  // the PATH of `environment`.
  std::vector<std::string> command{};
  std::vector<std::string> environment{};  // "NAME=VALUE"; nothing is added.
  // The first so many of these are those of whoever submitted the job.
  uint32_t inherited = 0;
  std::vector<ShimVariable> variables{};  // task_variables.h
  std::string directory = "/";            // Absolute; where the task starts.
  // Where the standard output goes: an absolute path, which is opened as the
  // task's user; the name of a file in the attempt's folder, which then belongs
  // to that user, who alone may read it; "": /dev/null.
  std::string output{};
  std::string error{};  // Likewise the standard error; "": as `output`.
  bool append = false;  // Else these files are emptied first.
  bool input = false;   // Its standard input is a TaskInput, else /dev/null.
  // Nobody: whom the shim runs as. Only root can run tasks as others.
  std::optional<ShimUser> user{};
  // The CPUs that it runs on, by the kernel's numbers; none: any. Processes of
  // a task can bind themselves to others, unless its cgroup holds them:
  std::vector<uint32_t> cpus{};
  bool cpuset = false;
  uint32_t umask = kDefaultUmask;
  // Files that it may have open (the soft limit, at most as many as the hard
  // one). All other limits of resources are the daemon's.
  uint64_t open_files = 1024;
  // Longer than this, without the time for which it was suspended, it is
  // stopped; 0: it may.
  Duration time_limit = 0;
  // From SIGTERM to SIGKILL, unless whoever stops it says otherwise.
  Duration grace = 10 * kSecond;
  // Bytes; 0: no limit. The kernel enforces it in a cgroup only; without one
  // it tells what a SIGKILL was for.
  int64_t memory_limit = 0;
  // A folder of cgroup v2 that is made for the task, and removed behind it; "":
  // none. Its parent has the controllers of the limits.
  std::string cgroup{};
  std::string cpu_max{};  // As the file cpu.max has it; "": no limit.
  // Of the cores, where others want them too, as the file cpu.weight has it; 0:
  // the kernel's default, 100.
  uint32_t cpu_weight = 0;
  static constexpr uint32_t kMaxWeight = 10'000;
  // Opened, and made, with the rights of the user.
  std::vector<ShimVolume> volumes{};
  // The task has a mount namespace of its own if there are any; another user's
  // than root's then cannot get the rights of others by programs as sudo.
  std::vector<ShimMount> mounts{};
  // With a root, `command` and `directory` are of its file system; output and
  // error are the machine's all the same.
  ShimImage image{};
  // The main process runs the task in a container, and gives the code that a
  // shell would: 128 and the number of the signal that ended it.
  bool container = false;
  // What is run as the user (side_command.h) to stop such a task, in place of
  // SIGTERM to its process group, again until it succeeds; and what is, when a
  // signal ended the main process.
  std::vector<std::string> stop{};
  std::vector<std::string> cleanup{};

  friend bool operator==(const ShimSpec&, const ShimSpec&) = default;
};

// What is wrong with it, beginning with the field's name; "": nothing. Any
// thread; O(bytes).
std::string ProblemOf(const ShimSpec& spec);

// To bytes and back. False: these are no such bytes, or not all. Any thread;
// O(bytes).
std::string Encode(const ShimSpec& spec);
bool Decode(std::string_view bytes, ShimSpec* spec);

// Likewise of the file "cpus", which has other cpus than the spec by now.
std::string ProblemOfCpus(const std::vector<uint32_t>& cpus);
std::string EncodeCpus(const std::vector<uint32_t>& cpus);
bool DecodeCpus(std::string_view bytes, std::vector<uint32_t>* cpus);

}  // namespace muster::local
