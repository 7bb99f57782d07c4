// The lock of the process whose store a file is.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace muster::local {

// Held as long as the object or its process lives, however that ends. A process
// that is forked shares it until it executes a program.
class StoreLock {
 public:
  // `path` is the lock's own file, made with mode 0600 if it is not there; it
  // says who has it. UNAVAILABLE names the process that has it already;
  // PERMISSION_DENIED and FAILED_PRECONDITION: no such file can be made.
  static absl::StatusOr<StoreLock> Take(const std::string& path);
  ~StoreLock();
  StoreLock(StoreLock&& other) noexcept;
  StoreLock& operator=(StoreLock&&) = delete;

 private:
  explicit StoreLock(int file) : file_(file) {}
  int file_;  // -1: moved from.
};

}  // namespace muster::local
