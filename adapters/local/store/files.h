// Folders and files, and the system's errors with them.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace muster::local {

// "PATH: the system's words for `error`", an errno that is not 0.
// PERMISSION_DENIED: no right, or a file system that is read only.
// RESOURCE_EXHAUSTED: disk or quota is full. NOT_FOUND. FAILED_PRECONDITION:
// what else stands in the way. Any thread.
absl::Status FileStatus(const std::string& path, int error);

// Makes the folder with mode 0700, and those above it that are not there; their
// names are on the disk afterwards. One that is there stays as it is.
absl::Status MakeFolder(const std::string& path);

// An empty file with mode 0600, whose name is on the disk afterwards, if there
// is none of this name.
absl::Status MakeFile(const std::string& path);

}  // namespace muster::local
