// Answers of muster-kube for people. Each function takes the JSON that the
// endpoint gives (adapters/kubernetes/host/answers.h): fields that lack are
// left out, unknown ones are passed over, so that plug-in and scheduler may be
// of different versions. INVALID_ARGUMENT: it is no such answer. Pure;
// O(bytes).
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::kubernetes::plugin {

// Queues as a tree, those below indented, with what they use of their limits.
absl::StatusOr<std::string> QueuesText(std::string_view json);
// Nodes on which more is in use than they have, one a line.
absl::StatusOr<std::string> NodesText(std::string_view json);
// Groups, one a line.
absl::StatusOr<std::string> GroupsText(std::string_view json);
// One group, why it waits, and its pods.
absl::StatusOr<std::string> ExplanationText(std::string_view json);
// What would be decided.
absl::StatusOr<std::string> WhatIfText(std::string_view json);
// The message of {"error": {"message": ...}}; of anything else its beginning.
// On one line.
std::string ErrorText(std::string_view body);

// "34359738368" of memory as "32Gi": of resources that are counted in bytes, in
// the largest unit in which it is a whole number of at most 4 digits, else with
// one decimal. Others stay as they are. Pure.
std::string ReadableQuantity(std::string_view resource,
                             std::string_view quantity);

}  // namespace muster::kubernetes::plugin
