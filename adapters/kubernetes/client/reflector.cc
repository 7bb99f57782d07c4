#include "adapters/kubernetes/client/reflector.h"

#include <algorithm>
#include <utility>

#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

// How much longer than it was asked for a watch may live.
constexpr Millis kWatchGrace = 30'000;
constexpr size_t kLongestRefusal = size_t{64} << 10;
constexpr int kExpired = 410;

}  // namespace

Reflector::Reflector(Transport* transport, ReflectorOptions options, Sink* sink)
    : transport_(transport),
      options_(std::move(options)),
      sink_(sink),
      backoff_(options_.backoff),
      lines_(options_.longest_event) {}

Reflector::~Reflector() { Stop(); }

void Reflector::Stop() {
  if (request_ != 0) transport_->Cancel(request_);
  if (state_ == State::kListing) Relist();
  GoOn(0);
}

Millis Reflector::Advance(Millis now) {
  if (state_ == State::kWatching) EndDeadWatch(now);
  if (has_delay_) {
    due_ = Later(now, delay_);
    has_delay_ = false;
  }
  if (state_ != State::kIdle) return next_look();
  if (now < due_) return due_;
  if (version_.empty()) {
    StartList();
  } else {
    StartWatch();
    watch_ends_ = Later(now, 2 * options_.watch_timeout + kWatchGrace);
    silent_since_ = now;
  }
  return next_look();
}

Millis Reflector::next_look() const {
  if (state_ != State::kWatching) return watch_ends_;
  return std::min(watch_ends_, Later(silent_since_, options_.watch_silence));
}

void Reflector::EndDeadWatch(Millis now) {
  if (std::exchange(heard_, false)) silent_since_ = now;
  if (now < next_look()) return;
  transport_->Cancel(request_);
  if (now >= watch_ends_) {
    return Failed(absl::DeadlineExceededError("the watch outlived its time"));
  }
  // A server that sends no bookmarks may have nothing to say.
  Failed(counts_.bookmarks == 0 ? absl::OkStatus()
                                : absl::DeadlineExceededError(
                                      "the watch was silent for too long"));
}

std::string Reflector::Query() const {
  std::string query;
  if (!options_.field_selector.empty()) {
    query +=
        Concat("&fieldSelector=", api::PercentEncoded(options_.field_selector));
  }
  if (!options_.label_selector.empty()) {
    query +=
        Concat("&labelSelector=", api::PercentEncoded(options_.label_selector));
  }
  return query;
}

void Reflector::StartList() {
  std::string path = Concat(options_.path, "?resourceVersion=");
  if (options_.page_limit > 0 && !unpaged_) {
    path += Concat("&limit=", options_.page_limit);
  }
  if (continue_token_.empty()) {
    sink_->OnListBegin();
  } else {
    path += Concat("&continue=", api::PercentEncoded(continue_token_));
  }
  path += Concat(Query());
  state_ = State::kListing;
  head_ = {};
  head_ok_ = false;
  body_.clear();
  watch_ends_ = kNever;
  request_ = transport_->Start(
      {.path = std::move(path), .timeout = options_.list_timeout}, this);
}

void Reflector::StartWatch() {
  const Millis longest =
      options_.watch_timeout +
      static_cast<Millis>(
          Mixed(options_.backoff.seed, timeouts_rolled_++) %
          static_cast<uint64_t>(std::max<Millis>(options_.watch_timeout, 1)));
  state_ = State::kWatching;
  head_ = {};
  head_ok_ = false;
  body_.clear();
  lines_.Reset();
  watch_had_news_ = false;
  heard_ = false;
  ++counts_.watches;
  request_ = transport_->Start(
      {.path = Concat(
           options_.path, "?watch=1&allowWatchBookmarks=true&resourceVersion=",
           api::PercentEncoded(version_),
           "&timeoutSeconds=", std::max<Millis>(longest / 1000, 1), Query()),
       .timeout = 0,
       .streaming = true},
      this);
}

void Reflector::OnHead(RequestId id, const ResponseHead& head) {
  if (id != request_) return;
  head_ = head;
  head_ok_ = head.status == 200;
}

void Reflector::OnData(RequestId id, std::string_view data) {
  if (id != request_) return;
  heard_ = true;
  if (state_ == State::kWatching && head_ok_) {
    const absl::Status fed = lines_.Feed(data);
    TakeLines();
    if (id == request_ && !fed.ok()) {
      transport_->Cancel(id);
      Failed(fed);
    }
    return;
  }
  const size_t most = head_ok_ ? options_.longest_list : kLongestRefusal;
  if (body_.size() + data.size() <= most) {
    body_.append(data);
  } else if (head_ok_) {
    transport_->Cancel(id);
    Relist();
    Failed(absl::ResourceExhaustedError(
        Concat("a page of the list is longer than ", most, " bytes")));
  }
}

