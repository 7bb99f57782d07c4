#include "test/adapters/kubernetes/kube_server.h"

#include <utility>

namespace muster::kubernetes {
namespace {

using Json = nlohmann::json;

std::string PathOf(const client::HttpRequest& request) {
  return request.path.substr(0, request.path.find('?'));
}

Json StatusJson(int code) {
  return {{"kind", "Status"}, {"status", "Failure"}, {"code", code}};
}

}  // namespace

void KubeServer::Serve(const std::string& path, Json items) {
  lists_[path] = std::move(items);
}

void KubeServer::Push(const std::string& path, const std::string& type,
                      Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  news_[path].push_back(Json{{"type", type}, {"object", object}}.dump() + "\n");
}

int KubeServer::ListsOf(const std::string& path) const {
  const auto it = listed_.find(path);
  return it == listed_.end() ? 0 : it->second;
}

int KubeServer::CountWrites(const std::string& subresource) const {
  int count = 0;
  for (const client::HttpRequest& request : writes_) {
    count += request.path.ends_with("/" + subresource) ? 1 : 0;
  }
  return count;
}

client::RequestId KubeServer::Start(client::HttpRequest request,
                                    client::Receiver* receiver) {
  const std::string path = PathOf(request);
  const bool lists = request.method == "GET" &&
                     (path.find("/leases") != std::string::npos ||
                      path.find("/namespaces/") == std::string::npos);
  const bool of_lease = path.find("/leases") != std::string::npos;
  if (!lists && !of_lease) writes_.push_back(request);
  open_[next_] = {.receiver = receiver, .request = std::move(request)};
  return next_++;
}

void KubeServer::Poll(client::Millis) {
  std::vector<client::RequestId> ids;
  for (const auto& [id, exchange] : open_) ids.push_back(id);
  for (const client::RequestId id : ids) {
    if (open_.contains(id)) Answer(id);
  }
}

void KubeServer::Answer(client::RequestId id) {
  Exchange& exchange = open_[id];
  const client::HttpRequest& request = exchange.request;
  const std::string path = PathOf(request);
  if (path.find("/leases") != std::string::npos) {
    if (!slow_lease) AnswerLease(id);
    return;
  }
  const bool is_write =
      request.method != "GET" || path.find("/namespaces/") != std::string::npos;
  if (is_write) {
    if (slow_writes) return;
    const auto reply = perform ? perform(request) : KubeServer::Answered{};
    return Reply(id, reply.status, reply.body);
  }
  const auto list = lists_.find(path);
  if (list == lists_.end()) return Reply(id, 404, StatusJson(404));
  if (!request.streaming) {
    if (path == slow_path) return;
    ++listed_[path];
    news_[path].clear();
    return Reply(id, 200,
                 {{"metadata", {{"resourceVersion", std::to_string(version_)}}},
                  {"items", list->second}});
  }
  client::Receiver* receiver = exchange.receiver;
  if (!std::exchange(exchange.begun, true)) {
    receiver->OnHead(id, {.status = 200});
  }
  for (const std::string& line : std::exchange(news_[path], {})) {
    if (open_.contains(id)) receiver->OnData(id, line);
  }
}

void KubeServer::Reply(client::RequestId id, int status, const Json& body) {
  client::Receiver* receiver = open_.at(id).receiver;
  receiver->OnHead(id, {.status = status});
  if (open_.contains(id)) receiver->OnData(id, body.dump());
  if (open_.erase(id) > 0) receiver->OnEnd(id, {.sent = true});
}

void KubeServer::AnswerLease(client::RequestId id) {
  const client::HttpRequest& request = open_.at(id).request;
  if (lease_status != 0) {
    return Reply(id, lease_status, StatusJson(lease_status));
  }
  if (request.method == "GET") {
    return lease_.is_null() ? Reply(id, 404, StatusJson(404))
                            : Reply(id, 200, lease_);
  }
  Json next = Json::parse(request.body);
  if (request.method == "PUT" && next["metadata"]["resourceVersion"] !=
                                     lease_["metadata"]["resourceVersion"]) {
    return Reply(id, 409, StatusJson(409));
  }
  next["metadata"]["uid"] = "lease-uid";
  next["metadata"]["resourceVersion"] = std::to_string(++version_);
  lease_ = std::move(next);
  Reply(id, request.method == "POST" ? 201 : 200, lease_);
}

void ServeEmpty(KubeServer* server) {
  for (const char* path :
       {"/api/v1/pods", "/apis/batch/v1/jobs", "/api/v1/namespaces",
        "/apis/policy/v1/poddisruptionbudgets", "/api/v1/persistentvolumes",
        "/api/v1/persistentvolumeclaims",
        "/apis/storage.k8s.io/v1/storageclasses"}) {
    server->Serve(path);
  }
}

nlohmann::json PodsJson(int count) {
  nlohmann::json pods = nlohmann::json::array();
  for (int i = 0; i < count; ++i) {
    pods.push_back(PodJson("p" + std::to_string(i), "u" + std::to_string(i)));
  }
  return pods;
}

Json NodeJson(const std::string& name) {
  return {{"metadata", {{"name", name}, {"uid", "node-" + name}}},
          {"status",
           {{"allocatable", {{"cpu", "8"}, {"memory", "8Gi"}, {"pods", "110"}}},
            {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

Json PodJson(const std::string& name, const std::string& uid,
             const std::string& node) {
  Json pod = {
      {"metadata",
       {{"name", name},
        {"namespace", "default"},
        {"uid", uid},
        {"creationTimestamp", "2026-01-31T12:00:00Z"}}},
      {"spec",
       {{"schedulerName", "muster"},
        {"containers",
         {{{"name", "c"}, {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}},
      {"status", {{"phase", node.empty() ? "Pending" : "Running"}}}};
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return pod;
}

}  // namespace muster::kubernetes
