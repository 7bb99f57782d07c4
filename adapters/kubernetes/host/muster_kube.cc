// muster-kube: a scheduler for a Kubernetes cluster.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "adapters/kubernetes/client/curl_transport.h"
#include "adapters/kubernetes/client/kubeconfig.h"
#include "adapters/kubernetes/host/endpoint.h"
#include "adapters/kubernetes/host/host.h"
#include "muster/enum_names.h"
#include "muster/eviction_backoff.h"
#include "muster/queue.h"
#include "muster/version.h"

namespace muster::kubernetes {
namespace {

std::atomic<bool> stop = false;

struct Arguments {
  std::string kubeconfig{};
  std::string context{};
  HostOptions host{};
  std::vector<std::string> topologies{};
  bool elect = true;
  client::ElectionOptions election{.namespace_name = "muster-system",
                                   .name = "muster-kube"};
  int requests = 32;
  std::vector<std::string> listen{};
  bool http2 = false;  // docs/performance.md tells why.
};

// "racks=zone,rack": a topology, and its levels, widest first.
absl::StatusOr<Topology> ToTopology(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--topology ", text, ": expected NAME=LABEL[,LABEL...], widest first"));
  }
  return Topology{.key = text.substr(0, equals),
                  .levels = absl::StrSplit(text.substr(equals + 1), ',')};
}

absl::StatusOr<client::ClusterAccess> Access(const Arguments& arguments) {
  if (!arguments.kubeconfig.empty()) {
    return client::LoadKubeconfig(arguments.kubeconfig, arguments.context);
  }
  auto access = client::InClusterAccess(getenv);
  if (!absl::IsNotFound(access.status())) return access;
  const auto file = client::DefaultKubeconfig(getenv);
  if (!file.ok()) return file.status();
  return client::LoadKubeconfig(*file, arguments.context);
}

// Writes that nobody waits for leave half of the requests to decisions.
client::RequestQueueOptions QueueOptions(int requests) {
  const int half = std::max(1, requests / 2);
  return {.in_flight = {requests, half, half}};
}

// Lists and the lease do not wait behind writes.
client::CurlOptions TransportOptions(int requests, bool http2) {
  constexpr int kOthers = 16;
  return {.user_agent = "muster-kube/" MUSTER_VERSION,
          .http2 = http2,
          .most_requests = requests + kOthers};
}

// The other times follow from how long the lease and a request may last.
void SetLease(client::Millis lease, client::Millis request,
              client::ElectionOptions* election) {
  election->duration = lease;
  election->renew_every = lease / 5;
  election->retry_every = lease / 15;
  election->request_timeout = lease / 3;
  election->margin = std::max<client::Millis>(lease / 8, 500);
  election->longest_request = request;
}

std::string Identity() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return absl::StrCat(name, "_", getpid(), "_",
                      absl::Hex(absl::GetCurrentTimeNanos()));
}

void Print(std::string_view line) {
  std::cerr << absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::Now(),
                                absl::UTCTimeZone())
            << " " << line << std::endl;
}

// Null: nobody listens.
absl::StatusOr<std::unique_ptr<Endpoint>> Listen(
    const std::vector<std::string>& addresses, client::Transport* transport,
    Host* host) {
  if (addresses.empty()) return nullptr;
  EndpointOptions options;
  options.start = absl::ToDoubleSeconds(absl::Now() - absl::UnixEpoch());
  for (const std::string& text : addresses) {
    auto address = serve::ParseAddress(text);
    if (!address.ok()) return address.status();
    options.addresses.push_back(*std::move(address));
  }
  auto endpoint = Endpoint::Start(options, transport, host);
  if (!endpoint.ok()) return endpoint.status();
  for (size_t i = 0; i < addresses.size(); ++i) {
    Print(absl::StrCat("listens on ", addresses[i], ", port ",
                       (*endpoint)->ports()[i]));
  }
  return endpoint;
}

