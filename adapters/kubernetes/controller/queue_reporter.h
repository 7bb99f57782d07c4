// QueueReporter: the status of queues.
#pragma once

#include <map>
#include <string>

#include "adapters/kubernetes/controller/state.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// Each queue's at most once in ControllerOptions::status_interval, and
// only what is new. Not synchronised.
class QueueReporter {
 public:
  // The state is not owned.
  explicit QueueReporter(ControllerState* state) : s_(*state) {}

  // Asks for what is due. O(queues that changed x their depth).
  void Step();
  // When Step has something to do; kForever: never.
  Time next_step() const { return s_.queue_news.next(s_.link.now()); }

 private:
  // The queue and those above it, whose use holds its own.
  void Note(const std::string& queue);
  void Report(const api::Queue& queue);
  // In thousandths.
  api::ResourceList UseOf(const std::string& queue,
                          const QueueStatusRequest& told) const;

  ControllerState& s_;
  std::map<std::string, QueueStatusRequest> told_;
};

}  // namespace muster::kubernetes
