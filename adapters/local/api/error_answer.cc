#include "adapters/local/api/error_answer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "adapters/text/utf8.h"

namespace muster::local {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxMessage = 4096;
constexpr size_t kMaxField = 100;

int HttpStatusOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnimplemented:
    case absl::StatusCode::kOutOfRange:
      return 400;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    default:
      return 503;
  }
}

// "spec.x: is wrong" is about spec.x.
std::string FieldOf(const std::string& message) {
  const size_t colon = message.find(": ");
  if (colon > kMaxField) return "";  // Or there is none.
  const std::string field = message.substr(0, colon);
  return field.find_first_of(" \n\t'\"") == std::string::npos ? field : "";
}

serve::HttpResponse Answer(const absl::Status& status, int code) {
  const std::string message =
      text::BoundedUtf8(std::string(status.message()), kMaxMessage);
  Json json{{"error", message}};
  const std::string field = FieldOf(message);
  if (!field.empty()) json["field"] = field;
  serve::HttpResponse response = JsonAnswer(json.dump(), code);
  response.retry_after = code == 503 ? 1 : 0;
  return response;
}

}  // namespace

serve::HttpResponse ErrorAnswer(const absl::Status& status) {
  return Answer(status, HttpStatusOf(status.code()));
}

serve::HttpResponse ContentErrorAnswer(const absl::Status& status) {
  const int code = HttpStatusOf(status.code());
  return Answer(status, code == 400 ? 422 : code);
}

serve::HttpResponse MethodErrorAnswer(const absl::Status& status) {
  return Answer(status, 405);
}

serve::HttpResponse JsonAnswer(std::string json, int status) {
  json += "\n";
  return {.status = status,
          .content_type = "application/json",
          .body = std::move(json)};
}

}  // namespace muster::local
