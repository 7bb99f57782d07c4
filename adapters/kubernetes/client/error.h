// What the API server says when it refuses: its `Status` object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "adapters/kubernetes/client/clock.h"

namespace muster::kubernetes::client {

// A server's text as it may stand in logs, Events and messages: control
// characters are spaces, bytes outside ASCII are '?', and at most `most` bytes
// are kept ("..." at the end tells). O(most).
std::string PlainText(std::string_view text, size_t most = 512);

// A longer wait that a server asks for is cut to this.
inline constexpr int64_t kMaxRetryAfterSeconds = 3600;

struct ApiError {
  int code = 0;           // HTTP status; 0 if the body has none.
  std::string reason{};   // "Conflict", "NotFound", ...; "" if there is none.
  std::string message{};  // PlainText.
  std::optional<Millis> retry_after{};  // details.retryAfterSeconds.
};

// Reads a `Status` object (JSON). A body that is none, such as a proxy's page
// of HTML, gives an error with the body's beginning as its message. O(size).
ApiError ParseApiError(std::string_view body);

// The error as a status for people and for switches: 400 and 422
// INVALID_ARGUMENT, 401 UNAUTHENTICATED, 403 PERMISSION_DENIED, 404 NOT_FOUND,
// 409 ABORTED (ALREADY_EXISTS by its reason), 410 OUT_OF_RANGE, 429
// RESOURCE_EXHAUSTED, 5xx UNAVAILABLE, others UNKNOWN.
absl::Status ToStatus(int http_status, const ApiError& error);

}  // namespace muster::kubernetes::client
