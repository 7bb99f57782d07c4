#include "test/wire/faults.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <utility>

#include "test/wire/child.h"

extern "C" {
ssize_t __real_write(int fd, const void* bytes, size_t n);
int __real_fsync(int fd);
int __real_ftruncate(int fd, off_t size);
int __real_flock(int fd, int operation);
int __real_link(const char* from, const char* to);
int __real_rename(const char* from, const char* to);
int __real_renameat2(int in, const char* from, int to_in, const char* to,
                     unsigned int flags);
int __real_unlink(const char* path);
}

namespace muster::wire::faults {
namespace {

int left_before_death = -1;  // Negative: none is planned.
std::map<std::string, int> failing;
std::string awaited;
std::function<void()> interruption;
std::string folder;
bool recording = false;
std::vector<std::string> recorded;

std::string Relative(const std::string& path) {
  return std::filesystem::path(path).lexically_relative(folder).string();
}

std::string PathOf(int fd) {
  std::error_code ignored;
  return Relative(std::filesystem::read_symlink(
      "/proc/self/fd/" + std::to_string(fd), ignored));
}

// Before each call. False: it is to fail.
bool Begin(const std::string& call, const std::string& about) {
  if (left_before_death == 0) KillThisProcess();
  if (left_before_death > 0) --left_before_death;
  if (recording) recorded.push_back(call + " " + about);
  if (call == awaited) {
    awaited.clear();
    std::exchange(interruption, {})();
  }
  const auto fails = failing.find(call);
  if (fails == failing.end()) return true;
  errno = fails->second;
  return false;
}

}  // namespace

void DieAt(int n) { left_before_death = n; }

void Fail(const std::string& call, int error) { failing[call] = error; }

void Before(const std::string& call, std::function<void()> something) {
  awaited = call;
  interruption = std::move(something);
}

void Heal() { failing.clear(); }

void Record(const std::string& within) {
  folder = within;
  recorded.clear();
  recording = true;
}

std::vector<std::string> Recorded() {
  recording = false;
  return std::exchange(recorded, {});
}

}  // namespace muster::wire::faults

using muster::wire::faults::Begin;
using muster::wire::faults::PathOf;
using muster::wire::faults::Relative;

extern "C" {

ssize_t __wrap_write(int fd, const void* bytes, size_t n) {
  if (muster::wire::faults::left_before_death == 0) {
    (void)!__real_write(fd, bytes, n / 2);
  }
  if (!Begin("write", PathOf(fd) + " " + std::to_string(n))) return -1;
  return __real_write(fd, bytes, n);
}

int __wrap_fsync(int fd) {
  return Begin("fsync", PathOf(fd)) ? __real_fsync(fd) : -1;
}

int __wrap_ftruncate(int fd, off_t size) {
  return Begin("ftruncate", PathOf(fd)) ? __real_ftruncate(fd, size) : -1;
}

int __wrap_flock(int fd, int operation) {
  return Begin("flock", PathOf(fd)) ? __real_flock(fd, operation) : -1;
}

int __wrap_link(const char* from, const char* to) {
  return Begin("link", Relative(from) + " " + Relative(to))
             ? __real_link(from, to)
             : -1;
}

int __wrap_rename(const char* from, const char* to) {
  return Begin("rename", Relative(from) + " " + Relative(to))
             ? __real_rename(from, to)
             : -1;
}

int __wrap_renameat2(int in, const char* from, int to_in, const char* to,
                     unsigned int flags) {
  return Begin("renameat2", Relative(from) + " " + Relative(to))
             ? __real_renameat2(in, from, to_in, to, flags)
             : -1;
}

int __wrap_unlink(const char* path) {
  return Begin("unlink", Relative(path)) ? __real_unlink(path) : -1;
}

}  // extern "C"
