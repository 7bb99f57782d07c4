#include "adapters/kubernetes/host/endpoint.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/host/answers.h"
#include "adapters/kubernetes/host/metrics_answer.h"
#include "adapters/serve/metrics_text.h"
#include "adapters/serve/query.h"

namespace muster::kubernetes {
namespace {

using serve::HttpRequest;
using serve::HttpResponse;

constexpr std::string_view kQuestions = "/apis/muster/v1/";

int HttpStatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 200;
    case absl::StatusCode::kInvalidArgument:
      return 400;
    case absl::StatusCode::kUnauthenticated:
      return 401;
    case absl::StatusCode::kPermissionDenied:
      return 403;
    case absl::StatusCode::kNotFound:
      return 404;
    case absl::StatusCode::kUnimplemented:
      return 405;
    case absl::StatusCode::kFailedPrecondition:
      return 409;
    case absl::StatusCode::kResourceExhausted:
      return 429;
    default:
      return 503;
  }
}

HttpResponse Error(const absl::Status& status) {
  const int code = HttpStatusOf(status);
  return {.status = code,
          .content_type = client::kJsonType,
          .body = ErrorJson(code, std::string(status.message())),
          .retry_after = code == 429 || code == 503 ? 1 : 0};
}

HttpResponse Answer(std::string json) {
  return {.content_type = client::kJsonType, .body = std::move(json)};
}

// What is asked, and what one has to be allowed for it.
struct Question {
  AccessAttributes access{};
  std::function<HttpResponse(Term*)> answer{};
};

using Parameters = std::map<std::string, std::string>;

absl::Status Expect(const Parameters& parameters,
                    std::initializer_list<std::string_view> names) {
  for (const auto& [name, value] : parameters) {
    if (std::ranges::find(names, name) == names.end()) {
      return absl::InvalidArgumentError(
          "query: a parameter that this question does not have");
    }
  }
  return absl::OkStatus();
}

std::string Value(const Parameters& parameters, const std::string& name) {
  const auto it = parameters.find(name);
  return it == parameters.end() ? "" : it->second;
}

absl::StatusOr<Question> QueuesQuestion(const Parameters& parameters) {
  const absl::Status status = Expect(parameters, {});
  if (!status.ok()) return status;
  return Question{
      .access = {.verb = "list", .group = "muster.dev", .resource = "queues"},
      .answer = [](Term* term) {
        return Answer(QueuesJson(term->controller().overview().Queues()));
      }};
}

absl::StatusOr<Question> NodesQuestion(const Parameters& parameters) {
  const absl::Status status = Expect(parameters, {});
  if (!status.ok()) return status;
  return Question{
      .access = {.verb = "list", .resource = "nodes"},
      .answer = [](Term* term) {
        return Answer(NodesJson(term->controller().overview().ExceededNodes()));
      }};
}

absl::StatusOr<Question> GangsQuestion(const Parameters& parameters) {
  const absl::Status status = Expect(parameters, {"namespace"});
  if (!status.ok()) return status;
  const std::string ns = Value(parameters, "namespace");
  return Question{
      .access = {.verb = "list", .resource = "pods", .namespace_name = ns},
      .answer = [ns](Term* term) {
        size_t all = 0;
        const auto gangs = term->controller().overview().Gangs(ns, &all);
        return Answer(GangsJson(gangs, all));
      }};
}

