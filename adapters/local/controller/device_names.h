// What the scheduler knows the node's devices as: jobs may choose them by
// number, so each is a model of its own there. People are told the real ones.
// Pure functions: any thread.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "adapters/local/controller/job_record.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/workload/job.h"
#include "muster/workload/to_gang.h"

namespace muster::local {

// Each shape that a task of the role may have. O(alternatives).
template <class F>
void ForEachShape(Role* role, const F& each) {
  each(role->shape);
  for (TaskShape& shape : role->alternatives) each(shape);
}

// The node as the scheduler is told of it. O(node).
Node WithDeviceNames(Node node);
// What the tasks of the job choose, in its gang, which `form` has. O(roles x
// devices chosen).
void ChooseDevices(const workload::Job& job, workload::GangForm* form);
// INVALID_ARGUMENT: the node does not have what is chosen, or a task asks for
// more devices than it chooses, or for none. The job's life is there.
absl::Status CheckChosenDevices(const Node& node, const JobRecord& job);
// Why a job waits for those that it chooses; "": it chooses none.
std::string ChosenDevicesText(const workload::Job& job);

}  // namespace muster::local
