#include "adapters/local/host/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace muster::local {

absl::StatusOr<Poller> Poller::Create() {
  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0) return absl::ErrnoToStatus(errno, "epoll_create1");
  return Poller(epoll);
}

Poller::Poller(Poller&& other) noexcept
    : epoll_(std::exchange(other.epoll_, -1)) {}

Poller& Poller::operator=(Poller&& other) noexcept {
  std::swap(epoll_, other.epoll_);
  return *this;
}

Poller::~Poller() {
  if (epoll_ >= 0) close(epoll_);
}

absl::Status Poller::Add(int fd, uint64_t id) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0) {
    return absl::OkStatus();
  }
  return absl::ErrnoToStatus(errno, "epoll_ctl");
}

void Poller::Remove(int fd) { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

std::vector<uint64_t> Poller::Wait(int milliseconds) {
  std::array<epoll_event, 256> events{};
  const int n = epoll_wait(epoll_, events.data(),
                           static_cast<int>(events.size()), milliseconds);
  std::vector<uint64_t> ids;
  for (int i = 0; i < n; ++i) {
    ids.push_back(events[static_cast<size_t>(i)].data.u64);
  }
  return ids;
}

}  // namespace muster::local