absl::Status Run(Arguments arguments) {
  for (const std::string& text : arguments.topologies) {
    auto topology = ToTopology(text);
    if (!topology.ok()) return topology.status();
    arguments.host.controller.topologies.push_back(*std::move(topology));
  }
  auto access = Access(arguments);
  if (!access.ok()) return access.status();
  auto transport = client::CurlTransport::Create(
      *std::move(access),
      TransportOptions(arguments.requests, arguments.http2));
  if (!transport.ok()) return transport.status();
  arguments.host.queue = QueueOptions(arguments.requests);
  arguments.host.writer.instance = Identity();
  if (arguments.elect) {
    arguments.election.identity = arguments.host.writer.instance;
    arguments.host.election = arguments.election;
  }
  auto host =
      Host::Create(transport->get(), std::move(arguments.host),
                   client::SteadyNow(), absl::ToUnixMillis(absl::Now()), Print);
  if (!host.ok()) return host.status();
  const auto endpoint = Listen(arguments.listen, transport->get(), host->get());
  if (!endpoint.ok()) return endpoint.status();
  constexpr client::Millis kLongestPoll = 1'000;  // Signals are looked at.
  while (!(*host)->resigned()) {
    const client::Millis now = client::SteadyNow();
    if (stop.exchange(false)) (*host)->Resign(now);
    client::Millis next = (*host)->Advance(now);
    if (*endpoint != nullptr) {
      next = std::min(next, (*endpoint)->Advance(now));
    }
    (*transport)->Poll(std::clamp<client::Millis>(next - now, 0, kLongestPoll));
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "A scheduler for a Kubernetes cluster: gangs, queues, "
      "priorities, topology.");
  Arguments arguments;
  client::Millis lease_seconds = 15, request_seconds = 10;
  EvictionBackoff& backoff = arguments.host.controller.eviction_backoff;
  Duration wait = backoff.wait_base / kSecond;
  Duration protection = backoff.protection_base / kSecond;
  app.set_version_flag("--version", "muster-kube " MUSTER_VERSION);
  app.add_option("--kubeconfig", arguments.kubeconfig,
                 "Without it: what a pod gets, else $KUBECONFIG or "
                 "~/.kube/config")
      ->check(CLI::ExistingFile);
  app.add_option("--context", arguments.context,
                 "Of the kubeconfig, instead of its current one");
  app.add_option("--scheduler-name", arguments.host.controller.scheduler_names,
                 "Of pods to schedule (spec.schedulerName); may be repeated")
      ->capture_default_str();
  app.add_option("--topology", arguments.topologies,
                 "NAME=LABEL[,LABEL...]: levels by node labels, widest first; "
                 "may be repeated");
  app.add_option("--device-resource", arguments.host.controller.device_resource,
                 "The extended resource that is counted by devices")
      ->capture_default_str();
  app.add_option("--model-label", arguments.host.controller.model_label,
                 "The node label that tells the devices' model")
      ->capture_default_str();
  app.add_option("--spot-taint", arguments.host.controller.spot_taints,
                 "Key of a taint by which a node is known to go away, beside "
                 "those of clouds and autoscalers; may be repeated");
  app.add_flag(
      "--quota-from-namespaces",
      arguments.host.controller.quota_from_namespaces,
      "A namespace's ResourceQuota is the limit of a queue of its own, "
      "for pods that name no queue (default: off)");
  std::vector<std::string> order;
  const std::span<const std::string_view> keys = EnumNames(QueueOrderKey{});
  app.add_option("--queue-order", order,
                 "Who of two queues beside each other comes first: within, "
                 "band, priority, share, age (that order, too, by default)")
      ->delimiter(',')
      ->check(
          CLI::IsMember(std::vector<std::string>(keys.begin(), keys.end())));
  app.add_option("--eviction-wait", wait,
                 "Seconds, doubled with each eviction in a row, before a group "
                 "that was evicted stops others again; 0: none")
      ->check(CLI::Range(0, 600))
      ->capture_default_str();
  app.add_option("--eviction-protection", protection,
                 "Seconds, likewise, before a group that was evicted and runs "
                 "again may be evicted again; 0: none")
      ->check(CLI::Range(0, 1'800))
      ->capture_default_str();
  app.add_flag("--leader-elect,!--no-leader-elect", arguments.elect,
               "Of several replicas one decides (default: on)");
  app.add_option("--lease-namespace", arguments.election.namespace_name,
                 "Of the Lease by which it is chosen")
      ->capture_default_str();
  app.add_option("--lease-name", arguments.election.name)
      ->capture_default_str();
  app.add_option("--requests", arguments.requests,
                 "Writes to the API server at a time, of which conditions and "
                 "Events are at most half")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--listen", arguments.listen,
                 "ADDRESS:PORT for /healthz, /readyz and /metrics, and, over "
                 "loopback, for kubectl-muster (default: none); may be "
                 "repeated");
  app.add_flag("--http2", arguments.http2,
               "One connection for all requests, where the server speaks it "
               "(default: off; some versions of libcurl leave a long response "
               "unread)");
  app.add_option("--lease-duration", lease_seconds,
                 "Seconds after which another replica may lead")
      ->check(CLI::Range(3, 600))
      ->capture_default_str();
  app.add_option("--longest-request", request_seconds,
                 "Seconds that a request of a former leader may take at most: "
                 "so long a new one waits")
      ->check(CLI::Range(1, 600))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  backoff.wait_base = wait * kSecond;
  backoff.protection_base = protection * kSecond;
  for (const std::string& key : order) {
    arguments.host.controller.queue_order.push_back(
        *FromName<QueueOrderKey>(key));
  }
  SetLease(lease_seconds * 1'000, request_seconds * 1'000, &arguments.election);
  std::signal(SIGTERM, [](int) { stop = true; });
  std::signal(SIGINT, [](int) { stop = true; });
  const absl::Status status = Run(std::move(arguments));
  if (!status.ok()) Print(status.ToString());
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster::kubernetes

int main(int argc, char** argv) { return muster::kubernetes::Main(argc, argv); }
