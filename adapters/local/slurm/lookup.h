// What is asked of the daemon beside its lists of jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "adapters/local/client/session.h"
#include "adapters/local/slurm/job_view.h"

namespace muster::local::slurm {

// What a job of a list asks for; `job` gets its directory. None: it is another
// user's, or there is no such job any more. Another error: the daemon's.
absl::StatusOr<std::optional<Asked>> LookUp(Session* session, Json* job);

// GET. A daemon that starts anew is waited for, a minute at most: jobs run on
// meanwhile. Blocks.
absl::StatusOr<Json> AskPatiently(Session* session, const std::string& target);

// The job when it has finished. Blocks; patient, too.
absl::StatusOr<Json> WaitFor(Session* session, uint64_t job);

// The machine's name.
absl::StatusOr<std::string> NodeName(Session* session);

}  // namespace muster::local::slurm
