// OpenFile: a file descriptor, closed with the object.
#pragma once

#include <unistd.h>

#include <utility>

namespace muster::local {

class OpenFile {
 public:
  // Takes it over; -1: none.
  explicit OpenFile(int fd = -1) : fd_(fd) {}
  ~OpenFile() { Close(); }
  OpenFile(OpenFile&& other) noexcept : fd_(other.Release()) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = other.Release();
    }
    return *this;
  }

  bool ok() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  // It is the caller's to close.
  int Release() { return std::exchange(fd_, -1); }
  void Close() {
    if (fd_ >= 0) close(Release());
  }

 private:
  int fd_;
};

}  // namespace muster::local
