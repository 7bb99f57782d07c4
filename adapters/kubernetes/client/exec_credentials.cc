#include "adapters/kubernetes/client/exec_credentials.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/time/time.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::client {
namespace {

using Json = nlohmann::json;

absl::Status Wrong(std::string_view what) {
  return absl::UnauthenticatedError(
      Concat("credential plug-in: ExecCredential: ", what));
}

// A string of `status` that may be missing; false if it is something else.
bool Text(const Json& status, const char* key, std::string* to) {
  const auto it = status.find(key);
  if (it == status.end() || it->is_null()) return true;
  if (!it->is_string()) return false;
  *to = it->get<std::string>();
  return true;
}

class Exec final : public Credentials {
 public:
  explicit Exec(ExecPlugin plugin) : plugin_(std::move(plugin)) {}

  absl::StatusOr<Credential> Get(Millis now) override {
    constexpr Millis kNotAgainFor = 10'000;
    if (have_ && !refused_ && now < renew_at_) return credential_;
    if (failed_at_ && now < Later(*failed_at_, kNotAgainFor)) return failure_;
    auto answer = Ask();
    if (!answer.ok()) {
      failed_at_ = now;
      failure_ = answer.status();
      return failure_;
    }
    failed_at_.reset();
    const uint64_t generation = credential_.generation + 1;
    credential_ = std::move(answer->credential);
    credential_.generation = generation;
    renew_at_ = RenewAt(now, answer->expires);
    have_ = true;
    refused_ = false;
    return credential_;
  }

  void Refused(uint64_t generation) override {
    refused_ = refused_ || generation == credential_.generation;
  }

 private:
  absl::StatusOr<ExecAnswer> Ask() const {
    const auto printed = RunPlugin(plugin_);
    if (!printed.ok()) return printed.status();
    return ReadExecCredential(*printed, plugin_.api_version);
  }

  // A minute before its end, or soon if it is shorter.
  static Millis RenewAt(Millis now, int64_t expires) {
    constexpr Millis kBefore = 60'000;
    constexpr Millis kSoon = 5'000;
    if (expires == 0) return kNever;
    const int64_t wall = absl::ToUnixMillis(absl::Now());
    return now + std::max<Millis>(expires - wall - kBefore, kSoon);
  }

  ExecPlugin plugin_;
  Credential credential_{};
  bool have_ = false;
  bool refused_ = false;
  Millis renew_at_ = 0;
  std::optional<Millis> failed_at_{};
  absl::Status failure_ = absl::OkStatus();
};

}  // namespace

absl::StatusOr<ExecAnswer> ReadExecCredential(std::string_view json,
                                              std::string_view api_version) {
  const Json root = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!root.is_object()) return Wrong("is no JSON object");
  if (root.value("kind", Json()) != "ExecCredential") {
    return Wrong("kind: expected ExecCredential");
  }
  if (root.value("apiVersion", Json()) != api_version) {
    return Wrong(Concat("apiVersion: expected ", api_version));
  }
  const auto status = root.find("status");
  if (status == root.end() || !status->is_object()) {
    return Wrong("status: expected an object");
  }
  ExecAnswer answer;
  std::string expires;
  for (const auto& [key, to] :
       {std::pair{"token", &answer.credential.token},
        std::pair{"clientCertificateData", &answer.credential.certificate_pem},
        std::pair{"clientKeyData", &answer.credential.key_pem},
        std::pair{"expirationTimestamp", &expires}}) {
    if (!Text(*status, key, to)) {
      return Wrong(Concat("status.", key, ": expected a string"));
    }
  }
  const Credential& c = answer.credential;
  if (c.certificate_pem.empty() != c.key_pem.empty()) {
    return Wrong(
        "status.clientCertificateData, status.clientKeyData: one without the "
        "other");
  }
  if (c.token.empty() && c.certificate_pem.empty()) {
    return Wrong("status: has neither token nor clientCertificateData");
  }
  if (c.token.find_first_of("\r\n") != std::string::npos) {
    return Wrong("status.token: is more than one line");
  }
  if (!expires.empty()) {
    absl::Time time;
    std::string error;
    if (!absl::ParseTime(absl::RFC3339_full, expires, &time, &error)) {
      return Wrong("status.expirationTimestamp: is no time of RFC 3339");
    }
    answer.expires = std::max<int64_t>(absl::ToUnixMillis(time), 1);
  }
  return answer;
}

std::unique_ptr<Credentials> ExecCredentials(ExecPlugin plugin) {
  return std::make_unique<Exec>(std::move(plugin));
}

}  // namespace muster::kubernetes::client
