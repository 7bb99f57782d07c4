// How many groups and pods wait and run in each queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "adapters/kubernetes/model/group.h"

namespace muster::kubernetes {

struct QueueCounts {
  // A group runs if one of its pods does.
  int64_t pending_groups = 0;
  int64_t running_groups = 0;
  int64_t pending_pods = 0;
  int64_t running_pods = 0;

  friend bool operator==(const QueueCounts&, const QueueCounts&) = default;
};

// What one group is counted as.
struct GangCounts {
  std::string queue{};  // "": none that is there.
  uint32_t pending_pods = 0;
  uint32_t running_pods = 0;

  friend bool operator==(const GangCounts&, const GangCounts&) = default;
};

// Not synchronised.
class QueueTally {
 public:
  // Replaces what the group was counted as. O(log groups + log queues).
  void Set(const GroupRef& ref, GangCounts counts);
  void Remove(const GroupRef& ref) { Set(ref, {}); }

  // That are counted.
  size_t groups() const { return gangs_.size(); }
  // Queues in which a group was counted once.
  const std::map<std::string, QueueCounts>& queues() const { return queues_; }
  QueueCounts Of(const std::string& queue) const;
  // O(log groups).
  GangCounts Of(const GroupRef& ref) const;
  // Of queues of this name nothing is remembered any more, unless a group is
  // counted there. O(log queues).
  void Forget(const std::string& queue);

  // Something of the queue is to be told again.
  void Touch(const std::string& queue) { touched_.insert(queue); }
  // Those that were touched, or of which a number changed, since the last call.
  std::set<std::string> TakeTouched();
  bool touched() const { return !touched_.empty(); }
  // What was told of the queue has not arrived: it is touched, and TakeUnsent
  // says so once.
  void SetUnsent(const std::string& queue) {
    unsent_.insert(queue);
    touched_.insert(queue);
  }
  bool TakeUnsent(const std::string& queue) { return unsent_.erase(queue) > 0; }

 private:
  void Count(const GangCounts& counts, int64_t times);

  std::map<GroupRef, GangCounts> gangs_;
  std::map<std::string, QueueCounts> queues_;
  std::set<std::string> touched_;
  std::set<std::string> unsent_;
};

}  // namespace muster::kubernetes
