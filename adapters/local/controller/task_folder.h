// Where what is kept of jobs and their tasks is. Pure functions: any thread.
#pragma once

#include <string>
#include <string_view>

#include "adapters/local/model/task_key.h"

namespace muster::local {

// "STATE/jobs/ID" and "STATE/jobs/ID/ROLE-INDEX/ATTEMPT", in numbers.
std::string JobFolder(std::string_view state, uint64_t job);
std::string TaskFolder(std::string_view state, const TaskKey& task);

// The variable that tells a task where a volume's directory is:
// "MUSTER_VOLUME_" and the name in capitals, with '_' for what variables do not
// have.
std::string VolumeVariable(std::string_view volume);

// Within a task's folder. The job touches the first when it has saved its work;
// it is asked to by the second, whose content is the version.
inline constexpr std::string_view kCheckpointFile = "checkpoint";
inline constexpr std::string_view kCheckpointRequestFile = "checkpoint-request";
// How many tasks the job has now, as a line.
inline constexpr std::string_view kSizeFile = "size";

}  // namespace muster::local
