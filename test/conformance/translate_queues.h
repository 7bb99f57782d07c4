// Queues, priorities and who may preempt.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "test/conformance/kinds.h"
#include "test/conformance/scenario.h"
#include "test/conformance/translation.h"

namespace muster::conformance {

// Fills in queues and closed_queues.
absl::Status TranslateQueues(const Scenario& scenario, const Kinds& kinds,
                             Translation* translation);

// Gives each gang, translated before, its priority class; fills in classes.
absl::Status TranslatePriorities(const Scenario& scenario,
                                 Translation* translation);

const QueueSpec* FindQueue(const Scenario& scenario, const std::string& name);
// The queue at the top of the tree the named one is in.
std::string RootOf(const Scenario& scenario, const std::string& queue);

}  // namespace muster::conformance
