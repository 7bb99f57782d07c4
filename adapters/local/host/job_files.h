// The files of a job, in its folder below STATE/jobs. No symbolic link is
// followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace muster::local {

// Removes what is in the folder, and it, as far as *budget goes: files and
// folders, of which one is taken off it for each. Whether all is gone, as where
// nothing was there. The error says what cannot be removed.
absl::StatusOr<bool> RemoveFolder(const std::string& folder, size_t* budget);

// What the files take on the disk, as far as *budget goes. What cannot be read
// is left out.
int64_t BytesOfFolder(const std::string& folder, size_t* budget);

}  // namespace muster::local
