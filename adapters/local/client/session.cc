#include "adapters/local/client/session.h"

#include <unistd.h>

#include <chrono>
#include <istream>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/text/table.h"

namespace muster::local {
namespace {

constexpr size_t kMostMessage = 4096;

absl::StatusCode StatusCodeOf(int status) {
  switch (status) {
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kFailedPrecondition;
    case 503:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInvalidArgument;
  }
}

}  // namespace

Session::Session(std::string socket, bool json, std::istream* in,
                 std::ostream* out, std::ostream* err)
    : connection_(std::move(socket)),
      json_(json),
      in_(*in),
      out_(*out),
      err_(*err),
      uid_(geteuid()) {}

absl::Status StatusOf(const HttpAnswer& answer) {
  if (answer.status < 300) return absl::OkStatus();
  const auto json = Session::Json::parse(answer.body, nullptr, false);
  std::string message = answer.body;
  if (json.is_object() && json.contains("error") && json["error"].is_string()) {
    message = json["error"].get<std::string>();
  }
  return absl::Status(StatusCodeOf(answer.status),
                      text::Printable(message, kMostMessage));
}

absl::StatusOr<std::string> Session::AskText(std::string_view method,
                                             const std::string& target,
                                             const Json& body) {
  auto answer = connection_.Call(
      method, target,
      body.is_null()
          ? ""
          : body.dump(-1, ' ', false, Json::error_handler_t::replace));
  if (!answer.ok()) return answer.status();
  const absl::Status status = StatusOf(*answer);
  if (!status.ok()) return status;
  return std::move(answer->body);
}

absl::StatusOr<Session::Json> Session::Ask(std::string_view method,
                                           const std::string& target,
                                           const Json& body) {
  const auto text = AskText(method, target, body);
  if (!text.ok()) return text.status();
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) {
    return absl::InternalError("what answers is not musterd");
  }
  return json;
}

int Session::Fail(const absl::Status& status) {
  if (json_) {
    PrintJson({{"error", std::string(status.message())}});
  } else {
    err_ << "muster: " << status.message() << "\n";
  }
  return absl::IsUnavailable(status) ? kNoDaemon : kRefused;
}

void Session::PrintJson(const Json& json) {
  out_ << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
}

double Session::Now() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

}  // namespace muster::local
