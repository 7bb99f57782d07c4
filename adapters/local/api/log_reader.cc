#include "adapters/local/api/log_reader.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

namespace muster::local {
namespace {

constexpr std::chrono::milliseconds kReadEvery{100};

// The rights of this thread's accesses to files, until the end of the scope.
// Not to be had without being root, nor needed: all is the daemon's own then.
class FileRights {
 public:
  FileRights(uint32_t uid, uint32_t gid) : root_(geteuid() == 0) {
    if (!root_) return;
    setfsgid(gid);
    setfsuid(uid);
  }
  ~FileRights() {
    if (!root_) return;
    setfsuid(geteuid());
    setfsgid(getegid());
  }
  FileRights(const FileRights&) = delete;
  FileRights& operator=(const FileRights&) = delete;

 private:
  const bool root_;
};

// Nothing of a device, pipe or folder: a read of it may never end.
bool IsPlain(int fd, struct stat* is) {
  return fstat(fd, is) == 0 && S_ISREG(is->st_mode);
}

int OpenInFolder(const LogFile& file) {
  const int folder = open(file.folder.c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return -1;
  const int fd = openat(folder, file.path.c_str(),
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  close(folder);
  struct stat is = {};
  // Another's file may have been linked there.
  if (fd >= 0 && (!IsPlain(fd, &is) || is.st_uid != file.uid)) {
    close(fd);
    return -1;
  }
  return fd;
}

int OpenAnywhere(const LogFile& file) {
  const FileRights rights(file.uid, file.gid);
  const int fd = open(file.path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat is = {};
  if (fd >= 0 && !IsPlain(fd, &is)) {
    close(fd);
    return -1;
  }
  return fd;
}

}  // namespace

// Of one source; only the reader's thread looks into it.
struct LogReader::Reading {
  LogFile file{};
  uint64_t at = 0;
  uint64_t last = 0;
  bool follow = false;
  std::shared_ptr<const std::atomic<bool>> over{};
  int fd = -1;

  Reading() = default;
  ~Reading() {
    if (fd >= 0) close(fd);
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;
};

LogReader::LogReader() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LogReader::~LogReader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

serve::BodySource LogReader::Open(LogFile file, uint64_t from, bool follow,
                                  std::shared_ptr<const std::atomic<bool>> over,
                                  uint64_t last) {
  auto reading = std::make_shared<Reading>();
  reading->file = std::move(file);
  reading->at = from;
  reading->last = last;
  reading->follow = follow;
  reading->over = std::move(over);
  return [this, reading](const serve::PartReply& reply) {
    {
      const std::lock_guard lock(mutex_);
      wishes_.push_back({reading, reply});
    }
    woken_.notify_one();
  };
}

void LogReader::SkipToLast(Reading* reading) {
  struct stat is = {};
  if (reading->last == 0 || fstat(reading->fd, &is) != 0) return;
  const auto size = static_cast<uint64_t>(is.st_size);
  if (size > reading->last) {
    reading->at = std::max(reading->at, size - reading->last);
  }
}

bool LogReader::Give(const Wish& wish) {
  const auto reading = wish.reading.lock();
  if (reading == nullptr) return true;  // Nobody asks any more.
  // Before the read, so that it has all there is if this is true.
  const bool over = !reading->follow || *reading->over;
  if (reading->fd < 0) {
    const bool anywhere = reading->file.path.starts_with('/');
    reading->fd =
        anywhere ? OpenAnywhere(reading->file) : OpenInFolder(reading->file);
    if (reading->fd >= 0) SkipToLast(reading.get());
  }
  std::string bytes(kPart, '\0');
  ssize_t count = 0;
  if (reading->fd >= 0) {
    count = pread(reading->fd, bytes.data(), bytes.size(),
                  static_cast<off_t>(reading->at));
  }
  if (count > 0) {
    bytes.resize(static_cast<size_t>(count));
    reading->at += static_cast<uint64_t>(count);
    wish.reply({.bytes = std::move(bytes)});
    return true;
  }
  if (count == 0 && !over) return false;
  wish.reply({.last = true});
  return true;
}

void LogReader::Run() {
  // Of this thread alone, as the system call has it: root's groups may read
  // what a user may not.
  if (geteuid() == 0) syscall(SYS_setgroups, 0, nullptr);
  std::vector<Wish> idle;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto has_work = [&] { return stop_ || !wishes_.empty(); };
      if (idle.empty()) {
        woken_.wait(lock, has_work);
      } else {
        woken_.wait_for(lock, kReadEvery, has_work);
      }
      if (stop_) return;
      for (Wish& wish : wishes_) idle.push_back(std::move(wish));
      wishes_.clear();
    }
    std::erase_if(idle, [](const Wish& wish) { return Give(wish); });
  }
}

}  // namespace muster::local
