// What a state's tasks hold, added up from nothing but the state's value: the
// tests' own arithmetic, sharing no code with the library's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/gang.h"
#include "muster/node.h"
#include "muster/state.h"

namespace muster {

struct DeviceUse {
  int64_t milli = 0;
  int64_t memory = 0;
  uint32_t shares = 0;                 // Uses that are no partition.
  std::map<uint32_t, uint32_t> cut{};  // By slice: partitions that hold it.
};

// What something holds on one node.
struct NodeUse {
  std::vector<int64_t> amount{};
  std::map<uint32_t, DeviceUse> devices{};
  uint32_t tasks = 0;
  uint32_t whole = 0;  // Of them, those that have the node for themselves.

  void Add(const NodeUse& other);
};

// A state by key, and the sums over it.
class StateUsage {
 public:
  explicit StateUsage(const SchedulerState& state);

  const GangState* gang(const std::string& key) const;
  const NodeState* node(const std::string& key) const;
  const Queue* queue(const std::string& key) const;
  PriorityClass priority_class(const std::string& key) const;
  const NodeSet* node_set(const std::string& key) const;

  // What one task of the gang holds where it is.
  NodeUse UseOf(const Gang& gang, const TaskState& task) const;
  // What is left of it while the task is suspended.
  NodeUse KeptOf(const NodeUse& use) const;
  // The device's profile of that name, and the slices of its scheme.
  const PartitionProfile* ProfileOn(const Device& device,
                                    const std::string& name,
                                    uint32_t* slices) const;
  // Its shape, by the alternative.
  static const TaskShape& ShapeOf(const Gang& gang, const TaskState& task);
  // Held at this moment (starting, running, releasing, external), and once all
  // releases are done and all nominations started (nominated instead of
  // releasing).
  NodeUse Now(const std::string& node) const;
  NodeUse Later(const std::string& node) const;
  // "" if adding nothing more, the node has what `use` takes a part in: of
  // each kind and device that `use` holds, `total` is within capacity.
  std::string Exceeds(const std::string& node, const NodeUse& use,
                      const NodeUse& total) const;
  // The same for what the queue and all below it hold, by kind.
  std::vector<int64_t> QueueNow(const std::string& queue) const;
  std::vector<int64_t> QueueLater(const std::string& queue) const;
  // Keys from the queue to its root.
  std::vector<std::string> Path(const std::string& queue) const;

  // A task's domain at a level, as text; empty if the node is outside.
  std::string DomainOf(const std::string& node,
                       const TopologyConstraint& constraint,
                       const std::string& level) const;

  const SchedulerState& state() const { return state_; }

 private:
  const SchedulerState& state_;
  size_t device_kind_;
  size_t node_kind_;
  std::map<std::string, const GangState*> gangs_;
  std::map<std::string, const NodeState*> nodes_;
  std::map<std::string, const Queue*> queues_;
  std::map<std::string, NodeUse> now_;
  std::map<std::string, NodeUse> later_;
  void AddToQueues(const std::string& queue, const NodeUse& use,
                   std::map<std::string, std::vector<int64_t>>* sums);
  std::map<std::string, std::vector<int64_t>> queue_now_;
  std::map<std::string, std::vector<int64_t>> queue_later_;
};

// Whether so many tasks a role satisfy the gang: see Group in gang.h.
bool MeetsMinimum(const Gang& gang, const std::vector<uint32_t>& counts);

// Groups and roles that hold tasks but, with so many a role, not enough.
std::vector<std::string> PartsInVain(const Gang& gang,
                                     const std::vector<uint32_t>& counts);

// By role: tasks that start, run or have done their work.
std::vector<uint32_t> LiveTasks(const GangState& gang);

// The gang with the minimum that it runs under: that of before, while one that
// was raised is not met.
Gang AsItRuns(const GangState& gang);
// Tasks that somebody else than the scheduler stops, by task; of these, whether
// the gang needs others in their place to go on.
struct LeavingTask {
  TaskId task{};
  bool needed = false;
};
std::vector<LeavingTask> LeavingTasks(const GangState& gang);

bool TaintsTolerated(const Node& node, const Role& role);
bool SelectorHolds(const Node& node, const NodeSelector& selector);

}  // namespace muster
