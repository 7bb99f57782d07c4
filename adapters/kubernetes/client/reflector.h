// A copy of one resource of the API server, kept up by list and watch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "adapters/kubernetes/client/backoff.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/line_splitter.h"
#include "adapters/kubernetes/client/transport.h"
#include "adapters/kubernetes/client/watch_event.h"

namespace muster::kubernetes::client {

// Takes what the reflector reads. Views hold during the call alone and have
// kPadding readable bytes behind them. An error says that the JSON cannot be
// read as a whole: the reflector waits and lists again. For one object that is
// merely wrong, return OK and report it elsewhere, else nothing else arrives.
// May not call the reflector.
class Sink {
 public:
  virtual ~Sink() = default;
  // A list begins. Pages of an earlier list that had no OnListEnd are void.
  virtual void OnListBegin() = 0;
  // A page of it, the whole body: {"items": [...], ...}.
  virtual absl::Status OnListPage(std::string_view body) = 0;
  // The list is complete: the resource's objects are those of its pages, and
  // what was there before and is in none of them has been deleted.
  virtual void OnListEnd() = 0;
  // kAdded, kModified or kDeleted, with the object as it is or last was.
  virtual absl::Status OnEvent(EventType type, std::string_view object) = 0;
};

struct ReflectorOptions {
  std::string path{};            // "/api/v1/pods"
  std::string field_selector{};  // "spec.schedulerName=muster"; not escaped.
  std::string label_selector{};
  int page_limit = 500;  // Objects a page; 0: one page.
  Millis list_timeout = 60'000;
  // The server ends a watch after a time between this and twice this; one that
  // stays half a minute longer is taken for dead.
  Millis watch_timeout = 300'000;
  // One that brings nothing for so long is begun again: an API server sends a
  // bookmark each minute, but may leave one in silence for good. More than two
  // minutes.
  Millis watch_silence = 150'000;
  size_t longest_list = size_t{1} << 30;  // Bytes of a page.
  size_t longest_event = size_t{32} << 20;
  // So many watches in turn that the server answers without anything new, and
  // it lists again.
  int watch_failures_to_relist = 3;
  BackoffOptions backoff{};
};

struct ReflectorCounts {
  uint64_t lists = 0;  // Complete ones.
  uint64_t pages = 0;
  uint64_t watches = 0;  // Started.
  uint64_t events = 0;   // Without bookmarks.
  uint64_t bookmarks = 0;
  uint64_t expired = 0;  // 410, or its ERROR event.
  uint64_t failures = 0;
};

// Lists with resourceVersion "" (the newest), then watches from there with
// bookmarks; resumes a watch that ended, wherever it was cut, at the last
// version that the sink has got; lists again if that is too old. Each change
// reaches the sink once, in order, or is part of a later list.
//
// Runs on its transport's thread. The owner's loop is:
//   transport.Poll(wait); now = clock(); reflector.Advance(now);
class Reflector final : public Receiver {
 public:
  // The transport and the sink are not owned and outlive the reflector.
  Reflector(Transport* transport, ReflectorOptions options, Sink* sink);
  ~Reflector() override;
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Does what is due, and returns when to call again at the latest (sooner
  // after any Poll that delivered something). `now` never goes back. O(1).
  Millis Advance(Millis now);
  // Cancels what is under way; Advance goes on from the last version.
  void Stop();

  // A list was complete since the beginning.
  bool synced() const { return counts_.lists > 0; }
  // A watch is open, as far as one can know: the sink is up to date but for
  // what is on its way.
  bool watching() const { return state_ == State::kWatching && head_ok_; }
  const std::string& resource_version() const { return version_; }
  const ReflectorCounts& counts() const { return counts_; }
  // Why it last failed, OK after a success: names the path, never a secret.
  const absl::Status& last_error() const { return last_error_; }
  // HTTP status of the last refusal, 0 after a success: 404 means that the
  // resource is not served, 403 that it may not be read.
  int last_refusal() const { return last_refusal_; }

  void OnHead(RequestId id, const ResponseHead& head) override;
  void OnData(RequestId id, std::string_view data) override;
  void OnEnd(RequestId id, const RequestEnd& end) override;

 private:
  enum class State { kIdle, kListing, kWatching };

  std::string Query() const;
  void StartList();
  void StartWatch();
  void EndList(const RequestEnd& end);
  void EndWatch(const RequestEnd& end);
  void TakePage();
  void TakeLines();
  void TakeEvent(std::string_view line);
  void TakeErrorEvent(std::string_view object);
  // Gives a watch up that is silent, or outlived its time.
  void EndDeadWatch(Millis now);
  // When Advance has something to do at the latest, unless it is idle.
  Millis next_look() const;
  // What the server said instead: 410 and others.
  void Refused(const ApiError& error, int http_status);
  void Expired(std::string_view why);
  // The request is over; the next one starts after a back-off, or `at_least`.
  void Failed(const absl::Status& why, Millis at_least = 0);
  void GoOn(Millis delay);
  void Relist();

  Transport* transport_;
  ReflectorOptions options_;
  Sink* sink_;
  Backoff backoff_;
  uint64_t timeouts_rolled_ = 0;

  State state_ = State::kIdle;
  RequestId request_ = 0;
  ResponseHead head_{};
  bool head_ok_ = false;
  std::string body_{};  // Of a list's page or a refusal.
  LineSplitter lines_;
  WatchReader reader_{};

  std::string version_{};         // "" before the next list.
  std::string continue_token_{};  // Of the list that is under way.
  bool unpaged_ = false;          // A continue token expired: all at once.
  int fruitless_watches_ = 0;
  bool watch_had_news_ = false;
  bool heard_ = false;       // Of the watch, since the last Advance.
  Millis silent_since_ = 0;  // While it is open.

  Millis delay_ = 0;  // From the next Advance on, if `has_delay_`.
  bool has_delay_ = false;
  Millis due_ = 0;  // When to start, while idle.
  Millis watch_ends_ = kNever;

  ReflectorCounts counts_{};
  absl::Status last_error_ = absl::OkStatus();
  int last_refusal_ = 0;
};

}  // namespace muster::kubernetes::client
