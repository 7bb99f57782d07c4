// What the parts of the controller have in common.
#pragma once

#include <utility>

#include "adapters/kubernetes/controller/budget_book.h"
#include "adapters/kubernetes/controller/excess_book.h"
#include "adapters/kubernetes/controller/gang_book.h"
#include "adapters/kubernetes/controller/job_book.h"
#include "adapters/kubernetes/controller/node_book.h"
#include "adapters/kubernetes/controller/nomination_book.h"
#include "adapters/kubernetes/controller/options.h"
#include "adapters/kubernetes/controller/outbox.h"
#include "adapters/kubernetes/controller/queue_book.h"
#include "adapters/kubernetes/controller/queue_tally.h"
#include "adapters/kubernetes/controller/scheduler_link.h"
#include "adapters/kubernetes/controller/status_news.h"
#include "adapters/kubernetes/controller/topology_book.h"
#include "adapters/kubernetes/controller/volume_book.h"
#include "adapters/kubernetes/controller/warning_book.h"
#include "adapters/kubernetes/model/resource_kinds.h"

namespace muster::kubernetes {

struct ControllerState {
  ControllerState(ControllerOptions o, Scheduler scheduler)
      : options(std::move(o)),
        link(std::move(scheduler)),
        kinds(options.device_resource),
        topologies(options.topologies),
        queues(options.default_queue),
        queue_news(options.status_interval),
        group_news(options.status_interval) {}

  const ControllerOptions options;
  SchedulerLink link;
  ResourceKinds kinds;
  bool kinds_changed = false;  // SchedulerConfig::resources is to follow.
  TopologyBook topologies;
  NodeBook nodes;
  QueueBook queues;
  BudgetBook budgets;
  VolumeBook volumes;
  GangBook gangs;
  StatusNews<std::string> queue_news;
  StatusNews<GroupRef> group_news;  // Of Muster's PodGroups.
  QueueTally tally{&queue_news};
  Outbox outbox;
  JobBook jobs;
  NominationBook nominations{&outbox};
  WarningBook warnings{&outbox};
  ExcessBook excess{&outbox};

  // Its status may be another one, if it has one. O(log groups).
  void NoteStatus(const GangRecord& gang);
  // The scheduler does not know the gang any more. O(tasks).
  void Forget(GangRecord* gang);
  // The same, if that is so: when all of its tasks have succeeded, or been
  // stopped for good, it is over. The scheduler was told of it.
  void ForgetIfOver(GangRecord* gang);
  // No task of it has a place any more. O(tasks).
  void FreePlaces(GangRecord* gang);
};

}  // namespace muster::kubernetes
