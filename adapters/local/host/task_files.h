// The files in a task's folder that are not the shim's, and the folders of the
// state. As root, what a task reads and writes belongs to its user, and nobody
// else may read it; no symbolic link is followed.
//
//   STATE, STATE/jobs           root:root  0711
//   STATE/jobs/ID               root:GID   0710   what is below is its user's
//   .../ROLE-INDEX/ATTEMPT      root:root  0711   the shim's: nobody else
//   writes script, output, size, ...   UID:GID    0600, a script 0700
//
// A folder of the user's own would be his to replace with a link to another's.
// Where the daemon is not root all is its user's, and folders are 0700.
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

struct FileOwner {
  uint32_t uid = 0;
  uint32_t gid = 0;
};

// Makes the folder with those above it; others may go through it, no more.
// PERMISSION_DENIED: it is there, and another user's.
absl::Status MakeStateFolder(const std::string& folder);

// Makes `folder`, below `job_folder`, and that: none but the owner's group and
// root gets in. Without an owner, root alone.
absl::Status MakeTaskFolder(const std::string& job_folder,
                            const std::string& folder,
                            std::optional<FileOwner> owner);

// STATE/jobs. What an earlier version has left below it for all to read is
// theirs alone again whose it is: O(jobs), once.
absl::Status MakeJobsFolder(const std::string& jobs);

// Replaces what is there. After loss of power it is one or the other.
absl::Status ReplaceFile(const std::string& path, std::string_view bytes);

// What a task is started with: the files of its launch, below `job_folder`, and
// in `folder` those by which it tells of checkpoints and learns its job's size.
// PERMISSION_DENIED: a file is elsewhere.
absl::Status WriteTaskFiles(const std::string& job_folder,
                            const std::string& folder, const TaskStart& start);

// Of a task that was launched: its spec says whose they are.
// Tells how many tasks the job has. A reader sees all of it, or what was there
// before.
absl::Status WriteSize(const std::string& folder, uint32_t size);

// Asks for a checkpoint. A reader sees all of it, or what was there before.
absl::Status WriteCheckpointRequest(const std::string& folder,
                                    uint32_t version);

// Adds a line of musterd's own to the output that is kept in the folder, which
// is made if it is not there. As root, a file that is made belongs to the
// task's user: to the one of its spec, else to `owner`.
void AppendToOutput(const std::string& folder, const std::string& line,
                    std::optional<FileOwner> owner = std::nullopt);

}  // namespace muster::local
