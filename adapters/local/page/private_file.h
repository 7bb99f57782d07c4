// Files that nobody but the daemon's user may read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::local {

// What is in it. NOT_FOUND: there is none. FAILED_PRECONDITION: it is no file,
// another user's, or others may read it, or it has more than `most` bytes;
// errors of the file system. A link is not followed. O(bytes).
absl::StatusOr<std::string> ReadPrivateFile(const std::string& path,
                                            size_t most);

// Makes or replaces it: whoever finds the file finds it whole. Errors of the
// file system. O(bytes).
absl::Status WritePrivateFile(const std::string& path, std::string_view text);

}  // namespace muster::local
