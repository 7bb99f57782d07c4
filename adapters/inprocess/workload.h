// What a simulation runs: the cluster it starts with, and jobs one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "muster/config.h"
#include "muster/event.h"
#include "muster/gang.h"
#include "muster/node.h"
#include "muster/priority_class.h"
#include "muster/queue.h"

namespace muster::inprocess {

// A gang and what the scheduler does not know of it: how it behaves.
struct Job {
  Gang gang{};        // gang.submitted says when it is submitted.
  Duration work = 0;  // Its run time when all desired tasks run. Fewer tasks
                      // are slower in proportion.
  Duration checkpoint_every = 0;  // In work done; 0: never.
};

// Jobs in ascending order of gang.submitted, made when they are needed, so that
// a trace of millions need not be in memory.
class JobSource {
 public:
  virtual ~JobSource() = default;
  // Overwrites *job with the next one; false: there is none.
  virtual bool Next(Job* job) = 0;
  virtual uint64_t size() const = 0;  // In all, from the beginning.
};

// The jobs of a vector, which must be sorted.
class VectorSource final : public JobSource {
 public:
  explicit VectorSource(std::vector<Job> jobs) : jobs_(std::move(jobs)) {}
  bool Next(Job* job) override {
    if (next_ == jobs_.size()) return false;
    *job = jobs_[next_++];
    return true;
  }
  uint64_t size() const override { return jobs_.size(); }

 private:
  std::vector<Job> jobs_;
  size_t next_ = 0;
};

// What a scheduler is told before the first job.
struct Setup {
  SchedulerConfig config{};
  std::vector<Node> nodes{};
  std::vector<NodeSet> node_sets{};
  std::vector<Queue> queues{};  // Parents first.
  std::vector<PriorityClass> priority_classes{};
};

// A task of a gang dies, or somebody else than the scheduler stops it, which
// takes the host's stop_time: the world does that, no scheduler's event is.
struct TaskDies {
  std::string gang{};
  TaskId task{};
  bool is_stopped = false;
};
// The host tells its whole state.
struct HostReconciles {};

// Something that happens whatever the scheduler does. An EventBody is told as
// it is (and happens to the tasks on its node, or to its gang).
struct WorldEvent {
  Time at = 0;
  std::variant<EventBody, TaskDies, HostReconciles> what{};
  int line = 0;  // Of the file it was read from; 0: none.
};

}  // namespace muster::inprocess
