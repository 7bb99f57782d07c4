// Meeting: where the tasks of a job find each other, and who is which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local {

// A value.
struct Meeting {
  // By role and number: the port of a task on 127.0.0.1; 0: it needs none.
  std::vector<std::vector<uint16_t>> ports{};
  // By role and index: the task's number for the job itself. Empty: its index.
  std::vector<std::vector<uint32_t>> numbers{};

  bool empty() const { return ports.empty(); }
  friend bool operator==(const Meeting&, const Meeting&) = default;
};

// JobRow::endpoints: [ports, numbers]; "" of an empty one. O(tasks).
std::string ToJson(const Meeting& meeting);
// INVALID_ARGUMENT for what is none.
absl::StatusOr<Meeting> MeetingFromJson(std::string_view text);

}  // namespace muster::local
