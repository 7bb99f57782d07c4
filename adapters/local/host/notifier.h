// Notifier: a command that is run when something happens to a job.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "adapters/local/controller/turn.h"
#include "adapters/local/model/job_row.h"

namespace muster::local {

// What a command can be run for: of JobNews::what.
inline constexpr std::array<std::string_view, 8> kNotifiable = {
    "submitted", "started",   "preempted", "restarting",
    "suspended", "succeeded", "failed",    "cancelled"};

struct NotifyRule {
  // The first word is a program's absolute path; empty: nothing is run.
  std::vector<std::string> command{};
  std::vector<std::string> on{"succeeded", "failed", "cancelled"};
};

// What it is told is run in that order, one after another, each for half a
// minute at most, by a thread of its own: with the environment of this process
// and MUSTER_EVENT, MUSTER_JOB_ID, MUSTER_JOB_NAME, MUSTER_JOB_UID,
// MUSTER_JOB_QUEUE, MUSTER_JOB_PHASE, MUSTER_JOB_REASON and, of a job that has
// ended, MUSTER_JOB_CODE; with no input, and its output thrown away. What comes
// when a thousand wait, or five hundred of its user, is not told, which is
// said. What waits when the process
// ends is not told either.
class Notifier {
 public:
  explicit Notifier(NotifyRule rule);
  ~Notifier();  // A command that runs runs on.
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  // The rows are those that the turn of the news has changed. Any thread.
  // O(news x rows).
  void Tell(std::span<const JobNews> news, std::span<const JobRow> rows);

 private:
  using Variables = std::vector<std::string>;  // "NAME=VALUE".
  struct Event {
    std::optional<uint32_t> uid{};  // Whose job it is, if that is known.
    Variables variables{};
  };

  void Loop();
  // False: it is over before the command has ended.
  bool Run(const Variables& variables);

  const NotifyRule rule_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Event> waiting_{};
  std::map<uint32_t, size_t> of_user_{};  // Of those that wait.
  uint64_t untold_ = 0;
  bool over_ = false;
  int over_fd_ = -1;  // An eventfd.
  std::thread thread_;
};

}  // namespace muster::local
