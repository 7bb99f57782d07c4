// Jobs as people name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local {

// A value.
struct JobId {
  enum class Kind : uint8_t {
    kId,       // "7"
    kElement,  // "7_3", of the array whose first job is 7; "7_*": all of them.
    kRange,    // "2-10", "2-10:2"
    kLast,     // "last", "@": the last of one's own; "@~2": two before it.
    kAll,      // "all": one's own that have not finished.
    kName,     // Everything else.
  };
  Kind kind = Kind::kId;
  uint64_t first = 0;  // The id; of kLast how many before the last.
  uint64_t last = 0;   // Of a range.
  uint64_t step = 1;
  std::optional<uint32_t> index{};  // Of an element; none: all.
  std::string name{};

  friend bool operator==(const JobId&, const JobId&) = default;
};

inline constexpr uint64_t kMostOfRange = 100'000;

// INVALID_ARGUMENT: what is empty, an id of 0, or a range that is none or has
// more than kMostOfRange ids. Pure; O(bytes).
absl::StatusOr<JobId> ParseJobId(std::string_view text);

// "7.worker-0" is job "7" and task "worker-0"; "7" has no task. A name may have
// dots: what stands behind the last one is a task if it ends in "-NUMBER".
struct JobAndTask {
  std::string job{};
  std::string task{};
};
JobAndTask SplitTask(std::string_view text);

// "0-9:2,12" to ascending numbers. INVALID_ARGUMENT says what is expected.
absl::StatusOr<std::vector<uint32_t>> ParseIndices(std::string_view text);

}  // namespace muster::local
