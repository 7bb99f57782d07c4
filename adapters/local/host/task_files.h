// The files in a task's folder that are not the shim's. As root, those that the
// task writes belong to its user; none is followed if it is a symbolic link.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "adapters/local/controller/turn.h"

namespace muster::local {

// What a task writes, unless its job says otherwise.
inline constexpr char kOutputFile[] = "output";

// Makes the folder with those above it; others may read it and not write.
absl::Status MakeReadableFolder(const std::string& folder);

// Replaces what is there. After loss of power it is one or the other.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

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

// Adds a line of musterd's own to the output that is kept in the folder, which
// is made if it is not there. As root, a file that is made belongs to the
// task's user: to the one of its spec, else to `uid` and `gid`.
struct FileOwner {
  uint32_t uid = 0;
  uint32_t gid = 0;
};
void AppendToOutput(const std::string& folder, const std::string& line,
                    std::optional<FileOwner> owner = std::nullopt);

}  // namespace muster::local
