// Volumes of pod templates, and where containers mount them.
#ifndef MUSTER_LIB_WORKLOAD_POD_VOLUMES_H_
#define MUSTER_LIB_WORKLOAD_POD_VOLUMES_H_

#include <string>

#include "lib/workload/manifest.h"
#include "muster/workload/task_template.h"

namespace muster::workload {

// The list `volumes` of a pod, and `volumeMounts` of a container, which name
// volumes that were read before.
void ReadVolumes(const Value& volumes, TaskTemplate* task);
void ReadMounts(const Value& mounts, TaskTemplate* task);

// A name that hosts may give to a file: it has no '/', and is not "." or "..".
void ReadFileName(const Value& v, std::string* to);

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_POD_VOLUMES_H_
