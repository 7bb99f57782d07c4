// How many groups and pods wait and run in each queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "adapters/kubernetes/controller/status_news.h"
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

// Queues of which a number changes are touched in the news. Not synchronised.
class QueueTally {
 public:
  // Not owned.
  explicit QueueTally(StatusNews<std::string>* news) : news_(*news) {}

  // Replaces what the group was counted as. O(log queues).
  void Set(const GroupRef& ref, GangCounts counts);
  void Remove(const GroupRef& ref) { Set(ref, {}); }

  // That are counted.
  size_t groups() const { return gangs_.size(); }
  // Queues in which a group was counted once.
  const std::map<std::string, QueueCounts>& queues() const { return queues_; }
  QueueCounts Of(const std::string& queue) const;
  GangCounts Of(const GroupRef& ref) const;
  // Of queues of this name nothing is remembered any more, unless a group is
  // counted there. O(log queues).
  void Forget(const std::string& queue);

 private:
  void Count(const GangCounts& counts, int64_t times);

  absl::flat_hash_map<GroupRef, GangCounts> gangs_;
  std::map<std::string, QueueCounts> queues_;
  StatusNews<std::string>& news_;
};

}  // namespace muster::kubernetes
