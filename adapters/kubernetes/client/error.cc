#include "adapters/kubernetes/client/error.h"

#include <simdjson.h>

#include <algorithm>

#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

// A Status is small; what is longer is not looked at.
constexpr size_t kLongestStatus = size_t{1} << 20;

std::string TextOf(simdjson::dom::element object, std::string_view key) {
  std::string_view text;
  if (object[key].get(text) != simdjson::SUCCESS) return "";
  return PlainText(text);
}

absl::StatusCode CodeOf(int http_status, const ApiError& error) {
  switch (http_status) {
    case 400:
    case 422:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return error.reason == "AlreadyExists" ? absl::StatusCode::kAlreadyExists
                                             : absl::StatusCode::kAborted;
    case 410:
      return absl::StatusCode::kOutOfRange;
    case 429:
      return absl::StatusCode::kResourceExhausted;
    default:
      return http_status >= 500 ? absl::StatusCode::kUnavailable
                                : absl::StatusCode::kUnknown;
  }
}

}  // namespace

std::string PlainText(std::string_view text, size_t most) {
  std::string plain(text.substr(0, most));
  for (char& c : plain) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x7f) {
      c = '?';
    } else if (byte < 0x20) {
      c = ' ';
    }
  }
  if (text.size() > most && most >= 3) plain.replace(most - 3, 3, "...");
  return plain;
}

ApiError ParseApiError(std::string_view body) {
  ApiError error;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view kind;
  if (body.size() > kLongestStatus ||
      parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS ||
      root["kind"].get(kind) != simdjson::SUCCESS || kind != "Status") {
    error.message = PlainText(body);
    return error;
  }
  int64_t number = 0;
  if (root["code"].get(number) == simdjson::SUCCESS && number >= 100 &&
      number <= 599) {
    error.code = static_cast<int>(number);
  }
  error.reason = TextOf(root, "reason");
  error.message = TextOf(root, "message");
  if (root["details"]["retryAfterSeconds"].get(number) == simdjson::SUCCESS &&
      number > 0) {
    error.retry_after = 1000 * std::min(number, kMaxRetryAfterSeconds);
  }
  return error;
}

absl::Status ToStatus(int http_status, const ApiError& error) {
  return absl::Status(
      CodeOf(http_status, error),
      Concat("HTTP ", http_status, error.reason.empty() ? "" : " ",
             error.reason, error.message.empty() ? "" : ": ", error.message));
}

}  // namespace muster::kubernetes::client
