// Which of several replicas acts: a state machine on a Lease.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "adapters/kubernetes/api/objects.h"
#include "adapters/kubernetes/client/backoff.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/lease.h"
#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes::client {

struct ElectionOptions {
  std::string namespace_name{};
  std::string name{};
  // Of this process alone, not of its pod: a restarted process is another
  // candidate, since requests of the former one may still be under way. With ""
  // it never leads.
  std::string identity{};
  Millis duration = 15'000;  // Of the lease, whole seconds.
  Millis renew_every = 3'000;
  Millis retry_every = 1'000;      // After a failure.
  Millis request_timeout = 5'000;  // Of the election's own requests.
  // A leader stops so long before its lease ends. Covers clocks that run at
  // different speeds: at least 2 e duration + e longest_request for a
  // difference of e, 0.4 s of the defaults for 1 %.
  Millis margin = 2'000;
  // The longest that a request which a leader started can take to be carried
  // out, with its time-out and the server's own.
  Millis longest_request = 10'000;
  uint64_t seed = 1;  // Of the jitter of candidates that wait.
};

// The law: between the last request that a leader starts and the first decision
// of the next leader lies more than `longest_request`, whatever the network
// loses or delays, however long processes stand still, and whatever their
// clocks show, if these run at about the same speed (`margin`).
//
// Why it holds: a leader counts its lease from when it sent the write that the
// server confirmed; a candidate counts it from when it saw the record change,
// which is later, and takes the record by its resourceVersion, which fails if
// the leader has renewed it since.
//
// Not thread-safe; all functions take O(size of the Lease). `now` is of the
// local monotonic clock and never goes back.
class LeaderElection {
 public:
  explicit LeaderElection(ElectionOptions options);

  // The request to send now, if one is due; `wall` is written into the record.
  // After a request, call OnAnswer or OnNoAnswer once before asking again.
  std::optional<HttpRequest> Step(Millis now, api::UnixMillis wall);
  // When Step has something to do again; kNever while a request is open.
  Millis NextStep() const;
  // What came of the request. A body that cannot be read counts as a failure.
  void OnAnswer(Millis now, int http_status, std::string_view body);
  // Timed out, broken, cancelled: it may or may not have been carried out.
  void OnNoAnswer(Millis now);

  // Requests to the cluster may be started before this time, not at it: 0 if
  // this is not the leader. Ask again right before each start.
  Millis MayActUntil() const { return leading_ ? may_act_until_ : 0; }
  // From when on a leader may decide, by lists that were begun no earlier;
  // kNever if this is not the leader.
  Millis MayDecideFrom() const { return leading_ ? may_decide_from_ : kNever; }
  bool MayAct(Millis now) const {
    return now < MayActUntil() && now >= MayDecideFrom();
  }

  // Leads no more at once, and gives the lease back with the next Step that has
  // a request, the last one. It is kept until its end if the wait for earlier
  // leaders is not over: the next one would not know of them.
  void Resign(Millis now);
  // After Resign: Step has nothing more to send.
  bool resigned() const {
    return resigning_ && !release_due_ && open_ == Open::kNone;
  }

  // Who leads by the record that was last seen; "" if nobody or unknown.
  const std::string& holder() const { return seen_.holder; }
  const absl::Status& last_error() const { return last_error_; }

 private:
  enum class Open { kNone, kGet, kPut, kPost, kRelease };

  std::string CollectionPath() const;
  HttpRequest Request(Open open, std::string body);
  // The record with which this takes or keeps the lease.
  Lease Claim(api::UnixMillis wall) const;
  bool IsOwn(const Lease& lease) const {
    // Without an identity, a lease that was given back would seem one's own.
    return !lease.holder.empty() && lease.holder == options_.identity;
  }
  // The record that was last led by, whatever was renewed since.
  bool IsOwnTerm(const Lease& lease) const {
    return IsOwn(lease) && term_ && term_->first == lease.uid &&
           term_->second == lease.transitions;
  }
  // No earlier holder of a record that is gone acts longer than that.
  void WaitForUnseen(Millis now, Millis duration);
  void Observe(Millis now, Lease lease);
  void OnClaimed(Millis now, bool created, Lease lease);
  void OnMissing(Millis now);
  void Fail(Millis now, const absl::Status& why);
  Millis Jitter() {
    return static_cast<Millis>(Mixed(options_.seed, rolls_++) % 300);
  }

  ElectionOptions options_;
  Open open_ = Open::kNone;
  Millis sent_ = 0;  // The request that is open.
  Millis next_ = 0;
  uint64_t rolls_ = 0;

  enum class Known { kNothing, kMissing, kRecord };
  Known known_ = Known::kNothing;  // What the server had when last asked.
  Lease seen_{};                   // The last record that was seen or written.
  // When everybody else's lease has certainly ended.
  Millis lease_ends_ = 0;

  bool leading_ = false;
  Millis may_act_until_ = 0;
  Millis may_decide_from_ = kNever;
  std::optional<std::pair<std::string, int64_t>> term_{};  // uid, transitions.

  bool resigning_ = false;
  bool release_due_ = false;
  absl::Status last_error_ = absl::OkStatus();
};

}  // namespace muster::kubernetes::client
