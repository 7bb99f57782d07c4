// Reporter: why pods wait, as their conditions and events tell it.
#pragma once

#include <set>
#include <string>

#include "adapters/kubernetes/controller/state.h"
#include "muster/ids.h"
#include "muster/reason.h"

namespace muster::kubernetes {

// Not synchronised.
class Reporter {
 public:
  // The state is not owned.
  explicit Reporter(ControllerState* state) : s_(*state) {}

  // The pods of these groups, or any, may have to be told why they wait.
  void Note(std::set<GroupRef> groups) {
    if (some_.empty()) some_.swap(groups);
    some_.merge(groups);
  }
  void NoteAll() { all_ = true; }
  // Tells those that are noted, when it is time to. O(their pods).
  void Step();
  // When Step has something to do; kForever: never.
  Time next_step() const { return due() ? next_ : kForever; }

  // Tells the gang's pods that have not been told just that: what has this
  // `essence`, which has no numbers that change all the time; "": the message.
  // O(pods of the gang).
  void Report(GangRecord* gang, const std::string& reason,
              const std::string& message, std::string essence = {});

 private:
  bool due() const { return all_ || !some_.empty(); }
  void ReportWaiting(GangRecord* gang);
  // Tells pods that lack volumes what it is.
  void ReportLacks(const GangRecord& gang);

  ControllerState& s_;
  std::set<GroupRef> some_;
  bool all_ = false;
  Time next_ = 0;
};

}  // namespace muster::kubernetes
