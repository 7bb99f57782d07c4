#include "adapters/kubernetes/client/request_queue.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

size_t IndexOf(Urgency urgency) { return static_cast<size_t>(urgency); }

bool IsSuccess(int http_status) {
  return http_status >= 200 && http_status < 300;
}

std::optional<Millis> RetryAfter(const ResponseHead& head,
                                 const ApiError& error) {
  return head.retry_after ? head.retry_after : error.retry_after;
}

// An answer of the server to a try, without what earlier tries came to.
OutcomeKind KindOf(const ResponseHead& head, const ApiError& error) {
  if (IsSuccess(head.status)) return OutcomeKind::kDone;
  // Overload is told before anything is done, and with a time; a 503 without
  // one can be a gateway's that lost its server.
  const bool turned_away = head.status == 503 && RetryAfter(head, error);
  return head.status < 500 || turned_away ? OutcomeKind::kRefused
                                          : OutcomeKind::kUnknown;
}

}  // namespace

RequestQueue::RequestQueue(Transport* transport, RequestQueueOptions options)
    : transport_(transport), options_(options) {}

RequestQueue::~RequestQueue() {
  for (const auto& [id, sequence] : requests_) transport_->Cancel(id);
}

absl::Status RequestQueue::Submit(Write write, OnOutcome on_outcome) {
  const size_t urgency = IndexOf(write.urgency);
  const bool full = waiting_[urgency].size() >= options_.most_waiting[urgency];
  if (full && (write.urgency != Urgency::kEvent || waiting_[urgency].empty())) {
    return absl::ResourceExhaustedError(Concat("more than ",
                                               options_.most_waiting[urgency],
                                               " writes of this urgency wait"));
  }
  if (full) {
    ++counts_.dropped_events;
    GiveUp(items_.find(*waiting_[urgency].begin()), OutcomeKind::kDropped);
  }
  write.http.idempotent = write.idempotent;
  const Sequence sequence = next_++;
  Item& item = items_[sequence];
  item.write = std::move(write);
  item.on_outcome = std::move(on_outcome);
  const std::string& key = item.write.key;
  bool turn = true;
  if (!key.empty()) {
    auto& line = keys_[key];
    line.push_back(sequence);
    turn = line.size() == 1;
  }
  Enter(sequence, &item, turn ? Place::kReady : Place::kBehindKey);
  return absl::OkStatus();
}

void RequestQueue::Leave(Sequence sequence, const Item& item) {
  const size_t urgency = IndexOf(item.write.urgency);
  if (item.place == Place::kUnderWay) {
    --under_way_[urgency];
    return;
  }
  waiting_[urgency].erase(sequence);
  if (item.write.last_start != kNever) {
    last_starts_.erase({item.write.last_start, sequence});
  }
  ready_[urgency].erase(sequence);
  new_back_offs_.erase(sequence);
  back_offs_.erase({item.due, sequence});
}

void RequestQueue::Enter(Sequence sequence, Item* item, Place place) {
  const size_t urgency = IndexOf(item->write.urgency);
  item->place = place;
  if (place == Place::kUnderWay) {
    ++under_way_[urgency];
    return;
  }
  waiting_[urgency].insert(sequence);
  if (item->write.last_start != kNever) {
    last_starts_.insert({item->write.last_start, sequence});
  }
  if (place == Place::kReady) ready_[urgency].insert(sequence);
  if (place == Place::kNewBackOff) new_back_offs_.insert(sequence);
  if (place == Place::kBackingOff) back_offs_.insert({item->due, sequence});
}

bool RequestQueue::HasRoom(size_t urgency) const {
  int together = 0;
  for (size_t u = kUrgencies; u-- > 0;) {
    together += under_way_[u];
    if (u <= urgency && together >= options_.in_flight[u]) return false;
  }
  return true;
}

Millis RequestQueue::Advance(Millis now) {
  EndBackOffs(now);
  EndLate(now);
  for (size_t u = 0; u < kUrgencies && now < may_start_until_; ++u) {
    while (!ready_[u].empty() && HasRoom(u)) {
      const Sequence sequence = *ready_[u].begin();
      Start(sequence, &items_.at(sequence));
    }
  }
  Millis next = kNever;
  if (!back_offs_.empty()) next = back_offs_.begin()->first;
  if (!last_starts_.empty()) next = std::min(next, last_starts_.begin()->first);
  return next;
}

void RequestQueue::EndBackOffs(Millis now) {
  for (const Sequence sequence :
       std::vector<Sequence>(new_back_offs_.begin(), new_back_offs_.end())) {
    Item& item = items_.at(sequence);
    Leave(sequence, item);
    item.due = Later(now, item.due);
    Enter(sequence, &item, Place::kBackingOff);
  }
  while (!back_offs_.empty() && back_offs_.begin()->first <= now) {
    const Sequence sequence = back_offs_.begin()->second;
    Item& item = items_.at(sequence);
    Leave(sequence, item);
    Enter(sequence, &item, Place::kReady);
  }
}

void RequestQueue::EndLate(Millis now) {
  while (!last_starts_.empty() && last_starts_.begin()->first <= now) {
    GiveUp(items_.find(last_starts_.begin()->second), OutcomeKind::kNotSent);
  }
}

