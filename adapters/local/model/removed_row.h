// A job that was kept once: what is left to tell of it.
#pragma once

#include <cstdint>
#include <string>

#include "muster/ids.h"

namespace muster::local {

// A value.
struct RemovedRow {
  uint64_t job = 0;  // JobRow::id, likewise the next four.
  uint32_t uid = 0;
  std::string name{};
  std::string phase{};
  Time finished = 0;
  Time at = 0;         // When it went.
  std::string why{};   // A Name of OverdueWhy (store/retention.h).
  int64_t bytes = -1;  // Of its files; -1: they were not counted.

  friend bool operator==(const RemovedRow&, const RemovedRow&) = default;
};

}  // namespace muster::local
