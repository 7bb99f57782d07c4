// A file that one writer has, and that is there whole or not at all.
#ifndef MUSTER_LIB_WIRE_LOCKED_FILE_H_
#define MUSTER_LIB_WIRE_LOCKED_FILE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lib/wire/file.h"

namespace muster::wire::internal {

// A regular file, open to append to, with the lock (flock) on it: others who
// come this way, in this process or another, get FAILED_PRECONDITION. The lock
// is given back with the object and at the end of the process. It is on the
// file that the path names at that moment, whatever is created or replaced.
class LockedFile {
 public:
  // What is there: NOT_FOUND if there is nothing.
  static absl::StatusOr<LockedFile> Open(const std::string& path);

  // A new file of these bytes; ALREADY_EXISTS rather than overwrite one. It is
  // written as PATH.new and gets its name when it is on the disk, so that a
  // crash leaves no file of that name, or this one whole. What an earlier crash
  // left as PATH.new is removed. File and name are on the disk afterwards.
  static absl::StatusOr<LockedFile> Create(const std::string& path,
                                           std::string_view bytes);

  File& file() { return file_; }
  const std::string& path() const { return file_.path(); }

 private:
  explicit LockedFile(File file) : file_(std::move(file)) {}

  File file_;
};

}  // namespace muster::wire::internal

#endif  // MUSTER_LIB_WIRE_LOCKED_FILE_H_
