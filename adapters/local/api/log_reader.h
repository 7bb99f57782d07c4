// What tasks write, for those who read or follow it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/serve/http_server.h"

namespace muster::local {

struct LogFile {
  std::string folder{};  // Of the attempt.
  // The name of a file there, which is to be the user's own and no link; or an
  // absolute path, which is opened with the user's rights.
  std::string path{};
  uint32_t uid = 0;
  uint32_t gid = 0;
};

// One thread of its own, so that a file system that hangs holds up nobody else.
// As root it opens files with the rights of their user and no further groups,
// so that nobody reads through it what he may not. Thread-safe.
class LogReader {
 public:
  LogReader();
  // Sources that are left give nothing any more.
  ~LogReader();
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  // From byte `from` to the end, or the last `last` bytes of that if that is
  // not 0, at most kPart bytes at a time. With `follow`, what is written later
  // too, until `*over` is true: nothing more will come. A file that is not
  // there has nothing in it yet. Sources do not outlive the reader.
  serve::BodySource Open(LogFile file, uint64_t from, bool follow,
                         std::shared_ptr<const std::atomic<bool>> over,
                         uint64_t last = 0);

  static constexpr size_t kPart = size_t{64} << 10;

 private:
  struct Reading;
  struct Wish {
    std::weak_ptr<Reading> reading{};
    serve::PartReply reply{};
  };

  void Run();
  static void SkipToLast(Reading* reading);
  // False: there is nothing to give yet.
  static bool Give(const Wish& wish);

  std::mutex mutex_{};
  std::condition_variable woken_{};
  std::vector<Wish> wishes_{};
  bool stop_ = false;
  std::thread thread_{};
};

}  // namespace muster::local
