// Where the tasks of live gangs are: taken, left and moved, in the real usage
// and before the observer.
#pragma once

#include <cstdint>

#include "adapters/inprocess/host_model.h"
#include "adapters/inprocess/live_gang.h"
#include "adapters/inprocess/metrics.h"
#include "adapters/inprocess/observer.h"
#include "adapters/inprocess/real_usage.h"
#include "muster/config.h"
#include "muster/event.h"
#include "muster/ids.h"

namespace muster::inprocess {

// A task is named by its gang and its number there (LiveGang::FlatIndex). What
// a node has no room for is held all the same, and counted as overcommitted.
// One thread at a time; each function takes O(devices of the node).
class TaskPlaces {
 public:
  // None of these is owned; `observer` may be null.
  TaskPlaces(const SchedulerConfig& config, RealUsage* real_usage,
             Metrics* metrics, Observer* observer)
      : config_(config),
        real_usage_(*real_usage),
        metrics_(*metrics),
        observer_(observer) {}

  // The task holds the node and the place that it has been given.
  void Hold(Time now, const LiveGang& g, uint32_t flat);
  // It holds them no more; suspended, it keeps what the host lets it. A task
  // that holds nothing only changes its life.
  void Leave(Time now, LiveGang& g, uint32_t flat, TaskLife then);
  // It holds another place than planned, as the lapse has it, if there is one.
  void Move(Time now, const Lapse& lapse, LiveGang& g, uint32_t flat);
  // What the host says of the task; with its place, if it is to be told.
  TaskAnswer AnswerFor(const LiveGang& g, uint32_t flat, TaskOutcome outcome,
                       bool with_place) const;

 private:
  Resources KeptOf(const TaskShape& shape) const;
  void Drop(Time now, const LiveGang& g, uint32_t flat);
  void Notify(Time now, const LiveGang& g, uint32_t flat, bool taken);

  const SchedulerConfig& config_;
  RealUsage& real_usage_;
  Metrics& metrics_;
  Observer* observer_;
};

}  // namespace muster::inprocess
