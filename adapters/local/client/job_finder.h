// From what people type to the ids of jobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "adapters/local/client/job_id.h"
#include "adapters/local/client/session.h"

namespace muster::local {

// The jobs that are meant, in order, each once. Asks the daemon where a text is
// no plain id: a name means one's own jobs of that name that have not finished,
// or the last one that has. Of a range, those that there are not are left out.
// NOT_FOUND: there is none. INVALID_ARGUMENT: no job is named so.
absl::StatusOr<std::vector<uint64_t>> FindJobs(
    Session* session, const std::vector<std::string>& texts);

// The one job that is meant. INVALID_ARGUMENT: there are several.
absl::StatusOr<uint64_t> FindJob(Session* session, const std::string& text);

}  // namespace muster::local
