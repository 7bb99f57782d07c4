// What can be edited of a job, as YAML, and what has been.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "absl/status/statusor.h"

namespace muster::local {

// Of what GET /v1/jobs/ID/edit answers. Of a job that runs without its roles.
// O(bytes).
std::string EditText(const nlohmann::ordered_json& editable);

// The body of POST /v1/jobs/ID/edit that makes of the job what the file says;
// empty: it is so already. What a file leaves out stays, but for resources,
// which are not asked for then. INVALID_ARGUMENT names the file's line.
// O(bytes).
absl::StatusOr<nlohmann::ordered_json> ReadEdited(
    const std::string& file, const nlohmann::ordered_json& editable);

}  // namespace muster::local
