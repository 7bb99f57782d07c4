// A short program's output.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local {

// What the program writes to its output until it ends with 0; its errors are
// not shown. NOT_FOUND: there is no such program; FAILED_PRECONDITION: it ends
// otherwise.
absl::StatusOr<std::string> OutputOf(std::vector<std::string> words);

}  // namespace muster::local
