// A second reader of pods, slow and plain, over nlohmann/json: what the first
// one has to agree with.
#pragma once

#include <nlohmann/json.hpp>

#include "adapters/kubernetes/api/objects.h"

namespace muster::kubernetes::api {

// Of a valid pod without null.
Pod OraclePod(const nlohmann::json& json);

// requests alone.
ResourceList OracleRequests(const nlohmann::json& pod);

}  // namespace muster::kubernetes::api
