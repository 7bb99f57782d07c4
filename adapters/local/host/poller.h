// Poller: waits until one of many file descriptors can be read.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::local {

// Not synchronised. Descriptors belong to the caller, and are removed before
// they are closed.
class Poller {
 public:
  static absl::StatusOr<Poller> Create();
  Poller(Poller&& other) noexcept;
  Poller& operator=(Poller&& other) noexcept;
  ~Poller();

  // `id`: what Wait returns for it. O(log n).
  absl::Status Add(int fd, uint64_t id);
  void Remove(int fd);

  // Those that can be read, at most 256 at a time; none when `milliseconds`
  // are over (negative: never) or a signal came. O(ready).
  std::vector<uint64_t> Wait(int milliseconds);

 private:
  explicit Poller(int epoll) : epoll_(epoll) {}

  int epoll_;
};

}  // namespace muster::local
