// Files of SQLite that count and fail.
#pragma once

#include <cstdint>
#include <optional>

namespace muster::local {

// While it is there, it stands between SQLite's connections that are opened and
// the disk. One at a time, and it outlives these connections.
class FaultVfs {
 public:
  FaultVfs();
  ~FaultVfs();
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // Of files: how often SQLite had them synced since the last call.
  uint32_t TakeSyncs();
  // After so many more writes the disk is full; none: it is not.
  void FillAfter(std::optional<uint32_t> writes);
  // fsync fails.
  void FailSync(bool fail);
};

}  // namespace muster::local
