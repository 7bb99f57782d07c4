// Writes to the API server: urgent ones first, a bounded number at a time, each
// with its tries and one outcome.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "adapters/kubernetes/client/backoff.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes::client {

// More urgent first.
enum class Urgency { kDecision, kStatus, kEvent };
inline constexpr size_t kUrgencies = 3;

enum class OutcomeKind {
  kDone,     // 2xx.
  kRefused,  // The server says that it did nothing: `http_status`, `error`.
  // The connection broke after the request was written, or the server says
  // that something went wrong inside it: done or not.
  kUnknown,
  // The last try wrote nothing to a connection, and none before did anything.
  kNotSent,
  kDropped,  // It made room for a newer event.
};

struct Outcome {
  OutcomeKind kind = OutcomeKind::kNotSent;
  int http_status = 0;                        // 0: the last try had no answer.
  ApiError error{};                           // Of a status outside 2xx.
  std::string body{};                         // Of a 2xx.
  absl::Status transport = absl::OkStatus();  // Why there was no answer.
  int tries = 0;
  // An earlier try may have been carried out, so that this answer can be to
  // oneself: AlreadyExists after one's own POST.
  bool earlier_try_unknown = false;
};

using OnOutcome = std::function<void(const Outcome&)>;

struct Write {
  HttpRequest http{};
  Urgency urgency = Urgency::kDecision;
  // Writes with the same key that is not empty go one after another, in the
  // order they came in, whatever their urgency.
  std::string key{};
  // May be tried again while it is unknown whether a try was carried out.
  bool idempotent = false;
  // 429 is tried again; false for an eviction, whose 429 is an answer.
  bool retry_429 = true;
  int most_tries = 5;
  // No try starts at or after this time.
  Millis last_start = kNever;
};

struct RequestQueueOptions {
  // Writes under way at a time: of this urgency and less urgent ones together.
  std::array<int, kUrgencies> in_flight{32, 16, 4};
  // Writes that wait, by urgency. A further event drops the oldest one;
  // further others are not taken.
  std::array<size_t, kUrgencies> most_waiting{200'000, 50'000, 10'000};
  BackoffOptions backoff{};
};

struct RequestQueueCounts {
  uint64_t tries = 0;
  uint64_t retries = 0;
  uint64_t unknown = 0;
  uint64_t dropped_events = 0;
};

// Tried again: 429 and 503 with Retry-After (the server did nothing) always;
// what was not sent, always; other 5xx and broken connections if idempotent.
// Not before Retry-After or a back-off, at most `most_tries` times.
//
// Runs on its transport's thread; the owner's loop is that of Reflector.
// Outcomes are delivered by Transport::Poll, Advance or, for a dropped event,
// Submit; they may call Submit.
class RequestQueue final : public Receiver {
 public:
  // The transport is not owned and outlives the queue.
  RequestQueue(Transport* transport, RequestQueueOptions options);
  // Cancels what is under way; nobody is told.
  ~RequestQueue() override;
  RequestQueue(const RequestQueue&) = delete;
  RequestQueue& operator=(const RequestQueue&) = delete;

  // `on_outcome` is called exactly once after an OK, and never after
  // RESOURCE_EXHAUSTED (too many wait). O(log n).
  absl::Status Submit(Write write, OnOutcome on_outcome);
  // No try starts at or after this time (a leader's lease), whatever the write
  // allows; what waits, waits. kNever at first.
  void MayStartUntil(Millis time) { may_start_until_ = time; }
  // Starts what is due, gives up what is too late; returns when to call again
  // at the latest (sooner after any Poll that delivered something, and after
  // Submit). O(log n) for each write that moves.
  Millis Advance(Millis now);
  // Ends each write that waits by what its last try came to, or kNotSent.
  void DropWaiting();

  size_t waiting(Urgency urgency) const {
    return waiting_[static_cast<size_t>(urgency)].size();
  }
  size_t in_flight() const { return requests_.size(); }
  const RequestQueueCounts& counts() const { return counts_; }

  void OnHead(RequestId id, const ResponseHead& head) override;
  void OnData(RequestId id, std::string_view data) override;
  void OnEnd(RequestId id, const RequestEnd& end) override;

 private:
  using Sequence = uint64_t;  // Order of submission.
  enum class Place { kBehindKey, kReady, kNewBackOff, kBackingOff, kUnderWay };
  struct Item {
    Write write{};
    OnOutcome on_outcome{};
    Place place = Place::kBehindKey;
    // How long to back off (kNewBackOff), until when (kBackingOff).
    Millis due = 0;
    ResponseHead head{};  // Of the try under way.
    std::string body{};
    Outcome last{};  // Of the last try.
  };
  using Items = std::map<Sequence, Item>;

  // Takes an item out of the sets that its place stands for, or puts it in.
  void Leave(Sequence sequence, const Item& item);
  void Enter(Sequence sequence, Item* item, Place place);
  bool HasRoom(size_t urgency) const;
  void Start(Sequence sequence, Item* item);
  void EndLate(Millis now);
  void EndBackOffs(Millis now);
  // What a try that ended came to, and whether it is worth another one.
  Outcome Judge(Item* item, const RequestEnd& end) const;
  void Settle(Outcome* outcome);
  bool MayRetry(const Item& item, const Outcome& outcome) const;
  // Ends an item that waits by what its last try came to.
  void GiveUp(Items::iterator it, OutcomeKind untried);
  void Finish(Items::iterator it, Outcome outcome);

  Transport* transport_;
  RequestQueueOptions options_;
  Millis may_start_until_ = kNever;
  Sequence next_ = 1;
  Items items_{};
  // In all places but one.
  std::array<absl::btree_set<Sequence>, kUrgencies> waiting_{};
  std::array<absl::btree_set<Sequence>, kUrgencies> ready_{};
  absl::btree_set<Sequence> new_back_offs_{};
  absl::btree_set<std::pair<Millis, Sequence>> back_offs_{};
  // Of what waits.
  absl::btree_set<std::pair<Millis, Sequence>> last_starts_{};
  // Ascending; the first has the turn.
  absl::flat_hash_map<std::string, absl::InlinedVector<Sequence, 2>> keys_{};
  absl::flat_hash_map<RequestId, Sequence> requests_{};
  std::array<int, kUrgencies> under_way_{};
  RequestQueueCounts counts_{};
};

}  // namespace muster::kubernetes::client
