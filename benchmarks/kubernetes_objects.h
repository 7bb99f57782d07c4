// Objects as an API server tells them, by number: equal numbers, equal objects.
#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"

namespace muster::bench {

// A UID of random looks.
std::string UidOf(int64_t number);

// A pod of one GPU, one of the eight of its Job. It runs on that node; "": it
// waits.
std::string PodJson(int64_t number, const std::string& node);

// A node of 8 GPUs, NodeName(number).
std::string NodeJson(int64_t number);
std::string NodeName(int64_t number);

// A list of the items `begin` to `end` - 1; kind: "PodList".
std::string ListJson(const std::string& kind,
                     absl::FunctionRef<std::string(int64_t)> item,
                     int64_t begin, int64_t end);

}  // namespace muster::bench
