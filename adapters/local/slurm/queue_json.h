// Jobs as `squeue --json` writes them: Slurm's names of members, of those that
// one machine has. Pure functions but for names of users.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adapters/local/slurm/job_view.h"

namespace muster::local::slurm {

// `job`: of the API. `nodes`: where it runs; empty: nowhere.
Json QueueJson(const Json& job, const std::optional<Asked>& asked,
               const std::string& nodes);

// The list of jobs with what stands around it.
Json Envelope(const std::string& program, Json jobs);

// "1-3,8" of ascending numbers.
std::string IndexText(const std::vector<uint32_t>& indices);

}  // namespace muster::local::slurm
