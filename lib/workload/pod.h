// Pod templates: what of them a task has a use for.
#ifndef MUSTER_LIB_WORKLOAD_POD_H_
#define MUSTER_LIB_WORKLOAD_POD_H_

#include <string>
#include <string_view>

#include "lib/workload/manifest.h"
#include "muster/workload/task_template.h"

namespace muster::workload {

// What a template says that is not of the task.
struct PodExtras {
  std::string restart_policy{};
  std::string priority_class{};
};

// A pod template {metadata, spec}. The container of that name is run, or the
// first; the others are told as ignored.
void ReadPodTemplate(const Value& pod_template, std::string_view container,
                     TaskTemplate* task, PodExtras* extras);

// The spec of a template {metadata, spec} of jobs, or none.
Value SpecOfTemplate(const Value& job_template);

// The parts of a pod template that also stand elsewhere.
void ReadResources(const Value& resources, TaskTemplate* task);
void ReadEnv(const Value& env, std::vector<EnvVar>* to);

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_POD_H_
