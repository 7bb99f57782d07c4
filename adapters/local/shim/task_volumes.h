// TaskVolumes: the folders of a task's volumes, opened, made and filled. POSIX
// and Linux alone. One thread.
#pragma once

#include <string>
#include <vector>

#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// Functions that give false, or no file, say in errno why and in where() of
// what.
class TaskVolumes {
 public:
  // Not owned.
  explicit TaskVolumes(const ShimSpec& spec) : spec_(spec) {}

  // With the shim's rights: the folders that the attempt has for itself, which
  // belong to the task's user. `folder` is the attempt's.
  bool MakeOwn(int folder);
  // With the rights of the task's user, in the mount namespace in which they
  // are used: opens all, makes those that may be missing and copies files.
  bool Open();
  // What is to be mounted; likewise.
  OpenFile OpenMounted(const ShimMount& mount);

  const std::string& where() const { return where_; }

 private:
  bool OpenOne(const ShimVolume& volume, OpenFile* opened);
  bool Fill(const ShimVolume& volume, int to);

  const ShimSpec& spec_;
  std::vector<OpenFile> open_;  // By volume.
  std::string where_;
};

// Makes the directory with those above it, as far as they are not there.
// False: errno says why. O(length).
bool MakePath(const std::string& path);

// Removes what MakeOwn has made and what is in it, the latter with the rights
// of the task's user. Returns at once: another process does it, which outlives
// the caller.
void RemoveOwnVolumes(const ShimSpec& spec, int folder);

}  // namespace muster::local
