#include "adapters/kubernetes/plugin/leader.h"

#include <optional>
#include <utility>

#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/client/error.h"
#include "adapters/kubernetes/client/lease.h"
#include "adapters/kubernetes/client/text.h"

namespace muster::kubernetes::plugin {
namespace {

class Answer final : public client::Receiver {
 public:
  void OnHead(client::RequestId, const client::ResponseHead& head) override {
    status_ = head.status;
  }
  void OnData(client::RequestId, std::string_view data) override {
    body_.append(data);
  }
  void OnEnd(client::RequestId, const client::RequestEnd& end) override {
    end_ = end.status;
  }

  bool ended() const { return end_.has_value(); }
  absl::StatusOr<std::string> Take() {
    if (!end_->ok()) return *end_;
    if (status_ / 100 == 2) return std::move(body_);
    return client::ToStatus(status_, client::ParseApiError(body_));
  }

 private:
  int status_ = 0;
  std::string body_;
  std::optional<absl::Status> end_;
};

}  // namespace

absl::StatusOr<std::string> GetNow(client::Transport* transport,
                                   const std::string& path,
                                   client::Millis timeout) {
  Answer answer;
  const client::Millis until = client::SteadyNow() + timeout;
  const client::RequestId id =
      transport->Start({.path = path, .timeout = timeout}, &answer);
  while (!answer.ended()) {
    const client::Millis left = until - client::SteadyNow();
    if (left <= 0) {
      transport->Cancel(id);
      return absl::DeadlineExceededError(
          client::Concat(path, ": no answer in ", timeout, " ms"));
    }
    transport->Poll(left);
  }
  return answer.Take();
}

absl::StatusOr<std::string> LeaderPod(client::Transport* transport,
                                      const std::string& namespace_name,
                                      const std::string& lease) {
  constexpr client::Millis kTimeout = 10'000;
  const auto path = api::ObjectPath(api::kLeases, namespace_name, lease);
  if (!path.ok()) return path.status();
  const auto body = GetNow(transport, *path, kTimeout);
  if (!body.ok()) return body.status();
  const auto read = client::ReadLease(*body);
  if (!read.ok()) return read.status();
  const std::string pod = read->holder.substr(0, read->holder.find('_'));
  if (!api::IsPathSegment(pod)) {
    return absl::UnavailableError(
        client::Concat("nobody holds the Lease ", namespace_name, "/", lease));
  }
  return pod;
}

}  // namespace muster::kubernetes::plugin
