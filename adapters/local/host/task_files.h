// The files in a task's folder that are not the shim's. As root, those that the
// task writes belong to its user; none is followed if it is a symbolic link.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "adapters/local/controller/turn.h"

namespace muster::local {

// What a task writes, unless its job says otherwise.
inline constexpr char kOutputFile[] = "output";

// Makes the folder with those above it; others may read it and not write.
absl::Status MakeReadableFolder(const std::string& folder);

// What a task is started with: the files of its launch, below `job_folder`, and
// in `folder` those by which it tells of checkpoints and learns its job's size.
// PERMISSION_DENIED: a file is elsewhere.
absl::Status WriteTaskFiles(const std::string& job_folder,
                            const std::string& folder, const TaskStart& start);

// Tells how many tasks the job has. A reader sees all of it, or what was there
// before.
absl::Status WriteSize(const std::string& folder, uint32_t size);

// Asks for a checkpoint. A reader sees all of it, or what was there before.
absl::Status WriteCheckpointRequest(const std::string& folder,
                                    uint32_t version);

// Adds a line of musterd's own to the output that is kept in the folder.
void AppendToOutput(const std::string& folder, const std::string& line);

}  // namespace muster::local
