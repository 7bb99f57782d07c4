// Host: one replica of the scheduler. While it leads it has a term.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/leader_election.h"
#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/client/transport.h"
#include "adapters/kubernetes/controller/options.h"
#include "adapters/kubernetes/host/term.h"

namespace muster::kubernetes {

struct HostOptions {
  ControllerOptions controller{};
  WriterOptions writer{};
  // None: there is one replica only, which leads at once and for ever.
  std::optional<client::ElectionOptions> election{};
  client::RequestQueueOptions queue{};
  // By which the transport measures, and the caller of Advance.
  std::function<client::Millis()> clock = client::SteadyNow;
};

// On its transport's thread.
class Host final : private client::Receiver {
 public:
  // The transport is not owned and outlives the host. `wall` is the time since
  // 1970 at `now` of the local clock, and is not asked for again.
  // INVALID_ARGUMENT names the option that is wrong.
  static absl::StatusOr<std::unique_ptr<Host>> Create(
      client::Transport* transport, HostOptions options, client::Millis now,
      client::Millis wall, Log log);
  ~Host() override;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // Does what is due, and returns when to call again at the latest, sooner
  // after any Poll that delivered something.
  client::Millis Advance(client::Millis now);
  // Decides nothing more, and gives the lease back: see resigned().
  void Resign(client::Millis now);
  bool resigned() const;

  // It leads, and what it decides is from the API server's newest state.
  bool decides() const { return term_ != nullptr && term_->synced(); }
  // Null while it does not lead.
  const Term* term() const { return term_.get(); }
  Term* term() { return term_.get(); }
  // It decides, or it does not lead and knows who does: another one may be
  // ended.
  bool ready() const;
  // Who leads, as far as it knows; "": unknown, or nobody.
  std::string leader() const;
  const client::RequestQueue& queue() const { return queue_; }
  const HostMetrics& metrics() const { return metrics_; }

 private:
  Host(client::Transport* transport, HostOptions options, client::Millis offset,
       Log log);
  client::Millis Elect(client::Millis now);
  // Why it does not get its lease, or may lose it; not the same again and
  // again.
  void TellElection(client::Millis now);
  absl::Status Begin();
  void End();

  void OnHead(client::RequestId id, const client::ResponseHead& head) override;
  void OnData(client::RequestId id, std::string_view data) override;
  void OnEnd(client::RequestId id, const client::RequestEnd& end) override;

  client::Transport* transport_;
  const HostOptions options_;
  const client::Millis wall_offset_;
  const Log log_;
  std::optional<client::LeaderElection> election_;
  client::RequestId request_ = 0;  // Of the election; 0: none.
  int status_ = 0;
  std::string body_;
  std::string told_;  // The last error of the election that was logged.
  HostMetrics metrics_;
  client::RequestQueue queue_;
  std::unique_ptr<Term> term_;
  bool resigning_ = false;
};

}  // namespace muster::kubernetes
