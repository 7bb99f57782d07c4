// What is out of service, and why, as it is kept.
#pragma once

#include <cstdint>
#include <string>

#include "muster/ids.h"

namespace muster::local {

// A value. No task starts there; what runs goes on.
struct DrainRow {
  static constexpr int64_t kWholeNode = -1;

  int64_t device = kWholeNode;  // The node's device, by its number.
  Time since = 0;
  uint32_t uid = 0;         // Who drained it, unless it is in quarantine.
  bool quarantine = false;  // By itself, after failures.
  std::string reason{};

  friend bool operator==(const DrainRow&, const DrainRow&) = default;
};

}  // namespace muster::local