void Reflector::OnEnd(RequestId id, const RequestEnd& end) {
  if (id != request_) return;
  request_ = 0;
  if (state_ == State::kListing) {
    EndList(end);
  } else {
    EndWatch(end);
  }
}

void Reflector::EndList(const RequestEnd& end) {
  if (!end.status.ok()) return Failed(end.status);
  if (!head_ok_) return Refused(ParseApiError(body_), head_.status);
  TakePage();
}

void Reflector::TakePage() {
  body_.reserve(body_.size() + kPadding);
  const auto metadata = reader_.ReadListMetadata(body_);
  const absl::Status taken =
      metadata.ok() ? sink_->OnListPage(body_) : metadata.status();
  if (!taken.ok()) {
    Relist();
    return Failed(taken);
  }
  ++counts_.pages;
  last_error_ = absl::OkStatus();
  last_refusal_ = 0;
  continue_token_ = metadata->continue_token;
  if (continue_token_.empty()) {
    version_ = metadata->resource_version;
    unpaged_ = false;
    fruitless_watches_ = 0;
    body_.clear();
    body_.shrink_to_fit();
    ++counts_.lists;
    sink_->OnListEnd();
  }
  GoOn(0);
}

void Reflector::EndWatch(const RequestEnd& end) {
  if (end.status.ok() && !head_ok_) {
    return Refused(ParseApiError(body_), head_.status);
  }
  if (!end.status.ok() && !watch_had_news_) return Failed(end.status);
  if (!watch_had_news_) {
    // A clean end, as API servers give early in their lives; not again at once.
    return Failed(absl::OkStatus());
  }
  GoOn(0);
}

void Reflector::TakeLines() {
  const RequestId id = request_;
  std::string_view line;
  while (request_ == id && lines_.Next(&line)) TakeEvent(line);
}

void Reflector::TakeEvent(std::string_view line) {
  const auto event = reader_.ReadEvent(line);
  absl::Status taken = event.status();
  if (taken.ok()) {
    if (event->type == EventType::kError) return TakeErrorEvent(event->object);
    if (event->type == EventType::kBookmark) {
      ++counts_.bookmarks;
    } else {
      ++counts_.events;
      taken = sink_->OnEvent(event->type, event->object);
    }
  }
  if (!taken.ok()) {
    transport_->Cancel(request_);
    Relist();
    return Failed(taken);
  }
  if (version_ == event->resource_version) return;
  version_ = event->resource_version;
  watch_had_news_ = true;
  fruitless_watches_ = 0;
  last_error_ = absl::OkStatus();
  last_refusal_ = 0;
  // Not by a list: one whose watches always fail must not be made in a loop.
  backoff_.Reset();
}

void Reflector::TakeErrorEvent(std::string_view object) {
  const ApiError error = ParseApiError(object);
  transport_->Cancel(request_);
  Refused(error, error.code);
}

void Reflector::Refused(const ApiError& error, int http_status) {
  if (http_status == kExpired || error.reason == "Expired" ||
      error.reason == "Gone") {
    return Expired(error.message);
  }
  last_refusal_ = http_status;
  Failed(ToStatus(http_status, error), std::max(head_.retry_after.value_or(0),
                                                error.retry_after.value_or(0)));
}

void Reflector::Expired(std::string_view why) {
  ++counts_.expired;
  // What a page's token points to is kept for some minutes only: a list that
  // was too slow for that is asked for as a whole.
  if (state_ == State::kListing && !continue_token_.empty()) unpaged_ = true;
  const Millis delay = watch_had_news_ ? 0 : backoff_.Next();
  last_error_ =
      absl::OutOfRangeError(Concat(options_.path, ": expired: ", why));
  Relist();
  GoOn(delay);
}

void Reflector::Failed(const absl::Status& why, Millis at_least) {
  if (!why.ok()) {
    ++counts_.failures;
    last_error_ =
        absl::Status(why.code(), Concat(options_.path, ": ", why.message()));
  }
  // Without an answer the server is away, and no reason to doubt the version.
  if (state_ == State::kWatching && head_.status != 0 &&
      ++fruitless_watches_ >= options_.watch_failures_to_relist) {
    Relist();
  }
  GoOn(std::max(backoff_.Next(), at_least));
}

void Reflector::GoOn(Millis delay) {
  state_ = State::kIdle;
  request_ = 0;
  watch_ends_ = kNever;
  delay_ = delay;
  has_delay_ = true;
}

void Reflector::Relist() {
  version_.clear();
  continue_token_.clear();
  fruitless_watches_ = 0;
}

}  // namespace muster::kubernetes::client
