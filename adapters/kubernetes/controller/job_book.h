// Jobs whose pods must not be preempted often.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/controller/requests.h"

namespace muster::kubernetes {

// A preempted pod counts as a failed one of its Job, against backoffLimit,
// unless a rule of podFailurePolicy ignores the condition DisruptionTarget,
// which the eviction API sets. Not synchronised.
class JobBook {
 public:
  // Owners other than Jobs of batch/v1 are passed over. O(log jobs).
  void Set(const api::Owner& job);
  void Remove(const std::string& uid) { jobs_.erase(uid); }

  // A pod of the Job is being preempted: the Event that says so, once for each
  // Job that counts it as failed. O(log jobs).
  std::optional<ObjectEventRequest> TakeWarning(const std::string& uid);

 private:
  struct Job {
    ObjectRef object{};
    int32_t backoff_limit = 0;
    bool told = false;
  };

  std::map<std::string, Job> jobs_;  // That count preemptions, by UID.
};

}  // namespace muster::kubernetes
