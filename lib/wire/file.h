// Files, with errors that name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::wire::internal {

// An open file of the operating system; closed with the object.
class File {
 public:
  static absl::StatusOr<File> OpenToRead(const std::string& path);
  static absl::StatusOr<File> OpenToAppend(const std::string& path);
  // ALREADY_EXISTS if there is one.
  static absl::StatusOr<File> Create(const std::string& path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  absl::StatusOr<uint64_t> Size() const;
  // Fills `to`; DATA_LOSS if the file ends before.
  absl::Status ReadAt(uint64_t offset, size_t n, char* to) const;
  absl::Status Append(std::string_view bytes);
  absl::Status Truncate(uint64_t size);
  // What was written is on the disk when this returns.
  absl::Status Sync();

  const std::string& path() const { return path_; }
  // The file has got another name.
  void Renamed(std::string path) { path_ = std::move(path); }
  int fd() const { return fd_; }

 private:
  File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  static absl::StatusOr<File> Open(const std::string& path, int flags);

  std::string path_;
  int fd_ = -1;
};

// What errno says: "PATH: cannot DO: No such file or directory".
absl::Status ErrorOf(const std::string& path, const char* doing);

// Makes the directory entry of a new or renamed file last.
absl::Status SyncDirectoryOf(const std::string& path);

}  // namespace muster::wire::internal
