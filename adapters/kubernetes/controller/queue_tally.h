// How many groups and pods wait and run in each queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "adapters/kubernetes/controller/status_news.h"

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

  bool empty() const { return pending_pods + running_pods == 0; }

  friend bool operator==(const GangCounts&, const GangCounts&) = default;
};

// Queues of which a number changes are touched in the news. Not synchronised.
class QueueTally {
 public:
  // Not owned.
  explicit QueueTally(StatusNews<std::string>* news) : news_(*news) {}

  // Replaces what a group was counted as. O(log queues).
  void Set(GangCounts* counted, GangCounts counts);

  // That are counted.
  size_t groups() const { return groups_; }
  // Queues in which a group was counted once.
  const std::map<std::string, QueueCounts>& queues() const { return queues_; }
  QueueCounts Of(const std::string& queue) const;
  // Of queues of this name nothing is remembered any more, unless a group is
  // counted there. O(log queues).
  void Forget(const std::string& queue);

 private:
  void Count(const GangCounts& counts, int64_t times);

  size_t groups_ = 0;
  std::map<std::string, QueueCounts> queues_;
  StatusNews<std::string>& news_;
};

}  // namespace muster::kubernetes
