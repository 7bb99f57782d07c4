// kubectl-muster: `kubectl muster queue | explain | what-if`.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/client/curl_transport.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/kubeconfig.h"
#include "adapters/kubernetes/client/text.h"
#include "adapters/kubernetes/plugin/answer_text.h"
#include "adapters/kubernetes/plugin/leader.h"
#include "adapters/kubernetes/plugin/local_call.h"
#include "adapters/kubernetes/plugin/port_forward.h"
#include "adapters/kubernetes/plugin/token.h"
#include "muster/version.h"

namespace muster::kubernetes::plugin {
namespace {

using client::Concat;
using ToText = absl::StatusOr<std::string> (*)(std::string_view);

// Exit codes.
constexpr int kAnswered = 0;
constexpr int kRefused = 1;      // Not there, not allowed, not such.
constexpr int kUsage = 2;        // The command line is wrong.
constexpr int kUnreachable = 3;  // Nobody answers, or nobody leads.

struct Arguments {
  std::string kubeconfig{};
  std::string context{};
  std::string namespace_name{};
  bool all_namespaces = false;
  std::string output = "table";
  std::string server{};
  std::string service_account{};
  std::string kubectl = "kubectl";
  std::string lease_namespace = "muster-system";
  std::string lease = "muster-kube";
  uint16_t port = 8080;
  std::string name{};  // Of explain.
  std::vector<std::string> finish{};
  std::vector<std::string> remove_nodes{};
  std::string like{};
  uint32_t add_nodes = 0;
};

struct Question {
  std::string path{};
  std::string body{};
  ToText to_text = nullptr;
};

absl::StatusOr<client::ClusterAccess> Access(const Arguments& arguments) {
  if (arguments.kubeconfig.empty()) {
    auto file = client::DefaultKubeconfig(getenv);
    if (!file.ok()) return file.status();
    return client::LoadKubeconfig(*file, arguments.context);
  }
  return client::LoadKubeconfig(arguments.kubeconfig, arguments.context);
}

Kubectl KubectlOf(const Arguments& arguments) {
  Kubectl kubectl{.program = arguments.kubectl};
  if (!arguments.kubeconfig.empty()) {
    kubectl.flags.push_back(Concat("--kubeconfig=", arguments.kubeconfig));
  }
  if (!arguments.context.empty()) {
    kubectl.flags.push_back(Concat("--context=", arguments.context));
  }
  return kubectl;
}

Question ExplainQuestion(const Arguments& arguments) {
  const std::string ns = api::PercentEncoded(arguments.namespace_name);
  if (arguments.name.empty()) {
    return {.path = arguments.all_namespaces
                        ? "/apis/muster/v1/gangs"
                        : Concat("/apis/muster/v1/gangs?namespace=", ns),
            .to_text = GroupsText};
  }
  constexpr std::string_view kPod = "pod/";
  const std::string_view name = arguments.name;
  const bool pod = name.starts_with(kPod);
  return {
      .path = Concat(
          "/apis/muster/v1/explain?namespace=", ns, pod ? "&pod=" : "&group=",
          api::PercentEncoded(pod ? name.substr(kPod.size()) : name)),
      .to_text = ExplanationText};
}

Question WhatIfQuestion(const Arguments& arguments) {
  nlohmann::json body = nlohmann::json::object();
  for (const std::string& group : arguments.finish) {
    const size_t slash = group.find('/');
    const bool named = slash != std::string::npos;
    body["finish"].push_back(
        {{"namespace",
          named ? group.substr(0, slash) : arguments.namespace_name},
         {"group", named ? group.substr(slash + 1) : group}});
  }
  if (!arguments.remove_nodes.empty()) {
    body["removeNodes"] = arguments.remove_nodes;
  }
  if (arguments.add_nodes > 0) {
    body["addNodes"] = {{"like", arguments.like},
                        {"count", arguments.add_nodes}};
  }
  return {.path = "/apis/muster/v1/what-if",
          .body = body.dump(-1, ' ', true,
                            nlohmann::json::error_handler_t::replace),
          .to_text = WhatIfText};
}

int Fail(int code, std::string_view message) {
  std::cerr << "kubectl-muster: " << client::PlainText(message, 2'048)
            << std::endl;
  return code;
}

int Fail(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
      return Fail(kUnreachable, Concat(status.message()));
    default:
      return Fail(kRefused, Concat(status.message()));
  }
}

int Print(const Arguments& arguments, const Question& question,
          const LocalAnswer& answer) {
  if (answer.status != 200) {
    return Fail(answer.status >= 500 ? kUnreachable : kRefused,
                ErrorText(answer.body));
  }
  if (arguments.output == "json") {
    std::cout << answer.body << std::flush;
    return kAnswered;
  }
  const auto text = question.to_text(answer.body);
  if (!text.ok()) return Fail(text.status());
  std::cout << *text << std::flush;
  return kAnswered;
}

// What-ifs are answered one in half a second, whoever asks.
absl::StatusOr<LocalAnswer> CallPatiently(const LocalCall& call) {
  constexpr int kTooManyRequests = 429;
  constexpr int kMostTries = 4;
  for (int i = 1;; ++i) {
    auto answer = Call(call);
    const bool busy = answer.ok() && answer->status == kTooManyRequests;
    if (!busy || i == kMostTries) return answer;
    absl::SleepFor(absl::Seconds(1));
  }
}

int Ask(const Arguments& arguments, const Question& question,
        const std::string& server, const std::string& token) {
  const auto answer = CallPatiently({.server = server,
                                     .path = question.path,
                                     .token = token,
                                     .body = question.body});
  if (!answer.ok()) return Fail(answer.status());
  return Print(arguments, question, *answer);
}

int Run(Arguments arguments, Question (*make)(const Arguments&)) {
  auto access = Access(arguments);
  if (!access.ok()) return Fail(access.status());
  if (arguments.namespace_name.empty()) {
    arguments.namespace_name =
        access->namespace_name.empty() ? "default" : access->namespace_name;
  }
  const Question question = make(arguments);
  const Kubectl kubectl = KubectlOf(arguments);
  const auto token =
      TokenFor(access->credentials.get(), arguments.service_account, kubectl);
  if (!token.ok()) return Fail(token.status());
  if (!arguments.server.empty()) {
    return Ask(arguments, question, arguments.server, *token);
  }
  const auto transport = client::CurlTransport::Create(
      *std::move(access),
      {.user_agent = "kubectl-muster/" MUSTER_VERSION, .http2 = false});
  if (!transport.ok()) return Fail(transport.status());
  const auto pod =
      LeaderPod(transport->get(), arguments.lease_namespace, arguments.lease);
  if (!pod.ok()) return Fail(pod.status());
  constexpr client::Millis kTimeout = 20'000;
  const auto forward = PortForward::Start(kubectl, arguments.lease_namespace,
                                          *pod, arguments.port, kTimeout);
  if (!forward.ok()) return Fail(forward.status());
  return Ask(arguments, question,
             Concat("http://127.0.0.1:", (*forward)->port()), *token);
}

void AddCommon(Arguments* arguments, CLI::App* app) {
  app->add_option("--kubeconfig", arguments->kubeconfig,
                  "Without it: $KUBECONFIG or ~/.kube/config")
      ->check(CLI::ExistingFile);
  app->add_option("--context", arguments->context,
                  "Of the kubeconfig, instead of its current one");
  app->add_option("-n,--namespace", arguments->namespace_name,
                  "Without it: that of the context, else default");
  app->add_option("-o,--output", arguments->output, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app->add_option("--service-account", arguments->service_account,
                  "NAMESPACE/NAME: ask as this one, by a token of `kubectl "
                  "create token`; needed where the kubeconfig's user has no "
                  "token");
  app->add_option("--server", arguments->server,
                  "http://127.0.0.1:PORT that leads to muster-kube; without "
                  "it `kubectl port-forward` is run");
  app->add_option("--kubectl", arguments->kubectl)->capture_default_str();
  app->add_option("--lease-namespace", arguments->lease_namespace,
                  "Of muster-kube and its Lease")
      ->capture_default_str();
  app->add_option("--lease-name", arguments->lease)->capture_default_str();
  app->add_option("--port", arguments->port, "On which muster-kube listens")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
}

int Main(int argc, char** argv) {
  CLI::App app("Asks the scheduler: queues, why a group waits, what if.",
               "kubectl muster");
  Arguments arguments;
  app.set_version_flag("--version", "kubectl-muster " MUSTER_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  AddCommon(&arguments, &app);
  auto* queue = app.add_subcommand("queue", "Queues: what waits, what runs");
  auto* nodes = app.add_subcommand(
      "nodes", "Nodes on which more is in use than they have");
  auto* explain = app.add_subcommand(
      "explain", "Why a group waits; without a name: all groups");
  explain->add_option("NAME", arguments.name,
                      "A group (a PodGroup, a Job, a pod by itself), or "
                      "pod/NAME: the group of that pod");
  explain->add_flag("-A,--all-namespaces", arguments.all_namespaces);
  auto* what_if = app.add_subcommand(
      "what-if", "What the next pass would decide if something were otherwise");
  what_if->add_option("--finish", arguments.finish,
                      "[NAMESPACE/]NAME: this group is over; may be repeated");
  what_if->add_option("--remove-node", arguments.remove_nodes,
                      "This node is gone; may be repeated");
  auto* count =
      what_if
          ->add_option("--add-nodes", arguments.add_nodes, "So many nodes come")
          ->check(CLI::Range(1, 1'000));
  auto* like = what_if->add_option("--like", arguments.like,
                                   "The node that they are like");
  count->needs(like);
  like->needs(count);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kAnswered : kUsage;
  }
  if (queue->parsed()) {
    return Run(std::move(arguments), [](const Arguments&) {
      return Question{.path = "/apis/muster/v1/queues", .to_text = QueuesText};
    });
  }
  if (nodes->parsed()) {
    return Run(std::move(arguments), [](const Arguments&) {
      return Question{.path = "/apis/muster/v1/nodes", .to_text = NodesText};
    });
  }
  return Run(std::move(arguments),
             explain->parsed() ? ExplainQuestion : WhatIfQuestion);
}

}  // namespace
}  // namespace muster::kubernetes::plugin

int main(int argc, char** argv) {
  return muster::kubernetes::plugin::Main(argc, argv);
}
