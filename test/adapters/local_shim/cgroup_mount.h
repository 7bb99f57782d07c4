// Where cgroups of version 2 are mounted, for tests.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

namespace muster::local {

// "" if they are not.
inline std::string CgroupMount() {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string device, path, type, rest;
       mounts >> device >> path >> type && std::getline(mounts, rest);) {
    if (type == "cgroup2") return path;
  }
  return "";
}

// And whether this process may make one there.
inline bool CanMakeCgroups() {
  const std::string mount = CgroupMount();
  return !mount.empty() && access(mount.c_str(), W_OK) == 0;
}

}  // namespace muster::local
