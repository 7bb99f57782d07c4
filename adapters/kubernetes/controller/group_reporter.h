// GroupReporter: the status of Muster's PodGroups.
#pragma once

#include <map>
#include <string>

#include "adapters/kubernetes/controller/state.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// Each group's at most once in ControllerOptions::status_interval, and only
// what is new, numbers in the message aside. Not synchronised.
class GroupReporter {
 public:
  // The state is not owned.
  explicit GroupReporter(ControllerState* state) : s_(*state) {}

  // Asks for what is due, of ControllerState::group_news.
  // O(groups that changed x their logarithm).
  void Step();
  // When Step has something to do; kForever: never. O(groups that are due).
  Time next_step() const { return s_.group_news.next(s_.link.now()); }

 private:
  struct Told {
    GroupStatusRequest status{};
    std::string essence{};  // Of its message.
  };

  void Report(const GangRecord& gang);

  ControllerState& s_;
  std::map<GroupRef, Told> told_;
};

}  // namespace muster::kubernetes