absl::StatusOr<Question> ExplainQuestion(const Parameters& parameters) {
  const absl::Status status = Expect(parameters, {"namespace", "group", "pod"});
  if (!status.ok()) return status;
  const std::string ns = Value(parameters, "namespace");
  const std::string group = Value(parameters, "group");
  const std::string pod = Value(parameters, "pod");
  if (ns.empty() || group.empty() == pod.empty()) {
    return absl::InvalidArgumentError(
        "query: expected namespace, and group or pod");
  }
  return Question{
      .access = {.verb = "get", .resource = "pods", .namespace_name = ns},
      .answer = [ns, group, pod](Term* term) {
        const auto why = term->controller().overview().Explain(ns, group, pod);
        return why.ok() ? Answer(ExplanationJson(*why)) : Error(why.status());
      }};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Endpoint>> Endpoint::Start(
    EndpointOptions options, client::Transport* transport, Host* host) {
  auto endpoint = std::unique_ptr<Endpoint>(
      new Endpoint(std::move(options), transport, host));
  auto server = serve::HttpServer::Start(
      endpoint->options_.addresses, endpoint->options_.limits,
      [self = endpoint.get()](HttpRequest request, const serve::Reply& reply) {
        self->Handle(std::move(request), reply);
      });
  if (!server.ok()) return server.status();
  endpoint->server_ = *std::move(server);
  return endpoint;
}

Endpoint::Endpoint(EndpointOptions options, client::Transport* transport,
                   Host* host)
    : options_(std::move(options)),
      host_(*host),
      reviews_(transport, options_.reviews),
      mailbox_(options_.most_questions, [transport] { transport->Wake(); }),
      last_turn_(options_.reviews.clock()) {}

Endpoint::~Endpoint() {
  server_.reset();
  mailbox_.Close();
}

client::Millis Endpoint::Advance(client::Millis now) {
  last_turn_ = now;
  ready_ = host_.ready();
  for (const serve::Mailbox::Question& question : mailbox_.Take()) question();
  return reviews_.Advance(now);
}

void Endpoint::Put(serve::Mailbox::Question question,
                   const serve::Reply& reply) {
  if (mailbox_.Put(std::move(question))) return;
  reply({.status = 503, .body = "too many ask\n", .retry_after = 1});
}

HttpResponse Endpoint::Health(client::Millis now) const {
  const client::Millis turn = now - last_turn_;
  if (turn <= options_.longest_turn) return {.body = "ok\n"};
  return {.status = 503,
          .body = absl::StrCat("the loop has not turned for ", turn, " ms\n")};
}

HttpResponse Endpoint::Readiness(client::Millis now) const {
  if (!ready_) {
    return {.status = 503,
            .body =
                "not in step with the API server, and no other replica is "
                "known to lead\n"};
  }
  return Health(now);
}

void Endpoint::Handle(HttpRequest request, const serve::Reply& reply) {
  const client::Millis now = options_.reviews.clock();
  const bool get = request.method == "GET";
  if (get && request.path == "/healthz") return reply(Health(now));
  if (get && request.path == "/readyz") return reply(Readiness(now));
  if (get && request.path == "/metrics") {
    return Put(
        [this, reply] {
          reply({.content_type = serve::kMetricsContentType,
                 .body = MetricsAnswer(host_, options_.start)});
        },
        reply);
  }
  if (!request.path.starts_with(kQuestions)) {
    return reply(Error(absl::NotFoundError("there is nothing here")));
  }
  // There is no TLS: a token does not leave the machine.
  if (!request.loopback) {
    return reply(Error(absl::PermissionDeniedError(
        "questions are answered over the loopback interface alone: see "
        "`kubectl port-forward`")));
  }
  if (request.token.empty()) {
    return reply(Error(absl::UnauthenticatedError("no bearer token")));
  }
  Put([this, request = std::move(request), reply] { Ask(request, reply); },
      reply);
}

void Endpoint::Ask(const HttpRequest& request, const serve::Reply& reply) {
  const auto parameters = serve::ParseQuery(request.query);
  if (!parameters.ok()) return reply(Error(parameters.status()));
  const std::string_view name =
      std::string_view(request.path).substr(kQuestions.size());
  const bool get = request.method == "GET";
  absl::StatusOr<Question> question =
      absl::NotFoundError("there is no such question");
  if (name == "queues" && get) {
    question = QueuesQuestion(*parameters);
  } else if (name == "nodes" && get) {
    question = NodesQuestion(*parameters);
  } else if (name == "gangs" && get) {
    question = GangsQuestion(*parameters);
  } else if (name == "explain" && get) {
    question = ExplainQuestion(*parameters);
  } else if (name == "what-if" && request.method == "POST") {
    auto what_if = ParseWhatIf(request.body);
    // What is decided about one group tells of others.
    if (!what_if.ok()) {
      question = what_if.status();
    } else {
      question = Question{.access = {.verb = "list", .resource = "pods"},
                          .answer = [this, what_if = *std::move(what_if)](
                                        Term*) { return WhatIf(what_if); }};
    }
  } else if (name == "queues" || name == "nodes" || name == "gangs" ||
             name == "explain" || name == "what-if") {
    question = absl::UnimplementedError("not by this method");
  }
  if (!question.ok()) return reply(Error(question.status()));
  reviews_.Ask(
      request.token, question->access,
      [this, reply, answer = question->answer](const absl::Status& status) {
        if (!status.ok()) return reply(Error(status));
        if (!host_.decides()) {
          return reply(Error(absl::UnavailableError(
              absl::StrCat("this replica does not decide; leader: ",
                           host_.leader().empty() ? "none" : host_.leader()))));
        }
        reply(answer(host_.term()));
      });
}

HttpResponse Endpoint::WhatIf(const WhatIfQuestion& question) {
  const client::Millis now = options_.reviews.clock();
  if (now < next_what_if_) {
    return Error(absl::ResourceExhaustedError(
        "what-if: one at a time; ask again in a second"));
  }
  next_what_if_ = now + options_.what_if_every;
  const auto answer = host_.term()->WhatIf(question);
  return answer.ok() ? Answer(WhatIfJson(*answer)) : Error(answer.status());
}

}  // namespace muster::kubernetes
