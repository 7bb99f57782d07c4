// What a controller has asked of a FakeApi, by kind of request.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "adapters/kubernetes/controller/requests.h"
#include "test/adapters/kubernetes/fake_api.h"

namespace muster::kubernetes {

// Requests of this kind, the oldest first.
template <typename Request>
std::vector<Request> Seen(const FakeApi& api) {
  std::vector<Request> requests;
  for (const ApiRequest& request : api.seen()) {
    const auto* one = std::get_if<Request>(&request.body);
    if (one != nullptr) requests.push_back(*one);
  }
  return requests;
}

// Those about the pod of this name.
template <typename Request>
std::vector<Request> SeenOfPod(const FakeApi& api, const std::string& pod) {
  std::vector<Request> requests = Seen<Request>(api);
  std::erase_if(requests,
                [&](const Request& one) { return one.pod.name != pod; });
  return requests;
}

// Why the pod waits, as it was told last: "REASON: MESSAGE"; "": never.
inline std::string ToldTo(const FakeApi& api, const std::string& pod) {
  const auto told = SeenOfPod<UnscheduledRequest>(api, pod);
  if (told.empty()) return "";
  return absl::StrCat(told.back().reason, ": ", told.back().message);
}

// Events about objects of this kind, the oldest first.
inline std::vector<EventRequest> EventsAbout(const FakeApi& api,
                                             const std::string& kind) {
  auto events = Seen<EventRequest>(api);
  std::erase_if(events, [&](const EventRequest& event) {
    return event.object.kind != kind;
  });
  return events;
}

}  // namespace muster::kubernetes
