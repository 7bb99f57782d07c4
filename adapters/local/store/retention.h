// Which finished jobs are kept no longer.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/store/database.h"
#include "muster/enum_names.h"
#include "muster/ids.h"

namespace muster::local {

// A value: a job goes that is over one of the limits, its own time, or what its
// calendar keeps.
struct Retention {
  Duration age = kForever;                              // Since its end.
  uint64_t jobs = std::numeric_limits<int64_t>::max();  // The last to end stay.
  // Of the files of the jobs that are kept; those that ended first go.
  int64_t bytes = std::numeric_limits<int64_t>::max();
  // A job whose own time is over stays so long, that who waits for its end
  // learns of it.
  Duration linger = 0;
};

enum class OverdueWhy : uint8_t { kTtl, kCron, kAge, kJobs, kBytes };
MUSTER_ENUM_NAMES(OverdueWhy, "ttl", "cron", "age", "jobs", "bytes");

struct OverdueJob {
  uint64_t id = 0;
  OverdueWhy why = OverdueWhy::kTtl;

  friend bool operator==(const OverdueJob&, const OverdueJob&) = default;
};

// As Store::Overdue, at most `most`.
absl::StatusOr<std::vector<OverdueJob>> FindOverdue(Database& connection,
                                                    const Retention& retention,
                                                    Time now, uint32_t most);
// As Store::Forget, inside a transaction; the last `notes` are kept.
absl::Status RemoveJobs(Database& connection, std::span<const OverdueJob> jobs,
                        Time now, uint32_t notes);

}  // namespace muster::local