void RequestQueue::Start(Sequence sequence, Item* item) {
  Leave(sequence, *item);
  Enter(sequence, item, Place::kUnderWay);
  item->head = {};
  item->body.clear();
  ++counts_.tries;
  if (item->last.tries++ > 0) ++counts_.retries;
  // The body is kept for another try only where there can be one.
  const bool last_try = item->last.tries >= item->write.most_tries;
  HttpRequest http = last_try ? std::move(item->write.http) : item->write.http;
  http.send_before = std::min(may_start_until_, item->write.last_start);
  const RequestId id = transport_->Start(std::move(http), this);
  requests_[id] = sequence;
}

void RequestQueue::OnHead(RequestId id, const ResponseHead& head) {
  const auto it = requests_.find(id);
  if (it != requests_.end()) items_.at(it->second).head = head;
}

void RequestQueue::OnData(RequestId id, std::string_view data) {
  constexpr size_t kLongestBody = size_t{8} << 20;
  const auto it = requests_.find(id);
  if (it == requests_.end()) return;
  std::string& body = items_.at(it->second).body;
  if (body.size() + data.size() <= kLongestBody) body.append(data);
}

void RequestQueue::OnEnd(RequestId id, const RequestEnd& end) {
  const auto request = requests_.find(id);
  if (request == requests_.end()) return;
  const auto it = items_.find(request->second);
  requests_.erase(request);
  Item& item = it->second;
  Outcome outcome = Judge(&item, end);
  if (!MayRetry(item, outcome)) {
    Settle(&outcome);
    return Finish(it, std::move(outcome));
  }
  Leave(it->first, item);
  item.due = std::max(BackoffWait(options_.backoff, outcome.tries, it->first),
                      RetryAfter(item.head, outcome.error).value_or(0));
  item.last = std::move(outcome);
  Enter(it->first, &item, Place::kNewBackOff);
}

Outcome RequestQueue::Judge(Item* item, const RequestEnd& end) const {
  const Outcome& last = item->last;
  Outcome outcome{.http_status = item->head.status, .tries = last.tries};
  outcome.earlier_try_unknown =
      last.earlier_try_unknown || last.kind == OutcomeKind::kUnknown;
  if (item->head.status == 0) {
    outcome.kind = end.sent ? OutcomeKind::kUnknown : OutcomeKind::kNotSent;
    outcome.transport =
        end.status.ok() ? absl::UnavailableError("no answer") : end.status;
    return outcome;
  }
  // The status is the answer, even if the body was cut behind it.
  outcome.transport = end.status;
  if (IsSuccess(item->head.status)) {
    outcome.body = std::move(item->body);
  } else {
    outcome.error = ParseApiError(item->body);
  }
  outcome.kind = KindOf(item->head, outcome.error);
  return outcome;
}

// A last try that was not looked at says nothing of those before.
void RequestQueue::Settle(Outcome* outcome) {
  const bool looked_at =
      outcome->kind == OutcomeKind::kDone ||
      (outcome->kind == OutcomeKind::kRefused && outcome->http_status != 429 &&
       outcome->http_status != 503);
  if (outcome->earlier_try_unknown && !looked_at) {
    outcome->kind = OutcomeKind::kUnknown;
  }
  if (outcome->kind == OutcomeKind::kUnknown) ++counts_.unknown;
}

bool RequestQueue::MayRetry(const Item& item, const Outcome& outcome) const {
  if (outcome.tries >= item.write.most_tries) return false;
  switch (outcome.kind) {
    case OutcomeKind::kNotSent:
      return true;
    case OutcomeKind::kUnknown:
      return item.write.idempotent;
    case OutcomeKind::kRefused:
      return outcome.http_status == 503 ||
             (outcome.http_status == 429 && item.write.retry_429);
    case OutcomeKind::kDone:
    case OutcomeKind::kDropped:
      return false;
  }
  return false;
}

void RequestQueue::GiveUp(Items::iterator it, OutcomeKind untried) {
  Outcome outcome = std::move(it->second.last);
  if (outcome.tries == 0) outcome.kind = untried;
  Settle(&outcome);
  Finish(it, std::move(outcome));
}

void RequestQueue::Finish(Items::iterator it, Outcome of_item) {
  const Outcome outcome = std::move(of_item);  // The item goes.
  const Sequence sequence = it->first;
  Leave(sequence, it->second);
  const OnOutcome on_outcome = std::move(it->second.on_outcome);
  const std::string key = std::move(it->second.write.key);
  items_.erase(it);
  if (!key.empty()) {
    const auto line = keys_.find(key);
    line->second.erase(std::ranges::find(line->second, sequence));
    if (line->second.empty()) {
      keys_.erase(line);
    } else {
      const Sequence next = line->second.front();
      Item& item = items_.at(next);
      if (item.place == Place::kBehindKey) {
        Leave(next, item);
        Enter(next, &item, Place::kReady);
      }
    }
  }
  if (on_outcome) on_outcome(outcome);
}

void RequestQueue::DropWaiting() {
  std::vector<Sequence> sequences;
  for (const auto& waiting : waiting_) {
    sequences.insert(sequences.end(), waiting.begin(), waiting.end());
  }
  for (const Sequence sequence : sequences) {
    const auto it = items_.find(sequence);
    if (it != items_.end()) GiveUp(it, OutcomeKind::kNotSent);
  }
}

}  // namespace muster::kubernetes::client
