// Start orders as people write them, and whether they can be kept.
#ifndef MUSTER_LIB_WORKLOAD_START_ORDER_H_
#define MUSTER_LIB_WORKLOAD_START_ORDER_H_

#include <string_view>

#include "absl/status/status.h"
#include "muster/workload/job.h"

namespace muster::workload {

// "worker=ps:Running,chief:Ready:2; evaluator=worker": what a role starts
// after, the condition, and how many tasks; Running and all if they are not
// said. Replaces the order of the roles that it names.
absl::Status ReadStartOrder(std::string_view text, Job* job);

// Whether each condition can come true: no cycles (which are told by their
// path), no more tasks than there are. O(roles + edges).
absl::Status CheckStartOrder(const Job& job);

}  // namespace muster::workload

#endif  // MUSTER_LIB_WORKLOAD_START_ORDER_H_
