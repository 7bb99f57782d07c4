// Jobs of batch/v1, for their pods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "adapters/kubernetes/api/owner.h"
#include "adapters/kubernetes/controller/requests.h"
#include "muster/ids.h"

namespace muster::kubernetes {

// By namespace and UID, so that no pod names another namespace's. Not
// synchronised.
class JobBook {
 public:
  // O(log jobs).
  void Set(const api::Owner& job);
  void Remove(const std::string& namespace_name, const std::string& uid) {
    jobs_.erase({namespace_name, uid});
  }

  // When it was created; none: it is not known. O(log jobs).
  std::optional<Time> CreatedAt(const std::string& namespace_name,
                                const std::string& uid) const;

  // A pod of the Job is being preempted, which counts as a failure of it,
  // against backoffLimit, unless a rule of podFailurePolicy ignores the
  // condition DisruptionTarget, which the eviction API sets. The Event that
  // says so, once for each Job that counts it. O(log jobs).
  std::optional<EventRequest> TakeWarning(const std::string& namespace_name,
                                          const std::string& uid);

  size_t size() const { return jobs_.size(); }

 private:
  struct Job {
    std::string name{};
    Time created = 0;
    bool counts_preemptions = false;
    int32_t backoff_limit = 0;
    bool told = false;  // The warning.
  };

  std::map<std::pair<std::string, std::string>, Job> jobs_;
};

}  // namespace muster::kubernetes
