// Which jobs a page of the history shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/ids.h"

namespace muster::local {

// A value: what is set must all be true.
struct HistoryFilter {
  std::optional<uint32_t> uid{};
  std::optional<std::string> queue{};
  std::optional<std::string> name{};
  std::optional<std::string> phase{};
  Time since = 0;         // Submitted then or later ...
  Time until = kForever;  // ... and before that; kForever: no end.
  // What comes behind this job: the last of the page before. 0: from the
  // newest.
  uint64_t before = 0;
  uint32_t limit = 100;  // Jobs of the page, 1..kMaxLimit.

  static constexpr uint32_t kMaxLimit = 10'000;
};

}  // namespace muster::local
