// An API server behind a transport, as far as a host sees it: lists, watches, a
// Lease, and writes that are kept to be looked at. For tests of the host.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "adapters/kubernetes/client/transport.h"
#include "nlohmann/json.hpp"

namespace muster::kubernetes {

// Each Poll answers all that is to be answered.
class KubeServer final : public client::Transport {
 public:
  using Json = nlohmann::json;
  struct Answered {
    int status = 201;
    Json body = Json::object();
  };

  // Serves the collection, with these objects. Paths that are not served are
  // answered with 404.
  void Serve(const std::string& path, Json items = Json::array());
  void StopServing(const std::string& path) { lists_.erase(path); }
  // To those who watch; lists do not change.
  void Push(const std::string& path, const std::string& type, Json object);

  // A list of this path stays without an answer.
  std::string slow_path{};
  // Requests about the Lease, and writes, stay without one.
  bool slow_lease = false;
  bool slow_writes = false;
  // With what each request about the Lease is answered, if not 0.
  int lease_status = 0;
  // What becomes of a request other than these; by default it is done.
  std::function<Answered(const client::HttpRequest&)> perform{};

  // How often a path was listed, up to now.
  int ListsOf(const std::string& path) const;
  // Requests other than lists, watches and about the Lease, as they came.
  const std::vector<client::HttpRequest>& writes() const { return writes_; }
  // How many of them are on this subresource: "binding".
  int CountWrites(const std::string& subresource) const;
  const Json& lease() const { return lease_; }
  size_t open() const { return open_.size(); }

  client::RequestId Start(client::HttpRequest request,
                          client::Receiver* receiver) override;
  void Cancel(client::RequestId id) override { open_.erase(id); }
  void Poll(client::Millis max_wait) override;
  void Wake() override {}

 private:
  struct Exchange {
    client::Receiver* receiver = nullptr;
    client::HttpRequest request{};
    bool begun = false;
  };

  void Answer(client::RequestId id);
  void Reply(client::RequestId id, int status, const Json& body);
  void AnswerLease(client::RequestId id);

  std::map<std::string, Json> lists_;
  std::map<std::string, int> listed_;
  std::map<std::string, std::deque<std::string>> news_;
  std::vector<client::HttpRequest> writes_;
  Json lease_{};
  int version_ = 10;
  std::map<client::RequestId, Exchange> open_;
  client::RequestId next_ = 1;
};

// Serves the collections that every cluster has, but for nodes, without
// objects.
void ServeEmpty(KubeServer* server);

// Objects as the server tells them.
nlohmann::json NodeJson(const std::string& name);
// Pods "p0", "p1", ... with the UIDs "u0", "u1", ...
nlohmann::json PodsJson(int count);
nlohmann::json PodJson(const std::string& name, const std::string& uid,
                       const std::string& node = "");

}  // namespace muster::kubernetes
