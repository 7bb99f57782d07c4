// Something that happened to a job, as it is kept for people.
#pragma once

#include <cstdint>
#include <string>

#include "muster/ids.h"

namespace muster::local {

// A value. Only what no other row of the job tells: JobNews has the words.
struct NewsRow {
  uint64_t job = 0;  // JobRow::id
  Time at = 0;
  std::string what{};
  std::string text{};  // For people; may be empty.

  friend bool operator==(const NewsRow&, const NewsRow&) = default;
};

}  // namespace muster::local
