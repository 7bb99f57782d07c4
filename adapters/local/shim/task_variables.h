// Reading the variables of a task that are in files. POSIX alone. One thread.
#pragma once

#include <string>
#include <vector>

#include "adapters/local/shim/shim_spec.h"

namespace muster::local {

// With the rights of the task's user: ShimSpec::environment with the values of
// ShimSpec::variables. One with a key replaces what has its name; those of all
// keys give way to it, but for what is inherited; later ones replace earlier
// ones. False: errno says why, and `where` of what. O(bytes).
bool ReadVariables(const ShimSpec& spec, std::vector<std::string>* environment,
                   std::string* where);

}  // namespace muster::local
