// Who wants to see a simulation as it goes: time lines, tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/inprocess/real_usage.h"
#include "muster/enum_names.h"
#include "muster/gang.h"
#include "muster/ids.h"
#include "muster/plan.h"
#include "muster/scheduler.h"

namespace muster::inprocess {

// Why a gang stopped making progress.
enum class StopCause : uint8_t {
  kFinished,
  kPreempted,
  kNodeLost,
  kDrained,
  kTaskFailed,
  kSuspended,
  kCancelled,
  kOther,
};
MUSTER_ENUM_NAMES(StopCause, "finished", "preempted", "node-lost", "drained",
                  "task-failed", "suspended", "cancelled", "other");

// From then on so many tasks are at work.
struct Size {
  Time at = 0;
  uint32_t tasks = 0;
  friend bool operator==(const Size&, const Size&) = default;
};

// A gang at work.
struct RunStart {
  Time at = 0;
  const Gang& gang;
  // Nodes by task, in the order (role, index); empty for a task that is not
  // there.
  const std::vector<std::string_view>& nodes;
  // Run time at full size that starting again costs, on account of its last
  // stop; 0 for a first start and after a suspension.
  Duration restart_cost = 0;
  StopCause last_stop = StopCause::kOther;
};

struct RunStop {
  Time at = 0;
  const Gang& gang;
  StopCause cause = StopCause::kFinished;
  // In run time at full size: safe at the last checkpoint (all of it, where
  // the gang finished or was suspended), and thrown away by this stop.
  Duration saved = 0;
  Duration lost = 0;
  std::string_view on_behalf_of{};  // The gang it made room for.
};

// A task takes its place on a node or leaves it.
struct PlaceChange {
  Time at = 0;
  const Gang& gang;
  uint32_t node = 0;  // An index in RealUsage.
  DeviceSet devices{};
  bool taken = true;
};

class Observer {
 public:
  virtual ~Observer() = default;
  // Nothing happened since `from`; time goes on to `to` > from.
  virtual void Advanced(Time, Time, const RealUsage&) {}
  // A node is new, has new values, went down or came up, or
  // external usage of it has changed.
  virtual void NodeUpdated(uint32_t, const RealUsage&) {}
  virtual void PlaceChanged(const PlaceChange&) {}
  virtual void Submitted(Time, const Gang&) {}
  // The gang has all it needs and makes progress.
  virtual void Ran(const RunStart&) {}
  // It goes on with so many tasks at work.
  virtual void Resized(Time, const Gang&, uint32_t) {}
  virtual void Stopped(const RunStop&) {}
  // A gang that is gone without finishing: refused or cancelled.
  virtual void Gone(Time, const Gang&, std::string_view) {}
  // After each pass, before its decisions are carried out.
  virtual void Planned(const Plan&, const Scheduler&) {}
};

}  // namespace muster::inprocess
