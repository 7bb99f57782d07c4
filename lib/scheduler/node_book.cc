#include "lib/scheduler/node_book.h"

#include <algorithm>
#include <cassert>

namespace muster {

OtherUsage NodeBook::UsedByOthers(NodeIndex n) const {
  OtherUsage usage = nodes_[n].facts.others;
  for (const uint32_t d : nodes_[n].facts.unnamed) {
    usage.devices.push_back({.device = d, .milli = kWholeDevice});
  }
  return usage;
}

void NodeBook::Reset(NodeIndex n, const Facts& facts) {
  if (n >= nodes_.size()) nodes_.resize(n + 1);
  assert(nodes_[n].tasks.empty());
  nodes_[n].facts = facts;
  suspects_.erase(n);
}

std::vector<GangIndex> NodeBook::GangsOn(NodeIndex n) const {
  std::vector<GangIndex> gangs;
  for (const TaskRef& task : nodes_[n].tasks) gangs.push_back(task.gang);
  std::sort(gangs.begin(), gangs.end());
  gangs.erase(std::unique(gangs.begin(), gangs.end()), gangs.end());
  return gangs;
}

void NodeBook::Add(NodeIndex n, const TaskRef& task) {
  nodes_[n].tasks.push_back(task);
}

std::vector<TaskRef>::iterator NodeBook::Find(NodeIndex n,
                                              const TaskRef& task) {
  std::vector<TaskRef>& tasks = nodes_[n].tasks;
  const auto it = std::find(tasks.begin(), tasks.end(), task);
  assert(it != tasks.end());
  return it;
}

void NodeBook::Remove(NodeIndex n, const TaskRef& task) {
  std::vector<TaskRef>& tasks = nodes_[n].tasks;
  *Find(n, task) = tasks.back();
  tasks.pop_back();
}

void NodeBook::SetShape(NodeIndex n, const TaskRef& task, ShapeId shape) {
  Find(n, task)->shape = shape;
}

}  // namespace muster
