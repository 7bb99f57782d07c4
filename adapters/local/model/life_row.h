// An event in a job's life as it is kept.
#pragma once

#include <cstdint>
#include <string>

#include "muster/ids.h"

namespace muster::local {

// A value. The events of a job in the order of `seq` give its LifeState.
struct LifeRow {
  uint64_t job = 0;  // JobRow::id
  uint64_t seq = 0;  // Of the job; ascending.
  Time at = 0;
  std::string event{};  // JSON; the store does not look into it.

  friend bool operator==(const LifeRow&, const LifeRow&) = default;
};

}  // namespace muster::local
