// TaskMounts: a mount namespace in which a task finds its volumes. Linux 5.12
// or later. One thread.
#pragma once

#include <string>
#include <vector>

#include "adapters/local/shim/open_file.h"
#include "adapters/local/shim/shim_spec.h"
#include "adapters/local/shim/task_volumes.h"

namespace muster::local {

// Functions that give false say in errno why and in where() of what.
class TaskMounts {
 public:
  // Neither is owned.
  TaskMounts(const ShimSpec& spec, TaskVolumes* volumes)
      : spec_(spec), volumes_(*volumes) {}

  // A namespace for this process, by the rights of root, or by those that any
  // user has in a user namespace of his own, where the kernel gives him one.
  static bool EnterAsRoot();
  static bool EnterAsUser();

  // In the namespace: what lies in memory; then opens the volumes.
  bool OpenVolumes();
  // Mounts them. All that is mounted is as the machine has it: no mount hides
  // another's source. Targets that are not there are made. Sources and targets
  // are opened with the rights of the task's user.
  bool MountAll();

  const std::string& where() const { return where_; }

 private:
  bool MountMemory(const ShimVolume& volume);
  OpenFile Copy(const ShimMount& mount);
  bool Attach(const ShimMount& mount, int tree);

  const ShimSpec& spec_;
  TaskVolumes& volumes_;
  std::string where_;
};

// Whether tasks of this process can have mounts. It is in another mount
// namespace then. 0 or an errno.
int TryMounts();

}  // namespace muster::local
