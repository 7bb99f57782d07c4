// A copy of a job's code as it is at submission: what is edited afterwards is
// for later jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "adapters/local/client/code_files.h"
#include "muster/ids.h"

namespace muster::local {

struct CodeSnapshot {
  std::string path{};  // What CodeFiles::root has become.
  // Files whose content shares its blocks with the original (FICLONE), where
  // the file system can; the others are copied.
  uint64_t shared = 0;
};

// The folder of this user's snapshots: $MUSTER_CODE, $XDG_STATE_HOME/muster/
// code or ~/.local/state/muster/code. Empty: there is no home.
std::string SnapshotStore();

// Copies the files, with their modes and times, to a new folder of the store,
// which is there whole or not at all. A file that changes meanwhile is copied
// again; FAILED_PRECONDITION: it does so three times. O(bytes), O(files) where
// blocks are shared.
absl::StatusOr<CodeSnapshot> TakeSnapshot(const CodeFiles& code,
                                          const std::string& store);

// Keeps with the snapshot whose jobs it is for.
absl::Status NoteJobs(const CodeSnapshot& snapshot, const std::string& daemon,
                      const std::vector<uint64_t>& jobs);
void DropSnapshot(const CodeSnapshot& snapshot);

// Removes snapshots of the daemon's jobs that are older than `keep` and whose
// jobs are all over, and what is left of submissions that failed a day ago. At
// most `most` of them are looked at, the oldest first.
void DropOldSnapshots(const std::string& store, const std::string& daemon,
                      Time now, size_t most,
                      const std::function<bool(uint64_t job)>& is_over,
                      Duration keep = int64_t{7} * 24 * 3600 * kSecond);

}  // namespace muster::local
