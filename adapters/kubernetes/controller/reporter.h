// Reporter: why pods wait, as their conditions and events tell it.
#pragma once

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

  // Any pods may have to be told why they wait.
  void NoteAll() { all_ = true; }
  // The gang has got places. O(1).
  void NotePlaced(GangRecord* gang);
  // Tells those of gangs that are unreported, when it is time to. O(their
  // pods).
  void Step();
  // When Step has something to do; kForever: never.
  Time next_step() const { return due() ? next_ : kForever; }

  // Tells the gang's pods that have not been told just that: what has this
  // `essence`, which has no numbers that change all the time; "": the message.
  // O(pods of the gang).
  void Report(GangRecord* gang, const std::string& reason,
              const std::string& message, std::string essence = {});

 private:
  bool due() const { return all_ || s_.gangs.has_unreported(); }
  void ReportWaiting(GangRecord* gang);
  // Tells pods that lack volumes what it is.
  void ReportLacks(const GangRecord& gang);

  ControllerState& s_;
  bool all_ = false;
  Time next_ = 0;
};

}  // namespace muster::kubernetes
