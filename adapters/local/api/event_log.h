// What happens to jobs, for those who follow it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "adapters/local/controller/turn.h"
#include "adapters/serve/http_server.h"
#include "muster/ids.h"

namespace muster::local {

// The last events, in memory. Thread-safe.
class EventLog {
 public:
  EventLog() = default;
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  // Ids rise, and those of a later daemon are above those of an earlier one
  // unless the clock was set back. O(news + those who follow).
  void Add(const std::vector<JobNews>& news, Time now);

  // Events with ids above `after` that are still known, a line of JSON each:
  // {"id", "at", "job", "what", "text"}; with `follow`, those to come too. It
  // may outlive the log, and then ends.
  serve::BodySource Open(uint64_t after, bool follow);

  static constexpr size_t kKept = 1000;  // Events.

 private:
  struct Line {
    uint64_t id = 0;
    std::string text{};
  };
  struct Reading {
    uint64_t after = 0;
    bool follow = false;
  };
  struct Wish {
    std::weak_ptr<Reading> reading{};
    serve::PartReply reply{};
  };
  // Shared with the sources.
  struct Rooms {
    std::mutex mutex{};
    std::deque<Line> lines{};  // By id.
    std::vector<Wish> wishes{};
    uint64_t last = 0;

    // What the reading has not had; moves it on. Under the mutex.
    std::string Take(Reading* reading) const;
  };

  const std::shared_ptr<Rooms> rooms_ = std::make_shared<Rooms>();
};

}  // namespace muster::local
