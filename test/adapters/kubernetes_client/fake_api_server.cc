#include "test/adapters/kubernetes_client/fake_api_server.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace muster::kubernetes::client {
namespace {

std::string Parameter(const std::string& path, const std::string& name) {
  const size_t at = path.find(name + "=");
  if (at == std::string::npos) return "";
  const size_t begin = at + name.size() + 1;
  return path.substr(begin, path.find('&', begin) - begin);
}

uint64_t Number(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 10);
}

std::string ObjectJson(const std::string& name, const StoredObject& object) {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + object.uid +
         R"(","resourceVersion":")" + std::to_string(object.version) +
         R"("},"spec":{"text":"}\"\\n{"}})";
}

std::string StatusJson(int code, const std::string& reason) {
  return R"({"kind":"Status","code":)" + std::to_string(code) +
         R"(,"reason":")" + reason + R"("})";
}

}  // namespace

void FakeApiServer::Append(const char* type, const std::string& name,
                           const StoredObject& object) {
  history_.push_back({object.version, type, name, object});
}

void FakeApiServer::Create(const std::string& name) {
  StoredObject& object = objects_[name];
  if (object.version != 0) return Modify(name);
  object = {++version_, "u" + std::to_string(++made_)};
  Append("ADDED", name, object);
}

void FakeApiServer::Modify(const std::string& name) {
  const auto it = objects_.find(name);
  if (it == objects_.end()) return;
  it->second.version = ++version_;
  Append("MODIFIED", name, it->second);
}

void FakeApiServer::Delete(const std::string& name) {
  const auto it = objects_.find(name);
  if (it == objects_.end()) return;
  StoredObject object = it->second;
  object.version = ++version_;
  Append("DELETED", name, object);
  objects_.erase(it);
}

RequestId FakeApiServer::Start(HttpRequest request, Receiver* receiver) {
  open_[next_] = {.receiver = receiver, .request = std::move(request)};
  return next_++;
}

void FakeApiServer::Poll(Millis) {
  std::vector<RequestId> ids;
  for (const auto& [id, exchange] : open_) ids.push_back(id);
  for (const RequestId id : ids) Play(id);
}

void FakeApiServer::Play(RequestId id) {
  if (!open_.contains(id) || Fault(4)) return;  // Slow.
  if (!open_[id].answered && !Answer(id)) return;
  if (open_[id].request.streaming) FillWatch(&open_[id]);
  while (SendSome(id) && !faults_) {
  }
}

bool FakeApiServer::Answer(RequestId id) {
  Exchange& exchange = open_[id];
  exchange.answered = true;
  if (Fault(8)) {
    const bool sent = dice_.OneIn(2);
    End(id, {absl::UnavailableError("fault"), sent});
    return false;
  }
  if (Fault(12)) {
    Refuse(id, 429, "TooManyRequests");
    return false;
  }
  if (Fault(12)) {
    Refuse(id, 500, "InternalError");
    return false;
  }
  if (!exchange.request.streaming) {
    AnswerList(id);
    return open_.contains(id);
  }
  exchange.seen = Number(Parameter(exchange.request.path, "resourceVersion"));
  const bool expired = exchange.seen < compacted_;
  if (expired && dice_.OneIn(2)) {
    Refuse(id, 410, "Expired");
    return false;
  }
  exchange.receiver->OnHead(id, {.status = 200});
  if (expired) {
    exchange.pending =
        R"({"type":"ERROR","object":)" + StatusJson(410, "Expired") + "}\n";
    exchange.ends = true;
  }
  return open_.contains(id);
}

// A page of the objects as they were at the version of the first page.
void FakeApiServer::AnswerList(RequestId id) {
  Exchange& exchange = open_[id];
  const std::string& path = exchange.request.path;
  const std::string token = Parameter(path, "continue");
  const uint64_t limit = Number(Parameter(path, "limit"));
  const uint64_t at = token.empty() ? version_ : Number(token);
  const std::string after =
      token.empty() ? "" : token.substr(token.find('.') + 1);
  if (at < compacted_) return Refuse(id, 410, "Expired");
  std::map<std::string, StoredObject> then;
  for (const Change& change : history_) {
    if (change.version > at) break;
    if (change.type == std::string("DELETED")) {
      then.erase(change.name);
    } else {
      then[change.name] = change.object;
    }
  }
  std::string items, next;
  uint64_t count = 0;
  for (auto it = then.upper_bound(after); it != then.end(); ++it) {
    items += (items.empty() ? "" : ",") + ObjectJson(it->first, it->second);
    if (++count == limit && std::next(it) != then.end()) {
      next = std::to_string(at) + "." + it->first;
      break;
    }
  }
  exchange.receiver->OnHead(id, {.status = 200});
  exchange.pending = R"({"metadata":{"resourceVersion":")" +
                     std::to_string(at) + R"(","continue":")" + next +
                     R"("},"items":[)" + items + "]}";
  exchange.ends = true;
}

void FakeApiServer::Refuse(RequestId id, int status,
                           const std::string& reason) {
  Receiver* receiver = open_[id].receiver;
  receiver->OnHead(id, {.status = status});
  if (open_.contains(id)) receiver->OnData(id, StatusJson(status, reason));
  if (open_.contains(id)) End(id, {.sent = true});
}

void FakeApiServer::FillWatch(Exchange* watch) {
  if (watch->ends) return;
  for (const Change& change : history_) {
    if (change.version <= watch->seen) continue;
    watch->pending += std::string(R"({"type":")") + change.type +
                      R"(","object":)" +
                      ObjectJson(change.name, change.object) + "}\n";
    watch->seen = change.version;
  }
  const bool news = version_ > watch->seen;
  for (uint32_t i = dice_.OneIn(3) || news ? 1 + dice_.Below(2) : 0; i > 0;
       --i) {
    watch->seen = version_;
    watch->pending += R"({"type":"BOOKMARK","object":{"metadata":{)"
                      R"("resourceVersion":")" +
                      std::to_string(version_) + "\"}}}\n";
  }
}

// Some bytes, perhaps the end; false if there is nothing more to do now.
bool FakeApiServer::SendSome(RequestId id) {
  const auto it = open_.find(id);
  if (it == open_.end()) return false;
  std::string& pending = it->second.pending;
  const size_t size = std::min<size_t>(
      pending.size(), 1 + dice_.Below(dice_.OneIn(3) ? 2000 : 60));
  const std::string some = pending.substr(0, size);
  pending.erase(0, size);
  if (!some.empty()) it->second.receiver->OnData(id, some);
  if (!open_.contains(id)) return false;
  if (Fault(25)) {
    End(id, {absl::UnavailableError("cut"), true});
    return false;
  }
  if (it->second.request.streaming && Fault(25)) {
    End(id, {.sent = true});  // A clean end, with bytes that never came.
    return false;
  }
  if (!pending.empty()) return true;
  if (it->second.ends) End(id, {.sent = true});
  return false;
}

void FakeApiServer::End(RequestId id, RequestEnd end) {
  const auto node = open_.extract(id);
  node.mapped().receiver->OnEnd(id, end);
}

}  // namespace muster::kubernetes::client
