// A Kubernetes controller with its request queue, before an API server that
// does all it is asked at the next call: from the parsed event to the request
// that a transport gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/client/transport.h"
#include "adapters/kubernetes/controller/controller.h"

namespace muster::bench {

// Takes requests and answers all of them with 201 at the next Poll.
class AcceptingTransport final : public kubernetes::client::Transport {
 public:
  kubernetes::client::RequestId Start(
      kubernetes::client::HttpRequest request,
      kubernetes::client::Receiver* receiver) override;
  void Cancel(kubernetes::client::RequestId id) override { open_.erase(id); }
  void Poll(kubernetes::client::Millis max_wait) override;
  void Wake() override {}

  // How many were started whose path ends so.
  size_t Count(const std::string& end) const;

 private:
  std::map<kubernetes::client::RequestId, kubernetes::client::Receiver*> open_;
  std::vector<std::string> paths_;
  kubernetes::client::RequestId next_ = 1;
};

// A pod that the scheduler has bound.
struct BoundPod {
  std::string uid{};
  std::string node{};
};

class KubernetesWorld {
 public:
  // So many nodes of 8 GPUs and 96 processors, in racks of 40; at most so many
  // requests travel at a time. Aborts where the controller refuses them.
  KubernetesWorld(uint32_t nodes, int in_flight);

  // A new pod of one GPU that waits, of one of 48 shapes. Nobody has been told
  // of it.
  kubernetes::api::Pod& MakePod();
  kubernetes::api::Pod& PodOf(const std::string& uid) { return pods_.at(uid); }
  void ForgetPod(const std::string& uid) { pods_.erase(uid); }
  kubernetes::Observer& observer() { return controller_->observer(); }
  kubernetes::Controller& controller() { return *controller_; }
  AcceptingTransport& transport() { return transport_; }

  // What the controller asks goes to the transport, as far as may travel.
  void Step();
  // Its parts.
  void Decide();
  void Send();
  // Those that were bound since the last call, in that order.
  std::deque<BoundPod> TakeBound();
  void Pass(kubernetes::client::Millis time) { now_ += time; }
  // Until nothing is asked any more: all is answered, and what was bound is
  // observed to run. Gives them, in that order.
  std::deque<BoundPod> Settle();

 private:
  kubernetes::client::Millis now_ = 1'000'000;
  int64_t next_pod_ = 0;
  std::map<std::string, kubernetes::api::Pod> pods_;  // By UID.
  std::vector<kubernetes::ApiRequest> requests_;
  std::deque<BoundPod> bound_;
  AcceptingTransport transport_;
  std::unique_ptr<kubernetes::Controller> controller_;
  kubernetes::client::RequestQueue queue_;
};

}  // namespace muster::bench
