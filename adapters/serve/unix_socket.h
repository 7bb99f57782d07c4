// Unix sockets to listen on.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace muster::serve {

struct UnixAddress {
  std::string path{};
  // Permissions of the socket; who may write to it may connect.
  uint32_t mode = 0600;
};

// Bytes that a path may have: it stands in an address of the kernel's.
inline constexpr size_t kMaxSocketPath = 107;

// A socket in the file system, listened on; it is closed and removed at the
// end, unless another has taken its place meanwhile.
class UnixSocket {
 public:
  // A socket that is there already is replaced if nobody answers on it; two
  // programs that try it at the same time exclude each other. INVALID_ARGUMENT:
  // the path is empty, has a zero, or is longer than kMaxSocketPath.
  // ALREADY_EXISTS: a file that is no socket. UNAVAILABLE: somebody answers
  // there, or the folder cannot be used.
  static absl::StatusOr<UnixSocket> Listen(const UnixAddress& address);
  ~UnixSocket();
  UnixSocket(UnixSocket&& other) noexcept;
  UnixSocket& operator=(UnixSocket&& other) noexcept;

  // Non-blocking, closed on exec. It stays the socket's own.
  int fd() const { return fd_; }

 private:
  UnixSocket(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  void Close();

  std::string path_;
  int fd_ = -1;
  // Which file it is.
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

}  // namespace muster::serve
