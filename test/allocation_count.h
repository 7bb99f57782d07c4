// Counts what a test program allocates, and lets it fail: replaces operator
// new, hence only for programs of their own.
#pragma once

#include <cstddef>

namespace muster::test {

// Allocations of this thread so far, and how much they asked for.
size_t Allocations();
size_t AllocatedBytes();
// While set, allocations of this thread throw std::bad_alloc.
void FailAllocations(bool fail);

}  // namespace muster::test
