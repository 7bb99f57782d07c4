#include "benchmarks/kubernetes_world.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/host/writer.h"
#include "benchmarks/kubernetes_objects.h"

namespace muster::bench {
namespace {

namespace client = kubernetes::client;

constexpr uint32_t kRackNodes = 40;
constexpr char kGpu[] = "nvidia.com/gpu";

client::RequestQueueOptions InFlight(int in_flight) {
  client::RequestQueueOptions options;
  options.in_flight = {in_flight, std::max(1, in_flight / 2),
                       std::max(1, in_flight / 8)};
  return options;
}

kubernetes::api::Node MakeNode(uint32_t number) {
  kubernetes::api::Node node;
  node.meta.name = absl::StrCat("node-", number);
  node.meta.labels = {
      {"kubernetes.io/hostname", node.meta.name},
      {"nvidia.com/gpu.product", "H100"},
      {"topology.example.com/rack", absl::StrCat("r", number / kRackNodes)}};
  node.allocatable = {{"cpu", 96'000},
                      {"memory", int64_t{1000} << 40},
                      {"pods", 110'000},
                      {kGpu, 8'000}};
  node.ready = "True";
  return node;
}

}  // namespace

client::RequestId AcceptingTransport::Start(client::HttpRequest request,
                                            client::Receiver* receiver) {
  paths_.push_back(std::move(request.path));
  open_[next_] = receiver;
  return next_++;
}

void AcceptingTransport::Poll(client::Millis) {
  for (const auto& [id, receiver] : std::exchange(open_, {})) {
    receiver->OnHead(id, {.status = 201});
    receiver->OnEnd(id, {.sent = true});
  }
}

size_t AcceptingTransport::Count(const std::string& end) const {
  return static_cast<size_t>(std::ranges::count_if(
      paths_, [&](const std::string& path) { return path.ends_with(end); }));
}

KubernetesWorld::KubernetesWorld(uint32_t nodes, int in_flight)
    : queue_(&transport_, InFlight(in_flight)) {
  auto controller = kubernetes::Controller::Create({});
  if (controller.ok()) controller_ = *std::move(controller);
  if (controller_ == nullptr) std::abort();
  for (uint32_t n = 0; n < nodes; ++n) observer().Observe(MakeNode(n));
  const absl::Status status = controller_->Synced(now_ * kMillisecond);
  if (!status.ok()) {
    std::cerr << status << '\n';
    std::abort();
  }
}

kubernetes::api::Pod& KubernetesWorld::MakePod() {
  const int64_t number = next_pod_++;
  kubernetes::api::Pod pod;
  pod.meta = {.name = absl::StrCat("train-", number),
              .namespace_name = absl::StrCat("team-", number % 10),
              .uid = UidOf(number),
              .creation = now_,
              .labels = {{"app", "train"}, {"team", "vision"}}};
  pod.scheduler_name = "muster";
  constexpr int64_t kShapes = 48;
  pod.requests = {{"cpu", 1000 + 100 * (number % kShapes)},
                  {"memory", int64_t{16'000} << 30},
                  {kGpu, 1000}};
  for (const char* key :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    pod.tolerations.push_back(
        {.key = key, .op = "Exists", .effect = "NoExecute", .seconds = 300});
  }
  pod.priority = 0;
  pod.phase = "Pending";
  std::string uid = pod.meta.uid;
  return pods_[std::move(uid)] = std::move(pod);
}

void KubernetesWorld::Decide() {
  controller_->Step(now_ * kMillisecond, &requests_);
}

void KubernetesWorld::Send() {
  const kubernetes::WriterOptions options{.instance = "bench"};
  for (kubernetes::ApiRequest& request : std::exchange(requests_, {})) {
    auto write = kubernetes::ToWrite(request, options, now_);
    if (!write.ok()) std::abort();
    if (auto* bind = std::get_if<kubernetes::BindRequest>(&request.body)) {
      bound_.push_back({std::move(bind->pod.uid), std::move(bind->node)});
    }
    const absl::Status status =
        queue_.Submit(*std::move(write),
                      [this, id = request.id](const client::Outcome& outcome) {
                        controller_->Answer(kubernetes::ToAnswer(id, outcome));
                      });
    if (!status.ok()) std::abort();
  }
  queue_.Advance(now_);
}

void KubernetesWorld::Step() {
  Decide();
  Send();
}

std::deque<BoundPod> KubernetesWorld::TakeBound() {
  return std::exchange(bound_, {});
}

std::deque<BoundPod> KubernetesWorld::Settle() {
  std::deque<BoundPod> all;
  Step();
  while (queue_.in_flight() > 0) {
    transport_.Poll(0);
    for (const BoundPod& bound : TakeBound()) {
      kubernetes::api::Pod& pod = pods_.at(bound.uid);
      pod.node_name = bound.node;
      pod.phase = "Running";
      observer().Observe(pod);
      all.push_back(bound);
    }
    Step();
  }
  return all;
}

}  // namespace muster::bench
