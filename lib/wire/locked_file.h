// A file that one writer has, and that is there whole or not at all.
#pragma once

#include <string>
#include <string_view>

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

  // A new file of these bytes takes the place of this one, and this object
  // goes on with it. As in Create, a crash leaves the old file or the new one,
  // whole. The old one keeps the name `keep`, if that is not empty, which no
  // other file may have: ALREADY_EXISTS. After an error the old file is in its
  // place, and this object has it. The new name is on the disk after
  // SyncName().
  absl::Status Replace(std::string_view bytes, const std::string& keep);
  absl::Status SyncName() const { return SyncDirectoryOf(place_); }

  File& file() { return file_; }
  const std::string& path() const { return file_.path(); }

 private:
  explicit LockedFile(File file);
  absl::Status KeepAs(const std::string& keep) const;

  File file_;
  std::string place_;  // The path, absolute and without links.
};

}  // namespace muster::wire::internal
