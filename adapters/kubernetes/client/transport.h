// HTTP requests to one API server, without saying how they travel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "adapters/kubernetes/client/clock.h"

namespace muster::kubernetes::client {

// Never 0, never used twice by one transport.
using RequestId = uint64_t;

// The content type of what is not a patch.
inline constexpr char kJsonType[] = "application/json";

struct HttpRequest {
  std::string method = "GET";
  std::string path{};               // With its query: "/api/v1/pods?limit=500".
  std::string_view content_type{};  // Of the body, a literal; "" without one.
  std::string body{};
  // From when it goes out until its end; 0: none.
  Millis timeout = 30'000;
  // Nothing of it is written to a connection at or after this time by
  // SteadyNow, so that a process that stood still starts nothing late.
  Millis send_before = kNever;
  // A response that goes on until somebody ends it, as a watch: no limit on its
  // size, its time or its silence, and it does not count against the
  // transport's limit on requests at a time.
  bool streaming = false;
  // The transport may send it again if a kept connection turns out to be dead:
  // the server answers twice as it would once.
  bool idempotent = true;
};

struct ResponseHead {
  int status = 0;
  std::optional<Millis> retry_after{};  // Of the header in seconds.
};

// How a request ended.
struct RequestEnd {
  // OK: the response is complete, whatever its status. DEADLINE_EXCEEDED,
  // RESOURCE_EXHAUSTED (response too long), UNAUTHENTICATED (no credentials, or
  // the server's certificate is not trusted), UNAVAILABLE (all else).
  absl::Status status = absl::OkStatus();
  // Something of the request was written to a connection: if `status` is an
  // error, the server may have done what it asks.
  bool sent = false;
};

// Is told of one request or several, by Transport::Poll alone and on its
// thread. May call Start and Cancel; may not destroy the transport.
class Receiver {
 public:
  virtual ~Receiver() = default;
  // At most once, before all OnData.
  virtual void OnHead(RequestId id, const ResponseHead& head) = 0;
  // A piece of the body; `data` holds during the call alone.
  virtual void OnData(RequestId id, std::string_view data) = 0;
  // Exactly once and last, unless the request is cancelled.
  virtual void OnEnd(RequestId id, const RequestEnd& end) = 0;
};

// An event loop on one thread: all functions but Wake are called on it.
class Transport {
 public:
  virtual ~Transport() = default;
  // The request goes out with the next Poll. `receiver` is not owned and lives
  // until OnEnd or Cancel. What is wrong is told by OnEnd.
  virtual RequestId Start(HttpRequest request, Receiver* receiver) = 0;
  // Its receiver hears no more of it; an unknown id does nothing. Whether the
  // server got the request stays unknown.
  virtual void Cancel(RequestId id) = 0;
  // Sends and receives until at least one callback was made, Wake was called or
  // `max_wait` milliseconds are over. Not to be called by a receiver.
  virtual void Poll(Millis max_wait) = 0;
  // Ends the Poll that runs or the next one. From any thread.
  virtual void Wake() = 0;
};

}  // namespace muster::kubernetes::client
