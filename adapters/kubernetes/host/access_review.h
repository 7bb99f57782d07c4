// Who asks, and whether he may know: the API server decides.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/client/transport.h"

namespace muster::kubernetes {

// What somebody would have to be allowed to do himself.
struct AccessAttributes {
  std::string verb{};
  std::string group{};
  std::string resource{};
  std::string namespace_name{};  // "": in all, or of what has none.

  friend auto operator<=>(const AccessAttributes&,
                          const AccessAttributes&) = default;
};

struct AccessReviewOptions {
  size_t most_waiting = 32;        // Questions at a time.
  size_t most_remembered = 1'000;  // Answers.
  client::Millis memory = 10'000;  // So long an answer counts.
  client::Millis timeout = 5'000;
  std::function<client::Millis()> clock = client::SteadyNow;
};

// TokenReview, then SubjectAccessReview. Tokens stay in memory, and are in no
// message. On its transport's thread.
class AccessReview {
 public:
  // OK; UNAUTHENTICATED: the token is nobody's; PERMISSION_DENIED;
  // RESOURCE_EXHAUSTED: too many ask; UNAVAILABLE: the API server did not say.
  using OnAnswer = std::function<void(const absl::Status&)>;

  // The transport is not owned and outlives it.
  AccessReview(client::Transport* transport, AccessReviewOptions options);
  ~AccessReview();
  AccessReview(const AccessReview&) = delete;
  AccessReview& operator=(const AccessReview&) = delete;

  // `on_answer` is called once: at once, or by a later Advance or Poll.
  void Ask(const std::string& token, const AccessAttributes& attributes,
           const OnAnswer& on_answer);
  // Does what is due, and returns when to call again at the latest.
  client::Millis Advance(client::Millis now) { return queue_.Advance(now); }

 private:
  struct Remembered {
    absl::Status status{};
    std::string subject{};  // Of a token: spec of its reviews, as JSON.
    client::Millis until = 0;
  };
  using Access = std::pair<std::string, AccessAttributes>;

  void AskWho(const std::string& token, const AccessAttributes& attributes,
              const OnAnswer& on_answer);
  void AskWhether(const std::string& token, const std::string& subject,
                  const AccessAttributes& attributes,
                  const OnAnswer& on_answer);
  void Send(const std::string& path, std::string body,
            std::function<void(const client::Outcome&)> on_outcome,
            const OnAnswer& on_answer);
  void MakeRoom(client::Millis now);

  const AccessReviewOptions options_;
  client::RequestQueue queue_;
  size_t waiting_ = 0;
  std::map<std::string, Remembered> tokens_;
  std::map<Access, Remembered> accesses_;
};

}  // namespace muster::kubernetes
