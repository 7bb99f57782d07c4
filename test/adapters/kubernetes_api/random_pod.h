// Pods with any of their fields, as the API server might send them.
#pragma once

#include <nlohmann/json.hpp>
#include <random>

namespace muster::kubernetes::api {

nlohmann::json RandomPod(std::mt19937* random);

}  // namespace muster::kubernetes::api
