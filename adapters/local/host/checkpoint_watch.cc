#include "adapters/local/host/checkpoint_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace muster::local {

absl::StatusOr<CheckpointWatch> CheckpointWatch::Create() {
  const int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "inotify_init1");
  return CheckpointWatch(fd);
}

CheckpointWatch::CheckpointWatch(CheckpointWatch&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      tasks_(std::move(other.tasks_)),
      watches_(std::move(other.watches_)) {}

CheckpointWatch& CheckpointWatch::operator=(CheckpointWatch&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(tasks_, other.tasks_);
  std::swap(watches_, other.watches_);
  return *this;
}

CheckpointWatch::~CheckpointWatch() {
  if (fd_ >= 0) close(fd_);
}

absl::Status CheckpointWatch::Add(const TaskKey& task,
                                  const std::string& file) {
  const int watch = inotify_add_watch(fd_, file.c_str(),
                                      IN_ATTRIB | IN_CLOSE_WRITE | IN_MODIFY);
  if (watch < 0) return absl::ErrnoToStatus(errno, file);
  const auto it = watches_.find(task);
  if (it != watches_.end() && it->second == watch) return absl::OkStatus();
  Remove(task);
  tasks_[watch] = task;
  watches_[task] = watch;
  return absl::OkStatus();
}

void CheckpointWatch::Remove(const TaskKey& task) {
  const auto it = watches_.find(task);
  if (it == watches_.end()) return;
  inotify_rm_watch(fd_, it->second);
  tasks_.erase(it->second);
  watches_.erase(it);
}

std::set<TaskKey> CheckpointWatch::Take() {
  std::set<TaskKey> touched;
  alignas(inotify_event) std::array<char, 16 << 10> buffer{};
  ssize_t length = 0;
  while ((length = read(fd_, buffer.data(), buffer.size())) > 0) {
    for (ssize_t at = 0; at < length;) {
      inotify_event event{};
      std::memcpy(&event, buffer.data() + at, sizeof event);
      at += static_cast<ssize_t>(sizeof event + event.len);
      const auto it = tasks_.find(event.wd);
      if (it != tasks_.end() && (event.mask & IN_IGNORED) == 0) {
        touched.insert(it->second);
      }
    }
  }
  return touched;
}

}  // namespace muster::local
