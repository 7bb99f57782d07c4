#include "adapters/local/store/store_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/local/store/files.h"

namespace muster::local {
namespace {

// "process 12", or "another process" where the file does not say.
std::string Holder(int file) {
  std::array<char, 32> text{};
  ssize_t size = pread(file, text.data(), text.size(), 0);
  const char* end = text.data() + std::max<ssize_t>(size, 0);
  int pid = 0;
  if (std::from_chars(text.data(), end, pid).ec == std::errc()) {
    return absl::StrCat("process ", pid);
  }
  return "another process";
}

bool Write(int file, const std::string& text) {
  return ftruncate(file, 0) == 0 &&
         pwrite(file, text.data(), text.size(), 0) == ssize_t(text.size());
}

}  // namespace

absl::StatusOr<StoreLock> StoreLock::Take(const std::string& path) {
  int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return FileStatus(path, errno);
  StoreLock lock(file);
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileStatus(path, errno);
    return absl::UnavailableError(
        absl::StrCat(path, ": ", Holder(file), " has it"));
  }
  // For messages alone: a full disk does not matter.
  if (!Write(file, absl::StrCat(getpid(), "\n"))) Write(file, "");
  return lock;
}

StoreLock::StoreLock(StoreLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)) {}

StoreLock::~StoreLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace muster::local
