#include "test/adapters/kubernetes_client/recorded_transport.h"

#include <utility>

namespace muster::kubernetes::client {

RequestId RecordedTransport::Start(HttpRequest request, Receiver* receiver) {
  requests_.push_back(std::move(request));
  const RequestId id = requests_.size();
  Open open{.receiver = receiver,
            .recording = {.status = 0, .end = std::nullopt}};
  if (!recordings_.empty()) {
    open.recording = std::move(recordings_.front());
    recordings_.pop_front();
  }
  open_[id] = std::move(open);
  return id;
}

void RecordedTransport::Cancel(RequestId id) {
  cancelled_ += static_cast<int>(open_.erase(id));
}

void RecordedTransport::Poll(Millis) {
  std::vector<RequestId> ids;
  for (const auto& [id, open] : open_) ids.push_back(id);
  for (const RequestId id : ids) {
    const auto is_open = [&] { return open_.contains(id); };
    if (!is_open() || open_[id].told) continue;
    open_[id].told = true;
    const Open open = open_[id];
    const Recording& recording = open.recording;
    if (recording.status != 0) {
      open.receiver->OnHead(id, {recording.status, recording.retry_after});
    }
    for (const std::string& chunk : recording.chunks) {
      if (is_open()) open.receiver->OnData(id, chunk);
    }
    if (is_open() && recording.end) {
      open_.erase(id);
      open.receiver->OnEnd(id, *recording.end);
    }
  }
}

}  // namespace muster::kubernetes::client
