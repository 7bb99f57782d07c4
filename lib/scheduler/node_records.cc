#include "lib/scheduler/node_records.h"

#include <algorithm>
#include <cassert>

namespace muster {

ExternalUsage NodeRecords::ExternalUsageOf(NodeIndex n) const {
  ExternalUsage usage = nodes_[n].facts.external;
  for (const uint32_t d : nodes_[n].facts.unnamed) {
    usage.devices.push_back({.device = d, .milli = kWholeDevice});
  }
  return usage;
}

void NodeRecords::Reset(NodeIndex n, const Facts& facts) {
  if (n >= nodes_.size()) {
    nodes_.resize(n + 1);
    tasks_.resize(n + 1);
  }
  assert(tasks_[n].empty());
  nodes_[n].facts = facts;
  overcommit_candidates_.erase(n);
}

std::vector<GangIndex> NodeRecords::GangsOn(NodeIndex n) const {
  std::vector<GangIndex> gangs;
  for (const NodeTask& task : tasks_[n]) gangs.push_back(task.gang);
  std::sort(gangs.begin(), gangs.end());
  gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
  return gangs;
}

void NodeRecords::Add(NodeIndex n, const NodeTask& task) {
  tasks_[n].push_back(task);
}

NodeRecords::Tasks::iterator NodeRecords::Find(NodeIndex n,
                                               const NodeTask& task) {
  Tasks& tasks = tasks_[n];
  const auto it = std::find(tasks.begin(), tasks.end(), task);
  assert(it != tasks.end());
  return it;
}

void NodeRecords::Remove(NodeIndex n, const NodeTask& task) {
  Tasks& tasks = tasks_[n];
  *Find(n, task) = tasks.back();
  tasks.pop_back();
}

void NodeRecords::SetShape(NodeIndex n, const NodeTask& task, ShapeId shape) {
  Find(n, task)->shape = shape;
}

}  // namespace muster
