// Binding what runs to other CPUs. The standard library and Linux alone. Any
// thread.
#pragma once

#include <cstdint>
#include <vector>

#include "adapters/local/shim/process_tree.h"

namespace muster::local {

// All threads of what `list` gives, which were bound to `from`, to `to`. What
// has bound itself to less stays there, as far as that is of `to`. Processes
// and threads that are started meanwhile are found, too. O(threads), twice.
void Rebind(const ProcessList& list, const std::vector<uint32_t>& from,
            const std::vector<uint32_t>& to);

}  // namespace muster::local
