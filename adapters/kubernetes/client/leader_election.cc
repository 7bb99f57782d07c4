#include "adapters/kubernetes/client/leader_election.h"

#include <algorithm>

#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/api/unix_time.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {

LeaderElection::LeaderElection(ElectionOptions options)
    : options_(std::move(options)) {
  // Whole seconds, as the record has it.
  options_.duration = std::max<Millis>((options_.duration + 999) / 1000, 1);
  options_.duration *= 1000;
}

std::string LeaderElection::CollectionPath() const {
  return Concat("/apis/coordination.k8s.io/v1/namespaces/",
                api::PercentEncoded(options_.namespace_name), "/leases");
}

HttpRequest LeaderElection::Request(Open open, std::string body) {
  open_ = open;
  HttpRequest request{.body = std::move(body),
                      .timeout = options_.request_timeout,
                      .idempotent = open == Open::kGet};
  request.path = CollectionPath();
  if (open != Open::kPost) {
    request.path += Concat("/", api::PercentEncoded(options_.name));
  }
  if (open == Open::kGet) return request;
  request.method = open == Open::kPost ? "POST" : "PUT";
  request.content_type = kJsonType;
  return request;
}

std::optional<HttpRequest> LeaderElection::Step(Millis now,
                                                api::UnixMillis wall) {
  if (now < NextStep()) return std::nullopt;
  sent_ = now;
  if (release_due_) {
    release_due_ = false;
    Lease released = seen_;
    released.holder = "";
    released.duration = 1000;
    released.renew_time = api::FormatMicroTime(wall);
    return Request(Open::kRelease, WriteLease(released, options_.namespace_name,
                                              options_.name));
  }
  const bool may_claim =
      known_ == Known::kMissing ||
      (known_ == Known::kRecord && (IsOwn(seen_) || now >= lease_ends_));
  if (!may_claim) return Request(Open::kGet, "");
  return Request(
      known_ == Known::kMissing ? Open::kPost : Open::kPut,
      WriteLease(Claim(wall), options_.namespace_name, options_.name));
}

Millis LeaderElection::NextStep() const {
  if (open_ != Open::kNone) return kNever;
  if (resigning_) return release_due_ ? 0 : kNever;
  return next_;
}

Lease LeaderElection::Claim(api::UnixMillis wall) const {
  Lease claim = known_ == Known::kRecord ? seen_ : Lease{};
  claim.renew_time = api::FormatMicroTime(wall);
  if (!IsOwn(claim)) {
    claim.holder = options_.identity;
    claim.acquire_time = claim.renew_time;
    ++claim.transitions;
  }
  claim.duration = options_.duration;
  return claim;
}

void LeaderElection::OnAnswer(Millis now, int http_status,
                              std::string_view body) {
  const Open was = std::exchange(open_, Open::kNone);
  if (was == Open::kRelease || was == Open::kNone) return;
  if (http_status == 404 && was != Open::kPost) return OnMissing(now);
  if (http_status != 200 && http_status != 201) {
    return Fail(now, ToStatus(http_status, ParseApiError(body)));
  }
  auto lease = ReadLease(body);
  if (!lease.ok()) return Fail(now, lease.status());
  last_error_ = absl::OkStatus();
  if (was == Open::kGet) return Observe(now, *std::move(lease));
  // An object that is gone is made anew by a PUT, too.
  const bool created =
      http_status == 201 || was == Open::kPost || lease->uid != seen_.uid;
  OnClaimed(now, created, *std::move(lease));
}

void LeaderElection::OnNoAnswer(Millis now) {
  const Open was = std::exchange(open_, Open::kNone);
  if (was == Open::kRelease || was == Open::kNone) return;
  Fail(now, absl::UnavailableError("no answer"));
}

void LeaderElection::Fail(Millis now, const absl::Status& why) {
  last_error_ =
      absl::Status(why.code(), Concat("Lease ", options_.namespace_name, "/",
                                      options_.name, ": ", why.message()));
  known_ = Known::kNothing;
  release_due_ = false;
  // The lease was taken by another, or an own write was late: look soon.
  const bool conflict = absl::IsAborted(why) || absl::IsAlreadyExists(why);
  next_ = Later(now, Jitter() + (conflict ? 0 : options_.retry_every));
}

void LeaderElection::WaitForUnseen(Millis now, Millis duration) {
  lease_ends_ = std::max(
      lease_ends_,
      Later(now, std::max({options_.duration, duration, seen_.duration})));
}

void LeaderElection::Observe(Millis now, Lease lease) {
  const bool changed = lease.resource_version != seen_.resource_version;
  const bool created = lease.uid != seen_.uid;
  const Millis duration =
      lease.duration > 0 ? lease.duration : options_.duration;
  if (lease.holder.empty()) {
    // Given back by one who had waited for all before him.
    if (changed) lease_ends_ = now;
  } else if (created) {
    WaitForUnseen(now, duration);
  } else if (changed && !IsOwn(lease)) {
    lease_ends_ = Later(now, duration);
  }
  if (!IsOwnTerm(lease)) {
    leading_ = false;
    term_.reset();
  }
  seen_ = std::move(lease);
  known_ = Known::kRecord;
  release_due_ = release_due_ && term_.has_value();
  const Millis look_again = Later(now, options_.renew_every + Jitter());
  next_ = IsOwn(seen_) ? now : std::min(look_again, std::max(now, lease_ends_));
}

void LeaderElection::OnClaimed(Millis now, bool created, Lease lease) {
  if (created) WaitForUnseen(now, lease.duration);
  const bool goes_on = !created && IsOwnTerm(lease);
  seen_ = std::move(lease);
  known_ = Known::kRecord;
  next_ = Later(sent_, options_.renew_every);
  if (!IsOwn(seen_)) {  // No server answers so.
    leading_ = false;
    term_.reset();
    return;
  }
  if (!goes_on) {
    term_.emplace(seen_.uid, seen_.transitions);
    may_decide_from_ = Later(lease_ends_, options_.longest_request);
    release_due_ = false;
  }
  may_act_until_ = Later(sent_, options_.duration - options_.margin);
  leading_ = !resigning_;
}

void LeaderElection::OnMissing(Millis now) {
  last_error_ = absl::OkStatus();
  WaitForUnseen(now, 0);
  known_ = Known::kMissing;
  seen_ = {};
  release_due_ = false;
  next_ = now;
}

void LeaderElection::Resign(Millis now) {
  if (resigning_) return;
  resigning_ = true;
  release_due_ = leading_ && now >= may_decide_from_ && IsOwnTerm(seen_);
  leading_ = false;
}

}  // namespace muster::kubernetes::client
