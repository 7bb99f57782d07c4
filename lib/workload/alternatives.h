// What a task may have in place of what it requests, as an annotation has it.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "muster/workload/task_template.h"

namespace muster::workload {

// "nvidia.com/gpu=1,cpu=8;cpu=16": the first that finds room, amounts as
// manifests write them. INVALID_ARGUMENT says what is wrong. O(text).
absl::Status ReadAlternatives(const std::string& text,
                              std::vector<std::vector<Amount>>* to);

}  // namespace muster::workload
