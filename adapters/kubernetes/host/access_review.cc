#include "adapters/kubernetes/host/access_review.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::kubernetes {
namespace {

using client::Outcome;

constexpr char kTokenReviews[] = "/apis/authentication.k8s.io/v1/tokenreviews";
constexpr char kAccessReviews[] =
    "/apis/authorization.k8s.io/v1/subjectaccessreviews";

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace);
}

client::RequestQueueOptions QueueOptions(size_t most_waiting) {
  constexpr int kInFlight = 4;
  return {.in_flight = {kInFlight, kInFlight, kInFlight},
          .most_waiting = {most_waiting, most_waiting, most_waiting}};
}

// status of the review; null: there is none.
nlohmann::json StatusOf(const Outcome& outcome) {
  if (outcome.kind != client::OutcomeKind::kDone) return nullptr;
  const nlohmann::json review =
      nlohmann::json::parse(outcome.body, nullptr, false);
  if (!review.is_object()) return nullptr;
  return review.value("status", nlohmann::json());
}

bool IsTrue(const nlohmann::json& status, const char* field) {
  const auto it = status.find(field);
  return it != status.end() && it->is_boolean() && it->get<bool>();
}

absl::Status NotSaid(const Outcome& outcome) {
  return absl::UnavailableError(absl::StrCat(
      "the API server did not say who asks: ",
      outcome.error.message.empty() ? std::string(outcome.transport.message())
                                    : outcome.error.message));
}

// The spec of a SubjectAccessReview about whom the status of a TokenReview
// names.
std::string SubjectOf(const nlohmann::json& status) {
  const nlohmann::json user = status.value("user", nlohmann::json::object());
  nlohmann::json subject = nlohmann::json::object();
  const std::pair<const char*, const char*> fields[] = {{"username", "user"},
                                                        {"uid", "uid"},
                                                        {"groups", "groups"},
                                                        {"extra", "extra"}};
  for (const auto& [from, to] : fields) {
    if (user.is_object() && user.contains(from)) subject[to] = user[from];
  }
  return Dump(subject);
}

std::string AccessBody(const std::string& subject,
                       const AccessAttributes& attributes) {
  nlohmann::json spec = nlohmann::json::parse(subject);
  spec["resourceAttributes"] = {{"verb", attributes.verb},
                                {"group", attributes.group},
                                {"resource", attributes.resource}};
  if (!attributes.namespace_name.empty()) {
    spec["resourceAttributes"]["namespace"] = attributes.namespace_name;
  }
  return Dump({{"apiVersion", "authorization.k8s.io/v1"},
               {"kind", "SubjectAccessReview"},
               {"spec", spec}});
}

absl::Status Denied(const AccessAttributes& attributes) {
  return absl::PermissionDeniedError(absl::StrCat(
      "you may not ", attributes.verb, " ", attributes.resource,
      attributes.group.empty() ? "" : ".", attributes.group,
      attributes.namespace_name.empty()
          ? " of the whole cluster"
          : absl::StrCat(" in namespace '", attributes.namespace_name, "'"),
      ", which this question takes"));
}

}  // namespace

AccessReview::AccessReview(client::Transport* transport,
                           AccessReviewOptions options)
    : options_(std::move(options)),
      queue_(transport, QueueOptions(options_.most_waiting)) {}

AccessReview::~AccessReview() = default;

void AccessReview::Ask(const std::string& token,
                       const AccessAttributes& attributes,
                       const OnAnswer& on_answer) {
  const client::Millis now = options_.clock();
  const auto access = accesses_.find({token, attributes});
  if (access != accesses_.end() && access->second.until > now) {
    return on_answer(access->second.status);
  }
  const auto known = tokens_.find(token);
  if (known != tokens_.end() && known->second.until > now) {
    if (!known->second.status.ok()) return on_answer(known->second.status);
    return AskWhether(token, known->second.subject, attributes, on_answer);
  }
  AskWho(token, attributes, on_answer);
}

void AccessReview::AskWho(const std::string& token,
                          const AccessAttributes& attributes,
                          const OnAnswer& on_answer) {
  const nlohmann::json body = {{"apiVersion", "authentication.k8s.io/v1"},
                               {"kind", "TokenReview"},
                               {"spec", {{"token", token}}}};
  Send(
      kTokenReviews, Dump(body),
      [this, token, attributes, on_answer](const Outcome& outcome) {
        const nlohmann::json status = StatusOf(outcome);
        if (!status.is_object()) return on_answer(NotSaid(outcome));
        const client::Millis now = options_.clock();
        MakeRoom(now);
        Remembered& known = tokens_[token];
        known = {.until = now + options_.memory};
        if (!IsTrue(status, "authenticated")) {
          known.status = absl::UnauthenticatedError(
              "the API server does not know this token");
          return on_answer(known.status);
        }
        known.subject = SubjectOf(status);
        AskWhether(token, known.subject, attributes, on_answer);
      },
      on_answer);
}

void AccessReview::AskWhether(const std::string& token,
                              const std::string& subject,
                              const AccessAttributes& attributes,
                              const OnAnswer& on_answer) {
  Send(
      kAccessReviews, AccessBody(subject, attributes),
      [this, token, attributes, on_answer](const Outcome& outcome) {
        const nlohmann::json status = StatusOf(outcome);
        if (!status.is_object()) return on_answer(NotSaid(outcome));
        const client::Millis now = options_.clock();
        MakeRoom(now);
        const bool allowed =
            IsTrue(status, "allowed") && !IsTrue(status, "denied");
        const absl::Status answer =
            allowed ? absl::OkStatus() : Denied(attributes);
        accesses_[{token, attributes}] = {.status = answer,
                                          .until = now + options_.memory};
        on_answer(answer);
      },
      on_answer);
}

void AccessReview::Send(const std::string& path, std::string body,
                        std::function<void(const Outcome&)> on_outcome,
                        const OnAnswer& on_answer) {
  client::Write write;
  write.http.method = "POST";
  write.http.path = path;
  write.http.content_type = client::kJsonType;
  write.http.body = std::move(body);
  write.http.timeout = options_.timeout;
  write.idempotent = true;
  write.most_tries = 2;
  write.last_start = options_.clock() + options_.timeout;
  const bool full = waiting_ >= options_.most_waiting;
  absl::Status sent = absl::ResourceExhaustedError("too many ask");
  if (!full) {
    sent = queue_.Submit(
        std::move(write),
        [this, on_outcome = std::move(on_outcome)](const Outcome& outcome) {
          --waiting_;
          on_outcome(outcome);
        });
  }
  if (!sent.ok()) return on_answer(sent);
  ++waiting_;
}

void AccessReview::MakeRoom(client::Millis now) {
  const auto make_room = [&](auto* remembered) {
    if (remembered->size() < options_.most_remembered) return;
    std::erase_if(*remembered,
                  [&](const auto& entry) { return entry.second.until <= now; });
    if (remembered->size() >= options_.most_remembered) remembered->clear();
  };
  make_room(&tokens_);
  make_room(&accesses_);
}

}  // namespace muster::kubernetes
