// A process that computes on a GPU and is of no job.
#pragma once

#include <cstdint>

namespace muster::local {

// A value.
struct OtherProcess {
  uint32_t device = 0;  // Of the node.
  uint32_t pid = 0;
  uint32_t uid = 0;
  int64_t memory_bytes = 0;  // Of the GPU; 0: the driver does not tell.

  friend bool operator==(const OtherProcess&, const OtherProcess&) = default;
};

}  // namespace muster::local
