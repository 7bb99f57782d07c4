// A transport that plays what a server once said, or might have.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes::client {

// What becomes of one request.
struct Recording {
  int status = 200;  // 0: no head comes.
  std::vector<std::string> chunks{};
  std::optional<Millis> retry_after{};
  // The end after the last chunk; nothing: it stays open, as a watch does.
  std::optional<RequestEnd> end = RequestEnd{.sent = true};
};

inline RequestEnd Cut() {
  return {.status = absl::UnavailableError("cut"), .sent = true};
}
inline RequestEnd NoConnection() {
  return {.status = absl::UnavailableError("no connection"), .sent = false};
}

// Requests are answered by the recordings in order; without one they stay open.
// Each Poll plays everything that can be played at once.
class RecordedTransport final : public Transport {
 public:
  void Play(Recording recording) { recordings_.push_back(recording); }
  // More of the answer to the request that was started last, which is open.
  void Say(const std::string& chunk) {
    open_.rbegin()->second.receiver->OnData(open_.rbegin()->first, chunk);
  }
  // All requests that were started, in order.
  const std::vector<HttpRequest>& requests() const { return requests_; }
  const HttpRequest& last() const { return requests_.back(); }
  // Requests that neither ended nor were cancelled.
  size_t open() const { return open_.size(); }
  int cancelled() const { return cancelled_; }

  RequestId Start(HttpRequest request, Receiver* receiver) override;
  void Cancel(RequestId id) override;
  void Poll(Millis max_wait) override;
  void Wake() override {}

 private:
  struct Open {
    Receiver* receiver = nullptr;
    Recording recording{};
    bool told = false;
  };

  std::deque<Recording> recordings_{};
  std::vector<HttpRequest> requests_{};
  std::map<RequestId, Open> open_{};
  int cancelled_ = 0;
};

}  // namespace muster::kubernetes::client
