// Term: one time of leading. It lists, decides and writes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "adapters/kubernetes/api/paths.h"
#include "adapters/kubernetes/api/readers.h"
#include "adapters/kubernetes/client/clock.h"
#include "adapters/kubernetes/client/reflector.h"
#include "adapters/kubernetes/client/request_queue.h"
#include "adapters/kubernetes/client/transport.h"
#include "adapters/kubernetes/controller/controller.h"
#include "adapters/kubernetes/host/host_metrics.h"
#include "adapters/kubernetes/host/object_sink.h"
#include "adapters/kubernetes/host/writer.h"

namespace muster::kubernetes {

// What is told to people and logs: one line.
using Log = std::function<void(std::string_view)>;

// How the copy of a resource is kept up.
struct WatchState {
  std::string resource{};  // ResourceOf.
  client::ReflectorCounts counts{};
  bool open = false;
};

// Begins with nothing but what the API server says. On its transport's thread.
class Term {
 public:
  // The transport, the queue and the metrics, which may be null, are not owned
  // and outlive it. `wall_offset`:
  // milliseconds since 1970 at 0 of the local clock; the wall clock is not
  // looked at again, so that it may be set. INVALID_ARGUMENT as
  // Controller::Create.
  static absl::StatusOr<std::unique_ptr<Term>> Create(
      client::Transport* transport, client::RequestQueue* queue,
      ControllerOptions controller, WriterOptions writer,
      client::Millis wall_offset, Log log, HostMetrics* metrics = nullptr);
  ~Term();
  Term(const Term&) = delete;
  Term& operator=(const Term&) = delete;

  // Does what is due, and returns when to call again at the latest, sooner
  // after any Poll that delivered something.
  client::Millis Advance(client::Millis now);

  // Everything that is served has been listed, and is decided upon.
  bool synced() const { return synced_; }
  const Controller& controller() const { return *controller_; }
  // Controller::WhatIf.
  absl::StatusOr<WhatIfAnswer> WhatIf(const WhatIfQuestion& question) {
    return controller_->WhatIf(question);
  }
  // Of what is served. O(watches).
  std::vector<WatchState> watches() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Watch {
    std::unique_ptr<client::Sink> sink{};
    std::unique_ptr<client::Reflector> reflector{};
    // To the same resource in other versions, the one in use last.
    std::vector<std::string> paths{};
    size_t tried = 1;  // So many of them.
    bool optional = false;
    // It is not served, at least not yet: nothing is waited for.
    bool absent = false;
    std::string told{};  // The last error that was logged.
  };

  Term(client::Transport* transport, client::RequestQueue* queue,
       std::unique_ptr<Controller> controller, WriterOptions writer,
       client::Millis wall_offset, Log log, HostMetrics* metrics);
  // Watches the first of these versions that is served; `optional`: none has to
  // be.
  template <typename T>
  void Add(const std::vector<api::ResourceType>& versions, bool optional,
           const std::function<void(const ObjectName&)>& gone);
  void AddOwners();
  void AddVolumes();
  void AddQuotas();
  void Begin(Watch* watch);
  client::Millis Advance(Watch* watch, client::Millis now);
  void Say(std::string_view line) const;
  // Something was observed.
  void Heard();
  // Controller::Step, and how long it took.
  void Step(client::Millis now);
  void Send(const ApiRequest& request, client::Millis now);
  // The API server's words, once for each kind of request: the index in
  // RequestBody.
  void TellForbidden(size_t kind, const client::Outcome& outcome);
  // `read_uid`: whom a ReadRequest was about; "": it was another request.
  void Answer(uint64_t id, const std::string& read_uid,
              const client::Outcome& outcome);
  Time ToTime(client::Millis now) const;

  client::Transport* transport_;
  client::RequestQueue* queue_;
  std::unique_ptr<Controller> controller_;
  const WriterOptions writer_;
  const client::Millis wall_offset_;
  const Log log_;
  HostMetrics* const metrics_;
  api::Reader reader_;
  std::vector<Watch> watches_;
  std::vector<ApiRequest> requests_;
  bool synced_ = false;
  size_t defects_told_ = 0;
  // The earliest observation since the last step.
  std::optional<Clock::time_point> heard_{};
  std::set<size_t> forbidden_told_;
  // The queue's callbacks hold it: they do nothing when the term is over.
  std::shared_ptr<Term*> self_;
};

}  // namespace muster::kubernetes
