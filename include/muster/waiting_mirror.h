// WaitingMirror: what the gangs of a scheduler wait for, as plans reported it.
#ifndef MUSTER_WAITING_MIRROR_H_
#define MUSTER_WAITING_MIRROR_H_

#include <cstdint>
#include <map>
#include <string>

#include "muster/export.h"
#include "muster/ids.h"
#include "muster/plan.h"
#include "muster/reason.h"

namespace muster {

// A copy on the host's side, for a dashboard or conditions of objects: with
// every plan followed in order it holds what Scheduler::AllWaiting would tell,
// for the price of what changed. A value type; not synchronised.
//
//   muster::Plan plan;
//   scheduler.AllWaiting(&plan);
//   mirror.Reset(plan);
//   ...
//   scheduler.Schedule(now, &plan);
//   mirror.Follow(plan);
class MUSTER_API WaitingMirror {
 public:
  // Why the gangs of one class wait: Waiting, with a key of its own in place of
  // the plan's text.
  struct Class {
    // Of the scheduler that reported it.
    QueueId queue{};
    // The first of them when it was reported, and how many waited then.
    std::string first_gang{};
    uint32_t count = 0;
    // Numbers as of then; Scheduler::Explain tells those of now.
    Reason reason{};
  };
  // By Waiting::gang_class_id: in the order in which the classes came to be.
  using Classes = std::map<uint64_t, Class>;

  // Begins anew, with what Scheduler::AllWaiting reported. O(classes).
  void Reset(const Plan& all) {
    classes_.clear();
    Follow(all);
  }
  // Each plan of Schedule() once, in order; none of a what-if. O(what it tells
  // x log classes).
  void Follow(const Plan& plan) {
    for (const Waiting& waiting : plan.waiting) {
      if (waiting.count == 0) {
        classes_.erase(waiting.gang_class_id);
      } else {
        classes_[waiting.gang_class_id] = {
            waiting.queue, std::string(plan.Text(waiting.gang_key)),
            waiting.count, waiting.reason};
      }
    }
  }

  // All that wait. Valid as long as the mirror; Follow and Reset change it.
  const Classes& classes() const { return classes_; }
  // Of Scheduler::WaitingGangClass; null if no pass has asked it yet. Valid
  // until the next Follow or Reset. O(log classes).
  const Class* Find(uint64_t gang_class_id) const {
    const auto it = classes_.find(gang_class_id);
    return it == classes_.end() ? nullptr : &it->second;
  }

 private:
  Classes classes_;
};

}  // namespace muster

#endif  // MUSTER_WAITING_MIRROR_H_
