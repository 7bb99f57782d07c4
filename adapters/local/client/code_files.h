// Which files of a working directory are a job's code.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace muster::local {

struct CodeFiles {
  std::string root{};  // Absolute: the top of git's work tree, or the folder.
  // Regular files, symbolic links and empty folders below the root, sorted.
  std::vector<std::string> paths{};
  uint64_t bytes = 0;        // Of all regular files.
  std::string commit{};      // Of git; empty: there is none.
  uint32_t uncommitted = 0;  // Files that are not as they are there.
};

// In a work tree of git: what git knows or would add, so nothing that it
// ignores. Elsewhere: all files, but those whose name or path matches a line of
// the folder's own .musterignore, as fnmatch does. Sockets, pipes and devices
// are left out. FAILED_PRECONDITION: more than kMostCodeFiles files or
// kMostCodeBytes bytes, with the largest folder. Runs git. O(files).
absl::StatusOr<CodeFiles> FindCode(const std::string& directory);

inline constexpr uint64_t kMostCodeFiles = 200'000;
inline constexpr uint64_t kMostCodeBytes = uint64_t{4} << 30;

}  // namespace muster::local
