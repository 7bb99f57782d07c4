// The cgroup (version 2) of a task. The standard library and POSIX alone. One
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

class TaskCgroup {
 public:
  // One that another process made; "": none.
  static TaskCgroup Existing(std::string path);

  // Makes the folder and writes the limits. "", or what failed: a limit that
  // the kernel does not take is none. Does nothing where the spec has none.
  std::string Prepare(const ShimSpec& spec);
  // Holds what is in it to these CPUs. "", or what failed.
  std::string Hold(const std::vector<uint32_t>& cpus);
  // Moves a process into it. "", or what failed.
  std::string Enter(int32_t pid);
  // SIGKILL to all that is in it, whoever started it.
  void Kill();
  // Whether a process is in it.
  bool IsPopulated() const;
  // How many of its processes the kernel has killed for their memory; 0 where
  // that is not counted.
  int64_t OomKills() const;
  // Whether kills for memory are counted in it.
  bool CountsOomKills() const;
  // Removes the folder, if nothing is in it.
  void Remove();

 private:
  std::string Write(const char* file, const std::string& text);

  std::string path_;  // "": none.
};

}  // namespace muster::local
