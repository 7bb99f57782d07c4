// What is asked behind a URL's question mark.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace muster::serve {

// "namespace=a&group=b%20c", decoded. INVALID_ARGUMENT: a name is there twice
// or a percent sign is followed by no byte; at most 16 parameters. Pure;
// O(bytes).
absl::StatusOr<std::map<std::string, std::string>> ParseQuery(
    std::string_view query);

}  // namespace muster::serve
