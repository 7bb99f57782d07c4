// Priority classes: how much work matters, and what may be done to it.
#ifndef MUSTER_PRIORITY_CLASS_H_
#define MUSTER_PRIORITY_CLASS_H_

#include <cstdint>
#include <string>

#include "muster/enum_names.h"
#include "muster/ids.h"

namespace muster {

// What happens to a gang that must make room.
enum class OnPreempted : uint8_t {
  kRequeue,  // Stopped; waits again in its old place, resumes from checkpoint.
  kSuspend,  // Suspended where it is, if the host can; else as kRequeue.
  kCancel,   // Stopped and removed.
  kNever,    // Is never a victim.
};
MUSTER_ENUM_NAMES(OnPreempted, "requeue", "suspend", "cancel", "never");

struct PriorityClass {
  std::string key{};                                 // Unique among classes.
  int32_t value = 0;                                 // Higher is served first.
  bool may_preempt = true;                           // As a preemptor.
  OnPreempted on_preempted = OnPreempted::kRequeue;  // As a victim.
  Duration min_runtime = 0;  // No victim before it has run this long.
  Duration grace = 0;        // Told to the host with an eviction.

  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

}  // namespace muster

#endif  // MUSTER_PRIORITY_CLASS_H_
