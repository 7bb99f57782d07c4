#include "adapters/local/shim/attempt_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>

namespace muster::local {
namespace {

constexpr mode_t kMode = 0600;

OpenFile OpenNew(int folder, const std::string& name) {
  return OpenFile(openat(folder, (name + kNewSuffix).c_str(),
                         O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode));
}

}  // namespace

bool IsShimFile(std::string_view name) {
  constexpr std::array<std::string_view, 8> kFiles = {
      kSpecFile,  kLockFile, kStartedFile, kExitFile,
      kGraceFile, kCpusFile, kInputFile,   kNoInputFile};
  if (name.ends_with(kNewSuffix)) {
    name.remove_suffix(sizeof(kNewSuffix) - 1);
  }
  return std::ranges::find(kFiles, name) != kFiles.end();
}

OpenFile OpenAttemptFolder(const std::string& path) {
  OpenFile folder(
      open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status{};
  if (!folder.ok() || fstat(folder.fd(), &status) != 0) return OpenFile();
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  if (status.st_uid != geteuid() || (status.st_mode & kOthersWrite) != 0) {
    folder.Close();
    errno = EPERM;
  }
  return folder;
}

int ReadFile(int folder, const char* name, std::string* bytes) {
  const OpenFile file(
      openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.ok()) return errno;
  bytes->clear();
  for (;;) {
    constexpr size_t kBlock = 16 << 10;
    const size_t size = bytes->size();
    bytes->resize(size + kBlock);
    const ssize_t count = read(file.fd(), bytes->data() + size, kBlock);
    const int error = count < 0 ? errno : 0;
    bytes->resize(size + static_cast<size_t>(std::max<ssize_t>(count, 0)));
    if (error != 0 && error != EINTR) return error;
    if (count == 0) return 0;
  }
}

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

int WriteExisting(const char* path, std::string_view bytes) {
  const OpenFile file(open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return file.ok() ? WriteAll(file.fd(), bytes) : errno;
}

int WriteFile(int folder, const std::string& name, std::string_view bytes) {
  const OpenFile file = OpenNew(folder, name);
  if (!file.ok()) return errno;
  if (const int error = WriteAll(file.fd(), bytes); error != 0) return error;
  if (ftruncate(file.fd(), static_cast<off_t>(bytes.size())) != 0) return errno;
  return renameat(folder, (name + kNewSuffix).c_str(), folder, name.c_str()) ==
                 0
             ? 0
             : errno;
}

int ReserveFile(int folder, const std::string& name, size_t bytes) {
  const OpenFile file = OpenNew(folder, name);
  if (!file.ok()) return errno;
  if (fallocate(file.fd(), 0, 0, static_cast<off_t>(bytes)) == 0) return 0;
  return errno == EOPNOTSUPP ? 0 : errno;  // Then it is as it is.
}

}  // namespace muster::local
