// Priority classes: how much work matters, and what may be done to it.
#ifndef MUSTER_PRIORITY_CLASS_H_
#define MUSTER_PRIORITY_CLASS_H_

#include <cstdint>
#include <string>

#include "muster/enum_names.h"
#include "muster/ids.h"

namespace muster {

// What happens to a gang that must make room for another one (Slurm: the QOS's
// PreemptMode). It does not bear on what ends a gang anyway: lost nodes, time
// limits, cancellation.
enum class OnPreempted : uint8_t {
  kRequeue,  // Stopped; waits again in its old place, resumes from checkpoint.
  // Suspended where it is, if the host can (HostCapabilities::suspend) and what
  // it keeps leaves room; else as kRequeue.
  kSuspend,
  kCancel,  // Stopped and removed.
  kNever,   // Is never a victim.
};
MUSTER_ENUM_NAMES(OnPreempted, "requeue", "suspend", "cancel", "never");

// A class of gangs, as Kubernetes' PriorityClass and Slurm's QOS. The host
// tells it with PriorityClassChanged before a gang names it. Gangs that name
// none are of one without a key, which has the defaults below and cannot be
// changed.
struct PriorityClass {
  std::string key{};  // Unique among classes.
  // Higher is served first, and inside a queue takes from lower. Any value.
  // What it decides between queues: see SchedulerConfig::queue_order.
  int32_t value = 0;
  // As a preemptor: false, its gangs wait for room and stop no gang
  // (Kubernetes: preemptionPolicy Never).
  bool may_preempt = true;
  // As a victim; Gang::on_preempted, where it is set, says otherwise.
  OnPreempted on_preempted = OnPreempted::kRequeue;
  // No victim before it has run this long since its start, nor while the host
  // has not answered that. 0..kMaxDuration. (Slurm: PreemptExemptTime.)
  Duration min_runtime = 0;
  // How long its tasks may take to stop: told to the host with a stop
  // (Decision::grace), which does the waiting. 0..kMaxDuration.
  Duration grace = 0;

  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

}  // namespace muster

#endif  // MUSTER_PRIORITY_CLASS_H_
